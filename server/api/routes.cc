#include "api/routes.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/suggest.h"

namespace seendb::api {
namespace {

using admission::Priority;
using http::Executor;
using http::Method;

constexpr std::string_view kCollectionParameter[] = {"collection"};
constexpr std::string_view kBinaryFilterParameters[] = {
    "user",  "collection", "ids",         "count",  "exclude",
    "limit", "on_error",   "deadline_ms", "record", "verify"};
constexpr std::string_view kBinaryEventsParameters[] = {"user", "ids", "count", "at"};
constexpr std::string_view kConfirmParameter[] = {"confirm"};
constexpr std::string_view kAppendParameters[] = {"partition", "kind", "key", "meta"};
constexpr std::string_view kPageParameters[] = {"limit", "cursor", "collection"};

constexpr Route kRoutes[] = {
    {.method = Method::kPost,
     .path = "/filter",
     .route_class = RouteClass::kRead,
     .audited = Audited::kNo,
     .handle = HandleFilter,
     .stream = StreamFilter,
     .takes_json = true,
     .binary_query = kBinaryFilterParameters,
     .compress = Compress::kBySetting,
     .spread = Spread::kFilter},
    {.method = Method::kPost,
     .path = "/plays",
     .route_class = RouteClass::kWrite,
     .audited = Audited::kNo,
     .handle = HandlePlays,
     .stream = StreamPlays,
     .takes_json = true,
     .query = kCollectionParameter,
     .binary_query = kBinaryEventsParameters,
     .may_sync = true,
     .spread = Spread::kEvents},
    {.method = Method::kPost,
     .path = "/impressions",
     .route_class = RouteClass::kWrite,
     .audited = Audited::kNo,
     .handle = HandleImpressions,
     .stream = StreamImpressions,
     .takes_json = true,
     .query = kCollectionParameter,
     .binary_query = kBinaryEventsParameters,
     .may_sync = true,
     .spread = Spread::kEvents},
    {.method = Method::kGet,
     .path = "/users/{user}",
     .route_class = RouteClass::kRead,
     .audited = Audited::kRead,
     .handle = HandleInspect,
     .query = kCollectionParameter,
     .executor = Executor::kEngine,
     .spread = Spread::kRead},
    {.method = Method::kDelete,
     .path = "/users/{user}",
     .route_class = RouteClass::kWrite,
     .audited = Audited::kChange,
     .handle = HandleErase,
     .executor = Executor::kEngine,
     .whole_database = true,
     .priority = Priority::kHigh,
     .spread = Spread::kCommand},
    {.method = Method::kGet,
     .path = "/users/{user}/history",
     .route_class = RouteClass::kRead,
     .audited = Audited::kRead,
     .handle = HandleHistory,
     .query = kPageParameters,
     .executor = Executor::kEngine,
     .spread = Spread::kRead},
    {.method = Method::kPost,
     .path = "/users/{user}/history/lookup",
     .route_class = RouteClass::kRead,
     .audited = Audited::kRead,
     .handle = HandleHistoryLookup,
     .takes_json = true,
     .compress = Compress::kAlways,
     .executor = Executor::kEngine,
     .spread = Spread::kRead},
    {.method = Method::kPost,
     .path = "/users/{user}/history/delete",
     .route_class = RouteClass::kWrite,
     .audited = Audited::kChange,
     .handle = HandleHistoryDelete,
     .takes_json = true,
     .executor = Executor::kEngine,
     .priority = Priority::kHigh,
     .spread = Spread::kCommand},
    {.method = Method::kPost,
     .path = "/users/{user}/history/clear",
     .route_class = RouteClass::kWrite,
     .audited = Audited::kChange,
     .handle = HandleHistoryClear,
     .takes_json = true,
     .executor = Executor::kEngine,
     .priority = Priority::kHigh,
     .spread = Spread::kCommand},
    {.method = Method::kGet,
     .path = "/users/{user}/history/{item}",
     .route_class = RouteClass::kRead,
     .audited = Audited::kRead,
     .handle = HandleHistoryItem,
     .query = kCollectionParameter,
     .executor = Executor::kEngine,
     .spread = Spread::kRead},
    {.method = Method::kGet,
     .path = "/users/{user}/recording",
     .route_class = RouteClass::kRead,
     .audited = Audited::kRead,
     .handle = HandleRecording,
     .executor = Executor::kEngine,
     .whole_database = true,
     .spread = Spread::kRead},
    {.method = Method::kPut,
     .path = "/users/{user}/recording",
     .route_class = RouteClass::kWrite,
     .audited = Audited::kChange,
     .handle = HandlePutRecording,
     .takes_json = true,
     .executor = Executor::kEngine,
     .whole_database = true,
     .priority = Priority::kHigh,
     .spread = Spread::kCommand},
    {.method = Method::kGet,
     .path = "/users/{user}/export",
     .route_class = RouteClass::kRead,
     .audited = Audited::kRead,
     .handle = nullptr,
     .stream = StreamExport,
     .streams_answer = true,
     .executor = Executor::kEngine,
     .whole_database = true,
     .priority = Priority::kLow,
     .spread = Spread::kRead},
    {.method = Method::kGet,
     .path = "/collections",
     .route_class = RouteClass::kRead,
     .audited = Audited::kNo,
     .handle = HandleCollections,
     .executor = Executor::kEngine},
    {.method = Method::kGet,
     .path = "/collections/{name}",
     .route_class = RouteClass::kRead,
     .audited = Audited::kNo,
     .handle = HandleCollection,
     .executor = Executor::kEngine,
     .nodes_ask = true},
    {.method = Method::kDelete,
     .path = "/collections/{name}",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleDeleteCollection,
     .query = kConfirmParameter,
     .executor = Executor::kSlow,
     .spread = Spread::kPolicy},
    {.method = Method::kPut,
     .path = "/collections/{name}",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandlePutCollection,
     .takes_json = true,
     .executor = Executor::kSlow,
     .spread = Spread::kPolicy},
    {.method = Method::kPost,
     .path = "/admin/drain",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleDrain,
     .takes_json = true,
     .executor = Executor::kSlow,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/seal",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleSeal,
     .takes_json = true,
     .executor = Executor::kSlow,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/compact",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleCompact,
     .takes_json = true,
     .executor = Executor::kSlow,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/drop-expired",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleDropExpired,
     .takes_json = true,
     .executor = Executor::kSlow,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/checkpoint",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleCheckpoint,
     .takes_json = true,
     .executor = Executor::kSlow,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/degrade",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleDegrade,
     .takes_json = true,
     .needs_engine = false,
     .whole_database = true,
     .priority = Priority::kHigh},
    {.method = Method::kGet,
     .path = "/admin/migration",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kRead,
     .handle = HandleMigration,
     .executor = Executor::kEngine,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/migration/pause",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandlePauseMigration,
     .takes_json = true,
     .executor = Executor::kEngine,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/migration/resume",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleResumeMigration,
     .takes_json = true,
     .executor = Executor::kEngine,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/migration/finish",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleFinishMigration,
     .takes_json = true,
     .executor = Executor::kSlow,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/migration/imported",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleImportedUsers,
     .takes_json = true,
     .executor = Executor::kEngine,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/clock",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleClock,
     .takes_json = true,
     .executor = Executor::kSlow,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/clock/confirm",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleConfirmClock,
     .takes_json = true,
     .executor = Executor::kSlow,
     .whole_database = true},
    {.method = Method::kPost,
     .path = "/admin/shards/{partition}/begin-empty",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kChange,
     .handle = HandleBeginEmpty,
     .query = kConfirmParameter,
     .executor = Executor::kSlow,
     .whole_database = true},
    {.method = Method::kGet,
     .path = "/admin/stats",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kRead,
     .handle = HandleStats,
     .executor = Executor::kEngine,
     .whole_database = true},
    {.method = Method::kGet,
     .path = "/admin/buckets",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kRead,
     .handle = HandleBuckets,
     .executor = Executor::kEngine,
     .whole_database = true,
     .priority = Priority::kLow},
    {.method = Method::kGet,
     .path = "/admin/ring",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kRead,
     .handle = HandleRing,
     .executor = Executor::kEngine,
     .whole_database = true,
     .priority = Priority::kLow},
    {.method = Method::kGet,
     .path = "/admin/ingest",
     .route_class = RouteClass::kAdmin,
     .audited = Audited::kRead,
     .handle = HandleIngest,
     .executor = Executor::kEngine,
     .whole_database = true},
    {.method = Method::kGet,
     .path = "/cluster",
     .route_class = RouteClass::kRead,
     .audited = Audited::kNo,
     .handle = HandleCluster,
     .needs_engine = false,
     .whole_database = true},
    {.method = Method::kGet,
     .path = "/internal/status",
     .route_class = RouteClass::kPeer,
     .audited = Audited::kNo,
     .handle = HandleInternalStatus,
     .needs_engine = false,
     .probe = true},
    {.method = Method::kPost,
     .path = "/internal/append",
     .route_class = RouteClass::kPeer,
     .audited = Audited::kNo,
     .handle = HandleInternalAppend,
     .takes_json = true,
     .query = kAppendParameters},
    {.method = Method::kPost,
     .path = "/internal/shards/{partition}/snapshot",
     .route_class = RouteClass::kPeer,
     .audited = Audited::kNo,
     .handle = HandleSnapshot,
     .takes_json = true,
     .executor = Executor::kSlow},
    {.method = Method::kGet,
     .path = "/internal/shards/{partition}/snapshot/{id}/{file}",
     .route_class = RouteClass::kPeer,
     .audited = Audited::kNo,
     .handle = HandleSnapshot,
     .priority = Priority::kLow},
    {.method = Method::kDelete,
     .path = "/internal/shards/{partition}/snapshot/{id}",
     .route_class = RouteClass::kPeer,
     .audited = Audited::kNo,
     .handle = HandleSnapshot,
     .executor = Executor::kSlow},
    {.method = Method::kGet,
     .path = "/metrics",
     .route_class = RouteClass::kRead,
     .audited = Audited::kNo,
     .handle = HandleMetrics,
     .needs_engine = false,
     .probe = true,
     .executor = Executor::kProbe},
    {.method = Method::kGet,
     .path = "/healthz",
     .route_class = RouteClass::kOpen,
     .audited = Audited::kNo,
     .handle = HandleHealth,
     .needs_engine = false,
     .probe = true},
    {.method = Method::kGet,
     .path = "/readyz",
     .route_class = RouteClass::kOpen,
     .audited = Audited::kNo,
     .handle = HandleReady,
     .needs_engine = false,
     .probe = true},
    {.method = Method::kGet,
     .path = "/openapi.json",
     .route_class = RouteClass::kOpen,
     .audited = Audited::kNo,
     .handle = HandleOpenApi,
     .needs_engine = false},
    {.method = Method::kGet,
     .path = "/openapi-3.0.json",
     .route_class = RouteClass::kOpen,
     .audited = Audited::kNo,
     .handle = HandleOpenApi30,
     .needs_engine = false},
    {.method = Method::kGet,
     .path = "/openapi-admin.json",
     .route_class = RouteClass::kOpen,
     .audited = Audited::kNo,
     .handle = HandleOpenApiAdmin,
     .needs_engine = false},
    {.method = Method::kGet,
     .path = "/openapi-admin-3.0.json",
     .route_class = RouteClass::kOpen,
     .audited = Audited::kNo,
     .handle = HandleOpenApiAdmin30,
     .needs_engine = false},
    {.method = Method::kGet,
     .path = "/",
     .route_class = RouteClass::kOpen,
     .audited = Audited::kNo,
     .handle = HandleRoot,
     .needs_engine = false},
};

static_assert(std::none_of(std::begin(kRoutes), std::end(kRoutes),
                           [](const Route& route) { return route.audited == Audited::kUnsaid; }),
              "each route says whether its calls are audited");

/// Whether `path` is `pattern`, whose parts in braces stand for anything but nothing; then
/// `*arguments` are those.
bool Matches(std::string_view pattern, std::string_view path, PathArguments* arguments) {
  arguments->count = 0;
  while (true) {
    const size_t brace = pattern.find('{');
    const std::string_view fixed = pattern.substr(0, brace);
    if (brace == std::string_view::npos) return path == fixed;
    if (!path.starts_with(fixed)) return false;
    path.remove_prefix(fixed.size());
    pattern.remove_prefix(pattern.find('}') + 1);
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty()) return false;
    arguments->parts[arguments->count++] = part;
    path.remove_prefix(part.size());
  }
}

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

std::string RouteLabel(const Route& route) {
  return std::string(http::MethodName(route.method)).append(" ").append(route.path);
}

int FindRoute(http::Method method, std::string_view path, PathArguments* arguments,
              std::string* allow) {
  if (method == Method::kHead) method = Method::kGet;
  allow->clear();
  std::string_view found;  // the first path that fits is the one: names hide what varies
  for (size_t i = 0; i < std::size(kRoutes); ++i) {
    const Route& route = kRoutes[i];
    if (!found.empty() && route.path != found) continue;
    if (!Matches(route.path, path, arguments)) continue;
    found = route.path;
    if (route.method == method) return static_cast<int>(i);
    if (!allow->empty()) *allow += ", ";
    *allow += http::MethodName(route.method);
    if (route.method == Method::kGet) *allow += ", HEAD";
  }
  return -1;
}

std::string NoSuchRoute(std::string_view path) {
  std::string said = "no such route: " + std::string(path);
  const std::string_view whole = path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  const std::string_view first = whole.substr(0, whole.find('/', 1));
  std::vector<std::string_view> paths, beginnings;
  for (const Route& route : kRoutes) {
    PathArguments arguments;
    if (whole != path && Matches(route.path, whole, &arguments)) {
      return said + "; it is told without the slash at its end";
    }
    paths.push_back(route.path);
    beginnings.push_back(route.path.substr(0, route.path.find('/', 1)));
  }
  std::string_view meant = Nearest(whole, paths);
  for (size_t i = 0; i < paths.size() && meant.empty(); ++i) {  // "/stats" of "/admin/stats"
    if (whole.size() > 1 && paths[i].ends_with(whole)) meant = paths[i];
  }
  if (meant.empty() && first != whole) {  // "/user/u1": the parts that vary fit nothing
    const std::string_view beginning = Nearest(first, beginnings);
    for (size_t i = 0; i < paths.size() && !beginning.empty() && meant.empty(); ++i) {
      const std::string_view rest =
          paths[i].substr(std::min(beginnings[i].size(), paths[i].size()));
      const bool as_long = std::count(rest.begin(), rest.end(), '/') ==
                           std::count(whole.begin() + 1, whole.end(), '/');
      if (beginnings[i] == beginning && as_long) meant = paths[i];
    }
  }
  if (meant.empty()) return said + "; GET /openapi.json and /openapi-admin.json list the routes";
  return said.append("; did you mean `").append(meant).append("`?");
}

Status PathId(const http::Plan& plan, size_t index, std::string_view field, IdRef* id) {
  *id = IdRef(plan.arguments.at(index));
  const Status status = id->Validate();
  if (status.ok()) return status;
  return Status::InvalidArgument(std::string(status.message()), std::string(field));
}

}  // namespace seendb::api
