// POST /plays and POST /impressions as one JSON document.

#include <algorithm>

#include "api/catalog.h"
#include "api/events_binary.h"
#include "api/events_call.h"
#include "api/refusals.h"
#include "api/routes.h"
#include "http/wait.h"
#include "migration/observer.h"
#include "wire/events_json.h"
#include "wire/media_type.h"

namespace seendb::api {
namespace {

/// The one user of all events, for the log; 0 where there are several.
template <typename Event>
uint64_t TagOfUser(const RequestLog& log, const std::vector<Event>& events) {
  if (events.empty()) return 0;
  const IdRef& first = events.front().user;
  const auto same = [&first](const Event& event) { return event.user == first; };
  return std::all_of(events.begin(), events.end(), same) ? log.TagOf(first) : 0;
}

/// Records a parsed batch and answers what became of it. kIncomplete: nothing was done, it would
/// wait for a disk.
template <typename Event, typename Record>
Status RecordAll(Call& call, const std::vector<Event>& events,
                 std::optional<std::string_view> in_body, EventKind kind, Record record) {
  call.response.log_tag = TagOfUser(call.context.requests, events);
  std::string_view collection;
  Status status = ChooseCollection(call, in_body, &collection);
  if (!status.ok()) return status;
  const auto entry = call.context.catalog.Find(collection);
  if (!entry) return call.context.catalog.Unknown(collection, "/collection");
  const Result<RecordResult> result =
      record(call.engine(), events, RecordOptions{collection, WaitsForNoDisk(call)});
  if (!result.ok()) return result.status();
  AnswerRecorded(CountRecorded(&call.context, *entry, kind, collection, *result), &call.response);
  return Status::Ok();
}

/// The engine's "/3/item" or "/3/of/0" as a pointer into the body of an impressions request.
Status OfImpressions(Status status) {
  const std::string_view field = status.field();
  const size_t slash = field.find('/', 1);
  if (status.ok() || slash == std::string_view::npos) return status;
  const std::string_view position = field.substr(0, slash), member = field.substr(slash);
  std::string pointer = member == "/item" ? "/items" + std::string(position)
                        : member.starts_with("/of") || member.starts_with("/same_as")
                            ? "/items" + std::string(field)
                        : member == "/surface" ? "/surface"
                                               : "/user";
  return Status(status.code(), std::string(status.message()), std::move(pointer));
}

}  // namespace

Status ChooseCollection(const Call& call, std::optional<std::string_view> in_body,
                        std::string_view* collection) {
  const std::optional<std::string_view> in_query = call.Query("collection");
  if (in_body && in_query && *in_body != *in_query) {
    return Status::InvalidArgument("body and query name different collections", "/collection");
  }
  *collection = in_body ? *in_body : in_query.value_or("default");
  return MayUse(call.caller(), *collection);
}

void AnswerRecorded(const wire::Recorded& recorded, http::Response* response) {
  constexpr unsigned kNothingTaken = 422;
  if (recorded.accepted == 0 && recorded.refused > 0) {
    response->status = kNothingTaken;
    response->error_code = "all_refused";
  }
  wire::AppendRecorded(recorded, &response->body);
}

wire::Recorded CountRecorded(Context* context, const CatalogEntry& entry, EventKind kind,
                             std::string_view collection, const RecordResult& result) {
  CountEvents(entry.counters, kind, result.accepted, result.refused);
  NoteRefused(&context->refusals, entry.counters, kind, collection, result);
  wire::Recorded recorded{result.accepted, result.refused};
  for (const Refusal& refusal : result.refusals) {
    recorded.refusals.push_back({refusal.index, refusal.status});
  }
  std::copy(result.refused_by.begin(), result.refused_by.end(), recorded.refused_by.begin());
  recorded.outside_window = result.outside_window;
  recorded.beyond_cap = result.beyond_cap;
  recorded.day = result.day;
  recorded.first_today.assign(result.first_today.begin(), result.first_today.end());
  return recorded;
}

namespace {

Status TryPlays(Call& call) {
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::EventGroupsReader groups;
  wire::PlaysCall plays;
  plays.groups = &groups;
  Status status = wire::IsBinary(call.request.head.content_type)
                      ? ParseBinaryPlays(call, &plays)
                      : wire::ParsePlays(call.request.body, &document, &plays);
  if (status.ok()) {
    status = RecordAll(call, plays.plays, plays.collection, EventKind::kPlays,
                       [&call](Engine& engine, const auto& events, const RecordOptions& options) {
                         auto result = engine.RecordPlays(events, options);
                         if (result.ok()) {
                           migration::Observer(call.context.migrations)
                               .Recorded(options.collection, events, *result);
                         }
                         const bool at_event = !result.ok() && !result.status().field().empty();
                         if (!at_event || result.status().field() == "/collection") return result;
                         return Result<RecordResult>(result.status().WithFieldPrefix("/events"));
                       });
  }
  if (status.code() == StatusCode::kIncomplete) document.Discard();
  return status;
}

Status TryImpressions(Call& call) {
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::EventGroupsReader groups;
  wire::ImpressionsCall served;
  served.groups = &groups;
  Status status = wire::IsBinary(call.request.head.content_type)
                      ? ParseBinaryImpressions(call, &served)
                      : wire::ParseImpressions(call.request.body, call.context.max_candidates,
                                               &document, &served);
  if (status.ok()) {
    status = RecordAll(call, served.impressions, served.collection, EventKind::kImpressions,
                       [](Engine& engine, const auto& events, const RecordOptions& options) {
                         auto result = engine.RecordImpressions(events, options);
                         if (result.ok() || result.status().field() == "/collection") {
                           return result;
                         }
                         return Result<RecordResult>(OfImpressions(result.status()));
                       });
  }
  if (status.code() == StatusCode::kIncomplete) document.Discard();
  return status;
}

http::Task<> TryAtWorker(Call call, Status (*attempt)(Call&)) {
  co_await http::Turn(http::Executor::kEngine);
  call.at_worker = true;
  if (const Status status = attempt(call); !status.ok()) call.Refuse(status);
}

}  // namespace

bool WaitsForNoDisk(const Call& call) {
  return !call.at_worker && call.plan.executor == http::Executor::kInline &&
         call.request.body.size() <= call.plan.large_bytes;
}

http::Task<> RecordWhereItMay(Call& call, Status (*attempt)(Call&)) {
  const Status status = attempt(call);
  if (status.code() == StatusCode::kIncomplete && WaitsForNoDisk(call)) {
    return TryAtWorker(call, attempt);
  }
  if (!status.ok()) call.Refuse(status);
  return {};
}

http::Task<> HandlePlays(Call call) { return RecordWhereItMay(call, TryPlays); }

http::Task<> HandleImpressions(Call call) { return RecordWhereItMay(call, TryImpressions); }

}  // namespace seendb::api
