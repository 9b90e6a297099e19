// The part of ClusterRouter that writes: what a request is to do goes into the log.

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/commands.h"
#include "api/events_binary.h"
#include "api/events_call.h"
#include "api/status_http.h"
#include "base/facts.h"
#include "http/wait.h"
#include "router/answers.h"
#include "router/event_lines.h"
#include "router/hop_request.h"
#include "router/router.h"
#include "wire/appended.h"
#include "wire/exposures_json.h"
#include "wire/media_type.h"
#include "wire/sets_json.h"

namespace seendb::router {
namespace {

using api::Call;
using api::EventKind;
using api::Route;
using cluster::LogKind;
using wire::Appended;
using Results = std::vector<Result<Appended>>;

/// What one record of a command says.
struct Command {
  http::Method method;
  std::string_view path;
  LogKind kind;
  Status (*check)(const Call& call);  ///< null: the path alone; else the body is the value
  /// In place of `check`: gives the value, too, and may give the record another kind.
  Status (*make)(const Call& call, OwnedRecord* record) = nullptr;
};

/// A deletion that names groups has a kind of its own: older nodes would pass over their names.
Status DeletionForLog(const Call& call, OwnedRecord* record) {
  bool lifts_groups = false;
  Status status = api::CheckHistoryDelete(call, &lifts_groups);
  if (lifts_groups) record->kind = LogKind::kHistoryDeleteGrouped;
  record->value = call.request.body;
  return status;
}

Status MarksForLog(const Call& call, OwnedRecord* record) {
  return api::MarksForLog(call, &record->value);
}

Status MarkDeletionForLog(const Call& call, OwnedRecord* record) {
  return api::MarkDeletionForLog(call, &record->value);
}

Status UserSetForLog(const Call& call, OwnedRecord* record) {
  return api::UserSetForLog(call, cluster::kLogValueBytesMost, &record->value);
}

Status UserSetDeletionForLog(const Call& call, OwnedRecord* record) {
  return api::UserSetDeletionForLog(call, &record->value);
}

constexpr Command kCommands[] = {
    {http::Method::kDelete, "/users/{user}", LogKind::kErase, nullptr},
    {http::Method::kPost, "/users/{user}/history/delete", LogKind::kHistoryDelete, nullptr,
     DeletionForLog},
    {http::Method::kPost, "/users/{user}/history/clear", LogKind::kHistoryClear,
     api::CheckHistoryClear},
    {http::Method::kPut, "/users/{user}/recording", LogKind::kRecording, api::CheckRecording},
    {http::Method::kPost, "/users/{user}/marks", LogKind::kMarks, nullptr, MarksForLog},
    {http::Method::kDelete, "/users/{user}/marks/{group}", LogKind::kMarkDelete, nullptr,
     MarkDeletionForLog},
    {http::Method::kPut, "/users/{user}/sets/{name}", LogKind::kUserSet, nullptr, UserSetForLog},
    {http::Method::kDelete, "/users/{user}/sets/{name}", LogKind::kUserSet, nullptr,
     UserSetDeletionForLog},
};

/// For the read after a change of the recording.
constexpr std::chrono::seconds kRecordingMost{2};

void SayPosition(uint32_t partition, const Appended& appended, http::Response* response) {
  Positions positions;
  NoteWritten(partition, appended.offset, &positions);
  response->headers.append("\r\nSeenDB-Position: ").append(PositionText(positions));
}

/// Plays in binary, each as JSON: the log has nothing else.
Status ReadBinaryPlays(const Call& call, const Engine& engine, std::optional<EventBatch>* batch,
                       std::string_view* collection) {
  wire::PlaysCall plays;
  Status status = api::ParseBinaryPlays(call, &plays);
  if (status.ok()) status = api::ChooseCollection(call, {}, collection);
  if (!status.ok()) return status;
  batch->emplace(EventKind::kPlays, std::string(*collection));
  std::string json;
  for (size_t i = 0; i < plays.plays.size(); ++i) {
    const Play& play = plays.plays[i];
    json.clear();
    wire::AppendEvent(play, &json);
    (*batch)->AddEvent(engine.ShardOf(play.user), play.user.ToString(), i, json);
  }
  return status;
}

/// The users of a body, and their partitions: views of the body end with the next document.
template <typename Event>
std::vector<std::pair<uint32_t, std::string>> UsersOf(const std::vector<Event>& events,
                                                      const Engine& engine) {
  std::vector<std::pair<uint32_t, std::string>> users;
  users.reserve(events.size());
  for (const Event& event : events) {
    users.emplace_back(engine.ShardOf(event.user), event.user.ToString());
  }
  return users;
}

/// Refuses events with too many groups, before they are in the log.
template <typename Event>
Status CheckGroupsOf(const std::vector<Event>& events, const std::string& where) {
  for (size_t i = 0; i < events.size(); ++i) {
    const Status good = CheckGroups(events[i].of, events[i].same_as);
    if (!good.ok()) return good.WithFieldPrefix(where + std::to_string(i));
  }
  return {};
}

/// The events of a body that was read, each as it came. `grouped`: one of them has groups.
Status AddEvents(const Call& call, const std::vector<std::pair<uint32_t, std::string>>& users,
                 bool grouped, wire::JsonDocument* document, EventBatch* batch) {
  std::vector<std::string_view> events;
  const Status status = wire::SplitPlays(call.request.body, document, &events);
  for (size_t i = 0; status.ok() && i < events.size(); ++i) {
    batch->AddEvent(users[i].first, users[i].second, i, events[i], grouped);
  }
  return status;
}

Status ReadPlays(const Call& call, const Engine& engine, std::optional<EventBatch>* batch,
                 std::string_view* collection) {
  if (wire::IsBinary(call.request.head.content_type)) {
    return ReadBinaryPlays(call, engine, batch, collection);
  }
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::EventGroupsReader groups;
  wire::PlaysCall plays;
  plays.groups = &groups;
  Status status = wire::ParsePlays(call.request.body, &document, &plays);
  if (status.ok()) status = CheckGroupsOf(plays.plays, "/events/");
  if (status.ok()) status = api::ChooseCollection(call, plays.collection, collection);
  if (!status.ok()) return status;
  const auto users = UsersOf(plays.plays, engine);
  const std::string named(*collection);
  batch->emplace(EventKind::kPlays, named);
  return AddEvents(call, users, groups.any(), &document, &**batch);
}

/// Exposures in binary, likewise.
Status ReadBinaryExposures(const Call& call, const Engine& engine, std::optional<EventBatch>* batch,
                           std::string_view* collection) {
  wire::ExposuresCall exposed;
  Status status = api::ParseBinaryExposures(call, &exposed);
  if (status.ok()) status = api::ChooseCollection(call, {}, collection);
  if (!status.ok()) return status;
  batch->emplace(EventKind::kExposures, std::string(*collection));
  std::string json;
  for (size_t i = 0; i < exposed.exposures.size(); ++i) {
    const Exposure& one = exposed.exposures[i];
    json.clear();
    wire::AppendExposure(one, &json);
    (*batch)->AddEvent(engine.ShardOf(one.user), one.user.ToString(), i, json);
  }
  return status;
}

Status ReadExposures(const Call& call, const Engine& engine, std::optional<EventBatch>* batch,
                     std::string_view* collection) {
  if (wire::IsBinary(call.request.head.content_type)) {
    return ReadBinaryExposures(call, engine, batch, collection);
  }
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::ExposuresCall exposed;
  Status status = wire::ParseExposures(call.request.body, &document, &exposed);
  if (status.ok()) status = CheckGroupsOf(exposed.exposures, "/events/");
  if (status.ok()) status = api::ChooseCollection(call, exposed.collection, collection);
  if (!status.ok()) return status;
  const auto users = UsersOf(exposed.exposures, engine);
  const std::string named(*collection);
  batch->emplace(EventKind::kExposures, named);
  return AddEvents(call, users, false, &document, &**batch);
}

Status ReadImpressions(const Call& call, const Engine& engine, std::optional<EventBatch>* batch,
                       std::string_view* collection) {
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::EventGroupsReader groups;
  wire::ImpressionsCall served;
  served.groups = &groups;
  Status status = wire::IsBinary(call.request.head.content_type)
                      ? api::ParseBinaryImpressions(call, &served)
                      : wire::ParseImpressions(call.request.body, call.context.max_candidates,
                                               &document, &served);
  if (status.ok()) status = CheckGroupsOf(served.impressions, "/items/");
  if (status.ok()) status = api::ChooseCollection(call, served.collection, collection);
  if (!status.ok()) return status;
  batch->emplace(EventKind::kImpressions, std::string(*collection));
  for (size_t i = 0; i < served.impressions.size(); ++i) {
    const Impression& one = served.impressions[i];
    (*batch)->AddImpression(engine.ShardOf(one.user), one.user.ToString(), i, one);
  }
  return status;
}

}  // namespace

http::Task<> ClusterRouter::AnswerEvents(Call call, const Route& route) {
  const EventKind kind = EventKindOf(route);
  const auto batch = std::make_shared<std::optional<EventBatch>>();
  std::string_view named;
  const auto read = kind == EventKind::kPlays       ? ReadPlays
                    : kind == EventKind::kExposures ? ReadExposures
                                                    : ReadImpressions;
  const Status status = read(call, call.engine(), batch.get(), &named);
  if (!status.ok()) co_return call.Refuse(status);
  auto entry = context_.catalog.Find(named);
  if (!entry) co_return call.Refuse(context_.catalog.Unknown(named, "/collection"));
  const std::string collection(named);
  // They count where they are in the log, whether the client still waits for that or not.
  const auto done = [this, kind, batch, entry, collection](const Results& results) {
    http::Response response;
    Positions positions;
    const EventBatch::Outcome outcome = (*batch)->Merge(results, &positions);
    const Status& failure = outcome.failure;
    if (!failure.ok()) {
      const bool at_event = kind != EventKind::kImpressions && failure.field().starts_with("/") &&
                            failure.field() != "/collection";
      http::WriteError(api::ToHttpError(at_event ? failure.WithFieldPrefix("/events") : failure),
                       &response);
    } else {
      wire::Recorded recorded;
      AddRecorded(outcome,
                  api::CountRecorded(&context_, *entry, kind, collection, outcome.recorded),
                  &recorded);
      AnswerWritten(recorded, outcome.pending, positions, &response);
    }
    return response;
  };
  call.response = co_await http::Given<http::Response>([&](const http::Give<http::Response>& give) {
    writer_.AppendAll((*batch)->TakeRecords(),
                      AppendHeaders(call.request.head, call.plan, call.request.age_us),
                      UntilOf(call.request.head, call.request.age_us),
                      [done, give](const Results& results) { give(done(results)); });
  });
}

http::Task<> ClusterRouter::AnswerCommand(Call call, const Route& route) {
  const Command* const command = std::find_if(
      std::begin(kCommands), std::end(kCommands),
      [&](const Command& one) { return one.method == route.method && one.path == route.path; });
  IdRef user;
  Status status = api::PathId(call.plan, 0, "/user", &user);
  OwnedRecord record;
  if (status.ok() && command->check != nullptr) status = command->check(call);
  record.kind = command->kind;
  if (status.ok() && command->make != nullptr) status = command->make(call, &record);
  if (!status.ok()) co_return call.Refuse(status);
  record.partition = call.engine().ShardOf(user);
  record.key = user.ToString();
  if (command->check != nullptr) record.value = call.request.body;
  const uint32_t partition = record.partition;
  const auto result =
      co_await http::Given<Result<Appended>>([&](http::Give<Result<Appended>> give) {
        writer_.Append(std::move(record),
                       AppendHeaders(call.request.head, call.plan, call.request.age_us),
                       UntilOf(call.request.head, call.request.age_us), std::move(give));
      });
  if (!result.ok() || !result->verdict.ok()) {
    Status failure = result.ok() ? result->verdict : result.status();
    if (result.ok() && command->kind == LogKind::kMarks) {
      failure = api::MarkFailure(failure, api::HasSingleMark(call));
    }
    co_return http::WriteError(api::ToHttpError(failure), &call.response);
  }
  http::Response& response = call.response;
  SayPosition(partition, *result, &response);
  if (!result->applied) {
    response.status = 202;
    response.body = "{\"pending\":true}";
  } else if (command->kind == LogKind::kRecording) {
    co_await TellRecording(call, partition);
  } else if (command->kind == LogKind::kErase) {
    api::AppendErasure(result->erasure, &response.body);
  } else if (command->kind == LogKind::kMarks) {
    api::AnswerMarked(result->recorded, &response);
  } else if (command->kind == LogKind::kUserSet && command->method == http::Method::kPut) {
    UserSetInfo info = result->user_set;
    info.name = call.plan.arguments[1];
    wire::AppendUserSetInfo(info, &response.body);
  } else if (command->kind == LogKind::kMarkDelete || command->kind == LogKind::kUserSet) {
    api::AnswerDeleted(result->recorded.accepted > 0, &response);
  } else {
    const bool deleted = command->kind == LogKind::kHistoryDelete;
    response.body = deleted ? "{\"deleted\":true}" : "{\"cleared\":true}";
  }
}

/// Answers a change of the recording with what is recorded now, as whoever has the user says. The
/// response has the headers of the answer.
http::Task<> ClusterRouter::TellRecording(Call call, uint32_t partition) {
  ReadAsk ask;
  ask.partition = partition;
  ask.leader_alone = true;  // it has applied the change
  ask.request = ToPeer(call);
  ask.request.method = "GET";
  ask.request.body = {};
  ask.until = std::chrono::steady_clock::now() + kRecordingMost;
  http::Response& answer = call.response;
  const std::string headers = std::exchange(answer.headers, {});
  const auto read = std::make_shared<Read>(Parts(), std::move(ask));
  ReadEnd ended = co_await http::Given<ReadEnd>(
      [&read](http::Give<ReadEnd> give) { read->Next(std::move(give)); });
  if (ended.kind == ReadEnd::Kind::kAnswer) {
    answer = ToResponse(std::move(ended.answer));
  } else if (ended.kind == ReadEnd::Kind::kHere &&
             co_await http::OnWorker(http::Executor::kEngine)) {
    api::HandleRecording(call);
  } else {
    http::WriteError({503, "unavailable", "changed; what is recorded can't be read just now"},
                     &answer);
  }
  answer.headers += headers;
}

http::Task<> ClusterRouter::Append(Call call) {
  const auto number = [&call](std::string_view name) -> std::optional<int64_t> {
    int64_t value = 0;
    const std::string_view text = call.Query(name).value_or("");
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size()) return {};
    return value;
  };
  const std::string_view kind = call.Query("kind").value_or("");
  std::optional<LogKind> known;
  for (int i = 1; i <= static_cast<int>(cluster::kLastLogKind); ++i) {
    if (cluster::LogKindName(static_cast<LogKind>(i)) == kind) known = static_cast<LogKind>(i);
  }
  const std::optional<int64_t> partition = number("partition");
  if (!partition || *partition < 0 || *partition >= cluster::kPartitionsMost) {
    co_return call.Refuse(Status::InvalidArgument("must be a number", "/partition"));
  }
  std::optional<int64_t> meta_offset = -1;  // older software does not say it
  if (call.Query("meta")) meta_offset = number("meta");
  if (!meta_offset || *meta_offset < -1) {
    co_return call.Refuse(Status::InvalidArgument("must be an offset", "/meta"));
  }
  if (!known) co_return call.Refuse(Status::InvalidArgument("no such kind of record", "/kind"));
  OwnedRecord record;
  record.partition = static_cast<uint32_t>(*partition);
  record.kind = *known;
  record.meta_offset = *meta_offset;
  record.key = call.Query("key").value_or("");
  record.value = call.request.body;
  const auto result =
      co_await http::Given<Result<Appended>>([&](http::Give<Result<Appended>> give) {
        writer_.AppendHere(record, UntilOf(call.request.head, call.request.age_us),
                           std::move(give));
      });
  if (!result.ok()) {
    co_return http::WriteError(api::ToHttpError(result.status()), &call.response);
  }
  call.response.body = wire::AppendedToJson(*result);
}

