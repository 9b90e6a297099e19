// server/api/routes.h: the table of everything the server answers.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "api/context.h"
#include "http/service.h"

namespace seendb::api {

/// What a route may do, so that listeners and tokens can be told apart.
enum class RouteClass : uint8_t {
  kOpen,     ///< says nothing that is secret: no token is asked for
  kRead,     ///< answers questions
  kWrite,    ///< records what users did
  kAdmin,    ///< changes or shows the whole database
  kPeer,     ///< of other nodes of the cluster: asks for a proof that they know its secret
  kFilters,  ///< gives filters away, with what tells the items in them
};

/// Which answers of a route are compressed for a client that asks for it.
enum class Compress : uint8_t {
  kIfGet,      ///< all of a GET, none of another method: those are short
  kAlways,     ///< all
  kBySetting,  ///< all with the setting compress_filter, otherwise none
};

/// Who answers a route at a node of a cluster; a server by itself answers all.
enum class Spread : uint8_t {
  kNode,    ///< the node that is asked
  kRead,    ///< a replica of the partition of the path's user
  kFilter,  ///< the same of the user whom the query, a header or the body names
  kTurn,    ///< the acting primary of the body's user: it decides in the user's turn, and logs that
  kEvents,  ///< the log has it, each event in the partition of its user
  kCommand,  ///< the log has it, in the partition of the path's user
  kPolicy,   ///< the records of what the cluster is have it
  kNowhere,  ///< nobody: nodes can't do it yet
};

/// Which lines a call of a route has in the audit (api/audit.h).
enum class Audited : uint8_t {
  kUnsaid,  ///< of no route: each says one of the others
  kNo,      ///< none: it tells nothing of a person's history, and changes no rule
  kRead,    ///< one, before anything is answered
  kChange,  ///< one before anything is done, and one with the status of the answer
};

/// One route. Every path also exists under /v1.
struct Route {
  http::Method method;
  std::string_view path;  ///< "/users/{user}/history/{item}": parts in braces vary
  RouteClass route_class;
  Audited audited = Audited::kUnsaid;
  /// Answers a whole request before it returns; null: `task` does, or none.
  void (*handle)(Call& call) = nullptr;
  /// In place of `handle`: answers by a coroutine, which may wait (http/wait.h).
  http::Task<> (*task)(Call call) = nullptr;
  /// Takes a body of NDJSON; null where there is none. Answers errors by `*refusal`.
  std::unique_ptr<http::BodyStream> (*stream)(Context& context, const http::Plan& plan,
                                              Status* refusal) = nullptr;
  bool takes_json = false;                       ///< a body is read as JSON
  std::span<const std::string_view> query = {};  ///< parameters allowed
  /// Further parameters, allowed with a body of application/octet-stream; none: the route takes no
  /// such body.
  std::span<const std::string_view> binary_query = {};
  bool streams_answer = false;  ///< `stream` answers, whatever comes as a body
  Compress compress = Compress::kIfGet;
  bool needs_engine = true;  ///< 503 until the database is open
  bool probe = false;        ///< watches the process
  http::Executor executor = http::Executor::kInline;
  bool whole_database = false;  ///< not for callers that reach some collections only
  admission::Priority priority = admission::Priority::kNormal;  ///< where nothing says another
  bool may_sync = false;  ///< goes to the workers while recording may wait for the disk
  Spread spread = Spread::kNode;
  bool nodes_ask = false;  ///< nodes of a cluster ask for themselves too, as they do at kPeer
  bool page = false;       ///< a page without data: links of other sites may lead to it
  /// Refuses a call whose answer must not go back the way that it came; null: any may. A node asks
  /// it before another node answers for it; `handle` does by itself.
  Status (*check_way)(const Call& call) = nullptr;

