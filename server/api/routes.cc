#include "api/routes.h"

namespace seendb::api {
namespace {

using http::Method;
using http::Place;

constexpr Route kRoutes[] = {
    {.method = Method::kPost,
     .path = "/filter",
     .route_class = RouteClass::kRead,
     .handle = HandleFilter,
     .stream = StreamFilter,
     .takes_json = true,
     .takes_binary = true},
    {.method = Method::kPost,
     .path = "/plays",
     .route_class = RouteClass::kWrite,
     .handle = HandlePlays,
     .stream = StreamPlays,
     .takes_json = true,
     .takes_collection = true,
     .may_sync = true},
    {.method = Method::kPost,
     .path = "/impressions",
     .route_class = RouteClass::kWrite,
     .handle = HandleImpressions,
     .stream = StreamImpressions,
     .takes_json = true,
     .takes_collection = true,
     .may_sync = true},
    {.method = Method::kGet,
     .path = "/users/{user}",
     .route_class = RouteClass::kRead,
     .handle = HandleInspect,
     .takes_collection = true,
     .place = Place::kQuick},
    {.method = Method::kDelete,
     .path = "/users/{user}",
     .route_class = RouteClass::kWrite,
     .handle = HandleErase,
     .place = Place::kQuick},
    {.method = Method::kGet,
     .path = "/collections",
     .route_class = RouteClass::kRead,
     .handle = HandleCollections,
     .place = Place::kQuick},
    {.method = Method::kPut,
     .path = "/collections/{name}",
     .route_class = RouteClass::kAdmin,
     .handle = HandlePutCollection,
     .takes_json = true,
     .place = Place::kSlow},
    {.method = Method::kPost,
     .path = "/admin/drain",
     .route_class = RouteClass::kAdmin,
     .handle = HandleDrain,
     .takes_json = true,
     .place = Place::kSlow},
    {.method = Method::kPost,
     .path = "/admin/seal",
     .route_class = RouteClass::kAdmin,
     .handle = HandleSeal,
     .takes_json = true,
     .place = Place::kSlow},
    {.method = Method::kPost,
     .path = "/admin/compact",
     .route_class = RouteClass::kAdmin,
     .handle = HandleCompact,
     .takes_json = true,
     .place = Place::kSlow},
    {.method = Method::kPost,
     .path = "/admin/drop-expired",
     .route_class = RouteClass::kAdmin,
     .handle = HandleDropExpired,
     .takes_json = true,
     .place = Place::kSlow},
    {.method = Method::kPost,
     .path = "/admin/checkpoint",
     .route_class = RouteClass::kAdmin,
     .handle = HandleCheckpoint,
     .takes_json = true,
     .place = Place::kSlow},
    {.method = Method::kPost,
     .path = "/admin/clock",
     .route_class = RouteClass::kAdmin,
     .handle = HandleClock,
     .takes_json = true,
     .place = Place::kSlow},
    {.method = Method::kGet,
     .path = "/admin/stats",
     .route_class = RouteClass::kAdmin,
     .handle = HandleStats,
     .place = Place::kQuick},
    {.method = Method::kGet,
     .path = "/admin/buckets",
     .route_class = RouteClass::kAdmin,
     .handle = HandleBuckets,
     .place = Place::kQuick},
    {.method = Method::kGet,
     .path = "/admin/ring",
     .route_class = RouteClass::kAdmin,
     .handle = HandleRing,
     .place = Place::kQuick},
    {.method = Method::kGet,
     .path = "/admin/ingest",
     .route_class = RouteClass::kAdmin,
     .handle = HandleIngest,
     .place = Place::kQuick},
    {.method = Method::kGet,
     .path = "/metrics",
     .route_class = RouteClass::kAdmin,
     .handle = HandleMetrics,
     .needs_engine = false,
     .place = Place::kQuick},
    {.method = Method::kGet,
     .path = "/healthz",
     .route_class = RouteClass::kRead,
     .handle = HandleHealth,
     .needs_engine = false},
    {.method = Method::kGet,
     .path = "/readyz",
     .route_class = RouteClass::kRead,
     .handle = HandleReady,
     .needs_engine = false,
     .place = Place::kQuick},
    {.method = Method::kGet,
     .path = "/openapi.json",
     .route_class = RouteClass::kRead,
     .handle = HandleOpenApi,
     .needs_engine = false},
};

/// Whether `path` is `pattern`, whose last part may be "{...}"; then `*argument` is that part.
bool Matches(std::string_view pattern, std::string_view path, std::string_view* argument) {
  const size_t brace = pattern.find('{');
  *argument = {};
  if (brace == std::string_view::npos) return path == pattern;
  if (path.size() <= brace || path.substr(0, brace) != pattern.substr(0, brace)) return false;
  *argument = path.substr(brace);
  return argument->find('/') == std::string_view::npos;
}

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

std::string RouteLabel(const Route& route) {
  return std::string(http::MethodName(route.method)).append(" ").append(route.path);
}

int FindRoute(http::Method method, std::string_view path, std::string_view* argument,
              std::string* allow) {
  if (method == Method::kHead) method = Method::kGet;
  allow->clear();
  for (size_t i = 0; i < std::size(kRoutes); ++i) {
    const Route& route = kRoutes[i];
    if (!Matches(route.path, path, argument)) continue;
    if (route.method == method) return static_cast<int>(i);
    if (!allow->empty()) *allow += ", ";
    *allow += http::MethodName(route.method);
    if (route.method == Method::kGet) *allow += ", HEAD";
  }
  return -1;
}

}  // namespace seendb::api