/// It is not tried elsewhere: the promise counts here, and would count once more.
http::Task<> ClusterRouter::Reserved(Call call, std::string user,
                                     std::vector<std::string> promised) {
  const uint32_t partition = call.engine().ShardOf(IdRef(user));
  const auto until = UntilOf(call.request.head, call.request.age_us);
  Appended last;
  for (std::string& value : promised) {
    OwnedRecord record;
    record.partition = partition;
    record.kind = LogKind::kReserve;
    record.key = user;
    record.value = std::move(value);
    writer_.Stamp(&record);
    const auto result =
        co_await http::Given<Result<Appended>>([&](http::Give<Result<Appended>> give) {
          writer_.AppendHere(record, until, std::move(give));
        });
    if (!result.ok() || !result->verdict.ok()) {
      const Status& failure = result.ok() ? result->verdict : result.status();
      call.response.Clear();
      co_return http::WriteError({503, "busy",
                                  "reserved at this node, and not known to be in the log: " +
                                      std::string(failure.message())},
                                 &call.response);
    }
    last = *result;
  }
  SayPosition(partition, last, &call.response);
}

bool ClusterRouter::LogsGroups() const {
  return cluster::CheckMayWrite(LogKind::kImpressionsGrouped, node_.log_version()).ok();
}

void ClusterRouter::Served(const IdRef& user, std::string_view collection,
                           std::span<const Impression> items, int64_t at_ms) {
  const Engine& engine = *context_.engine.load(std::memory_order_acquire);
  EventBatch batch(EventKind::kImpressions, std::string(collection));
  const std::string text = user.ToString();
  for (size_t i = 0; i < items.size(); ++i) {
    batch.AddImpression(engine.ShardOf(user), text, i, items[i]);
  }
  for (OwnedRecord& record : batch.TakeRecords()) {
    record.arrival_least_ms = at_ms;  // later than the present where the clock went back
    served_.Add(std::move(record));
  }
}

}  // namespace seendb::router