  /// Whether it answers whole requests.
  bool AnswersWhole() const { return handle != nullptr || task != nullptr; }
  /// Answers `call` by the one of both that there is.
  http::Task<> Answer(Call& call) const {
    if (task != nullptr) return task(call);
    handle(call);
    return {};
  }
};

/// Whether the route takes the binary form.
inline bool TakesBinary(const Route& route) { return !route.binary_query.empty(); }

/// What a route asks of its callers. Precondition: one of kRead to kAdmin, or kFilters.
inline AccessCheck::Needs NeedsOf(const Route& route) {
  if (route.route_class == RouteClass::kFilters)
    return {files::Role::kFilters, route.whole_database};
  const int above_read = static_cast<int>(route.route_class) - static_cast<int>(RouteClass::kRead);
  return {static_cast<files::Role>(above_read), route.whole_database};
}

/// All routes; the index is the Plan's `route`.
std::span<const Route> Routes();

/// "GET /users/{user}", as metrics label it.
std::string RouteLabel(const Route& route);

/// The parts of a path that vary, in order, raw.
struct PathArguments {
  std::array<std::string_view, 3> parts;
  size_t count = 0;
};

/// The route for a request's path (without /v1) and method; HEAD counts as GET. On failure -1
/// and, where the path exists, `*allow` lists its methods.
int FindRoute(http::Method method, std::string_view path, PathArguments* arguments,
              std::string* allow);

/// What to say of a path that no route has, with the route that may have been meant.
std::string NoSuchRoute(std::string_view path);

/// The user or item in the path's varying part `index`; a refusal names `field`.
Status PathId(const http::Plan& plan, size_t index, std::string_view field, IdRef* id);

// The handlers, by file.
http::Task<> HandleFilter(Call call);       // filter.cc
http::Task<> HandlePlays(Call call);        // events.cc
http::Task<> HandleImpressions(Call call);  // events.cc
http::Task<> HandleExposures(Call call);    // exposures.cc
http::Task<> HandleReserve(Call call);      // reserve.cc
void HandleItems(Call& call);               // items.cc
void HandleItemsGet(Call& call);
void HandleItemSchema(Call& call);
void HandlePutItemSchema(Call& call);
void HandleItemsState(Call& call);
void HandleSets(Call& call);  // sets.cc
void HandleSet(Call& call);
void HandlePutSet(Call& call);
void HandleDeleteSet(Call& call);
void HandleInspect(Call& call);  // users.cc
void HandleErase(Call& call);    // users.cc
void HandleMarks(Call& call);    // marks.cc
void HandlePutMarks(Call& call);
void HandleDeleteMark(Call& call);
void HandleUserSets(Call& call);  // user_sets.cc
void HandleUserSet(Call& call);
void HandlePutUserSet(Call& call);
void HandleDeleteUserSet(Call& call);
void HandleCounts(Call& call);      // counts.cc
void HandleFilterDump(Call& call);  // filter_dump.cc
void HandleItemHashKey(Call& call);
/// Route::check_way of HandleFilterDump. kForbidden: a dump would leave the machine in the clear.
Status CheckFilterWay(const Call& call);
void HandleHistory(Call& call);  // history.cc
void HandleHistoryLookup(Call& call);
void HandleHistoryItem(Call& call);
void HandleHistoryDelete(Call& call);
void HandleHistoryClear(Call& call);
void HandleRecording(Call& call);
void HandlePutRecording(Call& call);
void HandleCollections(Call& call);  // collections.cc
void HandleCollection(Call& call);
void HandlePutCollection(Call& call);
void HandleDeleteCollection(Call& call);
void HandleDrain(Call& call);  // admin.cc
void HandleSeal(Call& call);
void HandleCompact(Call& call);
void HandleDropExpired(Call& call);
http::Task<> HandleCheckpoint(Call call);
void HandleBackup(Call& call);  // backup.cc
void HandleBackedUp(Call& call);
http::Task<> HandleBackupShard(Call call);
void HandleClock(Call& call);
void HandleConfirmClock(Call& call);
void HandleDegrade(Call& call);    // degrade.cc
void HandleMigration(Call& call);  // migration.cc
void HandlePauseMigration(Call& call);
void HandleResumeMigration(Call& call);
void HandleFinishMigration(Call& call);
void HandleImportedUsers(Call& call);
void HandleStats(Call& call);  // state.cc
void HandleBuckets(Call& call);
void HandleRing(Call& call);
void HandleIngest(Call& call);
void HandleMetrics(Call& call);
void HandleHealth(Call& call);
void HandleCluster(Call& call);  // cluster.cc
void HandleBeginEmpty(Call& call);
void HandleInternalStatus(Call& call);
http::Task<> HandleInternalAppend(Call call);
http::Task<> HandleSnapshot(Call call);
void HandleReady(Call& call);
void HandleOpenApi(Call& call);
void HandleOpenApi30(Call& call);
void HandleOpenApiAdmin(Call& call);
void HandleOpenApiAdmin30(Call& call);
void HandleRoot(Call& call);     // root.cc
void HandleConsole(Call& call);  // console.cc
void HandleConsoleFile(Call& call);

std::unique_ptr<http::BodyStream> StreamFilter(Context& context, const http::Plan& plan,
                                               Status* refusal);  // filter_stream.cc
std::unique_ptr<http::BodyStream> StreamPlays(Context& context, const http::Plan& plan,
                                              Status* refusal);  // event_stream.cc
std::unique_ptr<http::BodyStream> StreamImpressions(Context& context, const http::Plan& plan,
                                                    Status* refusal);
std::unique_ptr<http::BodyStream> StreamExposures(Context& context, const http::Plan& plan,
                                                  Status* refusal);
std::unique_ptr<http::BodyStream> StreamItems(Context& context, const http::Plan& plan,
                                              Status* refusal);  // item_stream.cc
std::unique_ptr<http::BodyStream> StreamSet(Context& context, const http::Plan& plan,
                                            Status* refusal);  // sets.cc
std::unique_ptr<http::BodyStream> StreamMarks(Context& context, const http::Plan& plan,
                                              Status* refusal);  // marks.cc
std::unique_ptr<http::BodyStream> StreamExport(Context& context, const http::Plan& plan,
                                               Status* refusal);  // export_stream.cc
std::unique_ptr<http::BodyStream> StreamTail(Context& context, const http::Plan& plan,
                                             Status* refusal);  // tail_stream.cc

}  // namespace seendb::api
