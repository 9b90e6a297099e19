#include "replica/applier.h"

#include <algorithm>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <simdjson.h>

#include "base/outside_json.h"
#include "ingest/decoder.h"
#include "migration/observer.h"
#include "ops/kafka_config.h"
#include "replica/events_body.h"
#include "replica/user_facts.h"
#include "wire/history_json.h"
#include "wire/json_read.h"

namespace seendb::replica {
namespace {

using cluster::LogKind;

constexpr std::chrono::seconds kReadMeta{1};
constexpr size_t kToldAtOnce = 1'000;

/// What a command can come to for good. All else is a fault of this node, or passes.
bool IsVerdict(LogKind kind, const Status& status) {
  const StatusCode code = status.code();
  if (code == StatusCode::kOk || code == StatusCode::kNotFound) return true;
  if (code == StatusCode::kInvalidArgument) return true;
  const bool full = code == StatusCode::kIncompatible && status.field().ends_with("/group");
  if (full && kind == LogKind::kMarks) return true;  // the user has too many marked groups
  const bool has_enough = code == StatusCode::kIncompatible && status.field() == "/name";
  if (has_enough && kind == LogKind::kUserSet) return true;  // the user has too many sets
  // Counts that can't be read take no promise; every answer that needs them says so.
  if (kind == LogKind::kReserve && code == StatusCode::kCorruption) return true;
  const bool refused = code == StatusCode::kBusy || code == StatusCode::kCorruption;
  return kind == LogKind::kRecording && refused;  // too many changes; the user's are damaged
}

bool DeletesHistory(LogKind kind) {
  return kind == LogKind::kHistoryDelete || kind == LogKind::kHistoryDeleteGrouped;
}

Status NotNow(const Status& status) {
  return Status::Unavailable(std::string(StatusCodeName(status.code())) + ": " +
                             std::string(status.message()));
}

}  // namespace

std::string_view Applier::Padded(std::string_view value) {
  padded_.reserve(value.size() + simdjson::SIMDJSON_PADDING);
  padded_.assign(value);
  return padded_;
}

Status Applier::Apply(const LogRecord& record, int64_t from, Applied* applied) {
  *applied = {};
  Status done;
  if (!record.header) {
    done = ApplyPlain(record, from, applied);
  } else {
    const Result<cluster::LogHeader> header = cluster::DecodeLogHeader(*record.header);
    if (!header.ok()) return header.status();
    applied->header = *header;
    done = ApplyKind(record, from, applied);
  }
  if (done.ok() && context_.migrations != nullptr) {
    context_.migrations->Passed(record.partition, from, record.offset + 1);
  }
  return done;
}

// The offset of a command follows it: a crash in between repeats the command before anything that
// came behind it is applied, so that it finds what it has left.
Status Applier::ApplyKind(const LogRecord& record, int64_t from, Applied* applied) {
  const LogKind kind = applied->header.kind;
  if (HoldsEvents(kind)) return ApplyEvents(record, from, applied);
  if (kind != LogKind::kTick) {
    const Status done = kind == LogKind::kTold       ? ApplyTold(record, &applied->verdict)
                        : kind == LogKind::kImported ? ApplyImported(record, applied)
                                                     : ApplyCommand(record, applied);
    if (!done.ok()) return done;
  }
  RecordResult marked = std::move(applied->recorded);
  const Status done = Ingest(record, from, "default", {},
                             applied->verdict.code() == StatusCode::kInvalidArgument, applied);
  applied->recorded = std::move(marked);
  return done;
}

bool Applier::ReadMetaFor(const LogRecord& record) {
  const auto known = meta_read_for_.find(record.partition);
  if (known != meta_read_for_.end() && record.offset < known->second) return true;
  return ReadMeta(record);
}

// What the log had before X.meta was read was appended by nodes whose folds were no further.
bool Applier::ReadMeta(const LogRecord& record) {
  std::map<uint32_t, int64_t> ends;
  if (context_.ends) ends = context_.ends();
  ends[record.partition] = std::max(ends[record.partition], record.offset + 1);
  if (!context_.read_meta_to_end(kReadMeta)) return false;
  for (const auto& [partition, end] : ends) {
    int64_t& read_for = meta_read_for_[partition];
    read_for = std::max(read_for, end);
  }
  return true;
}

Status Applier::CheckCollection(std::string_view name, const LogRecord& record,
                                int64_t arrival_ms) {
  const auto made_at_ms = [&]() -> std::optional<int64_t> {
    const auto meta = context_.meta();
    const auto known = meta->collections().find(std::string(name));
    if (known == meta->collections().end()) return std::nullopt;
    return known->second.made_at_ms;
  };
  std::optional<int64_t> made = made_at_ms();
  if (!made) {  // it may be made in what was not read yet
    if (!ReadMetaFor(record)) {
      return Status::Unavailable("whether there is a collection \"" + std::string(name) +
                                 "\" is not known: the topic of the cluster's records can't be "
                                 "read");
    }
    made = made_at_ms();
  }
  if (made && arrival_ms > *made) return {};
  return Status::NotFound("no collection \"" + std::string(name) + "\"", "/collection");
}

// All replicas judge alike once they have read as far as the record's writer had: what was made
// behind that is another collection.
Status Applier::CheckCounts(std::string_view name, const LogRecord& record,
                            const cluster::LogHeader& header) {
  if (!header.meta_offset) return CheckCollection(name, record, header.arrival_ms);
  auto meta = context_.meta();
  if (meta->next_offset() < *header.meta_offset) {
    const bool read = ReadMeta(record);
    meta = context_.meta();
    if (!read || meta->next_offset() < *header.meta_offset) {
      return Status::Unavailable(
          "the record's writer had read the topic of the cluster's records up to offset " +
          std::to_string(*header.meta_offset) + ", this node up to " +
          std::to_string(meta->next_offset()));
    }
  }
  const auto known = meta->collections().find(std::string(name));
  const bool counts =
      known != meta->collections().end() && known->second.made_by < *header.meta_offset;
  if (counts) return {};
  return Status::NotFound("no collection \"" + std::string(name) + "\"", "/collection");
}

Status Applier::Ingest(const LogRecord& record, int64_t from, std::string_view collection,
                       const Events& events, bool dead, Applied* applied) {
  const std::span<const Play> plays = events.plays;
  const std::vector<Origin> origins(plays.size(), {0, record.offset, applied->header.arrival_ms});
  SourceStep step{.topic = context_.topic,
                  .partition = record.partition,
                  .next_offset = record.offset + 1,
                  .from = from};
  if (from == 0) step.from.reset();  // the shard need not know of the log yet
  if (dead) step.dead_letters = {&record.offset, 1};
  if (record.time_ms && *record.time_ms >= 0) step.last = {record.offset, *record.time_ms};
  migration::OnRecorded on_recorded;
  if (events.fact == Fact::kPlayed) {
    on_recorded = migration::Observer(context_.migrations)
                      .Recording(collection, plays,
                                 {{record.partition, record.offset, applied->header.arrival_ms}});
  }
  Result<IngestResult> done = context_.engine->Ingest({.collection = collection,
                                                       .fact = events.fact,
                                                       .sources = {&step, 1},
                                                       .plays = plays,
                                                       .origins = origins,
                                                       .surfaces = events.surfaces,
                                                       .partition_is_shard = true});
  if (on_recorded) on_recorded(done.ok() ? &*done : nullptr);
  if (done.ok()) {
    applied->recorded = std::move(done).value();
    return {};
  }
  const Status& failed = done.status();
  if (failed.code() == StatusCode::kInvalidArgument && !plays.empty()) {
    applied->verdict = failed;
    return Ingest(record, from, collection, {.fact = events.fact}, true, applied);
  }
  // Elsewhere it says that this node has too few column families: not that a record is missing.
  const bool lacks =
      failed.code() == StatusCode::kIncompatible && failed.field().starts_with("/sources/");
  if (lacks) return Status::NotFound(failed.ToString());
  return NotNow(failed);
}

Status Applier::ApplyEvents(const LogRecord& record, int64_t from, Applied* applied) {
  EventsBody body;
  Status& verdict = applied->verdict;
  verdict = body.Read(applied->header.kind, Padded(record.value));
  const std::string_view collection = body.collection();
  if (verdict.ok()) verdict = CheckCounts(collection, record, applied->header);
  if (verdict.code() == StatusCode::kUnavailable) return verdict;
  if (!verdict.ok()) {
    const bool dead = verdict.code() == StatusCode::kInvalidArgument;
    return Ingest(record, from, "default", {.fact = body.fact()}, dead, applied);
  }
  return Ingest(record, from, collection, {body.fact(), body.events(), body.surfaces()}, false,
                applied);
}

// As a topic of the business, whose paths are not set.
Status Applier::ApplyPlain(const LogRecord& record, int64_t from, Applied* applied) {
  const ops::KafkaTopic topic;
  const ingest::Decoder decoder(topic);
  arena_.Clear();
  std::vector<Play> plays;
  std::deque<Watch> watches;
  applied->header = {LogKind::kPlays, context_.engine->NowMs(), 0};
  std::vector<ingest::Beside> beside;  // a topic of plays has none
  uint64_t deletions = 0;
  applied->verdict = decoder.Decode({.payload = record.value, .at_ms = record.time_ms}, &arena_,
                                    &plays, &watches, &beside, &deletions);
  return Ingest(record, from, topic.collection, {.plays = plays}, !applied->verdict.ok(), applied);
}

Status Applier::ApplyCommand(const LogRecord& record, Applied* applied) {
  const IdRef user(record.key);
  Status& verdict = applied->verdict;
  verdict = user.Validate();
  if (verdict.ok() && context_.engine->ShardOf(user) != record.partition) {
    verdict = Status::InvalidArgument("belongs to another partition", "/user");
  }
  if (!verdict.ok()) return {};
  verdict = Command(record, applied);
  if (!IsVerdict(applied->header.kind, verdict)) return NotNow(verdict);
  if (!verdict.ok() || context_.migrations == nullptr) return {};
  const Status told = TellOldStores(record, applied->header);
  return told.ok() ? told : NotNow(told);
}

Status Applier::Command(const LogRecord& record, Applied* applied) {
  const IdRef user(record.key);
  const int64_t at_ms = applied->header.arrival_ms;
  const CallTime at = CallTime::OutOfLog(at_ms);
  Engine& engine = *context_.engine;
  Status verdict;
  wire::JsonDocument document;
  const std::string_view body = Padded(record.value);
  if (applied->header.kind == LogKind::kErase) {
    verdict = engine.EraseUser(user, {.always = true, .at_ms = at}, &applied->erasure);
  } else if (DeletesHistory(applied->header.kind)) {
    wire::ItemsCall asked;
    std::vector<std::string_view> same_as;
    asked.same_as = applied->header.kind == LogKind::kHistoryDelete ? nullptr : &same_as;
    verdict = wire::ParseItems(body, &document, &asked);
    if (verdict.ok()) verdict = CheckCounts(asked.collection, record, applied->header);
    if (verdict.ok()) {
      verdict = engine.DeleteHistory(user, asked.collection, asked.items, at, same_as);
    }
  } else if (applied->header.kind == LogKind::kHistoryClear) {
    wire::ClearCall clear;
    verdict = wire::ParseClear(body, &document, &clear);
    for (const std::string_view name : clear.collections) {
      if (verdict.ok()) verdict = CheckCounts(name, record, applied->header);
    }
    if (verdict.ok()) {
      verdict = engine.ClearHistory(
          user, {.collections = clear.collections, .filter = clear.filter, .at_ms = at});
    }
  } else if (applied->header.kind == LogKind::kMarks) {
    verdict = PutMarks(&engine, user, body, at, &applied->recorded);
  } else if (applied->header.kind == LogKind::kReserve) {
    wire::ReserveCall promised;
    verdict = wire::ParseReserve(body, cluster::kLogEventsMost, &document, &promised);
    if (verdict.ok()) {
      verdict = CheckCounts(promised.collection.value_or("default"), record, applied->header);
    }
    if (verdict.ok()) verdict = Reserve(&engine, user, promised);
  } else if (applied->header.kind == LogKind::kMarkDelete) {
    verdict = DeleteMark(&engine, user, body, at, &applied->recorded);
  } else if (applied->header.kind == LogKind::kUserSet) {
    verdict = ChangeUserSet(&engine, user, body, at_ms, &applied->user_set, &applied->recorded);
  } else {
    bool paused = false;
    verdict = wire::ParseRecording(body, &document, &paused);
    if (verdict.ok()) verdict = engine.SetRecording(user, paused, at);
  }
  return verdict;
}

Status Applier::TellOldStores(const LogRecord& record, const cluster::LogHeader& header) {
  const IdRef user(record.key);
  const migration::LogPlace place{record.partition, record.offset, header.arrival_ms};
  const migration::Observer observer(context_.migrations);
  if (header.kind == LogKind::kErase) return observer.Erased(user, place);
  wire::JsonDocument document;
  const std::string_view body = Padded(record.value);
  if (DeletesHistory(header.kind)) {
    wire::ItemsCall asked;
    std::vector<std::string_view> same_as;
    asked.same_as = &same_as;
    if (!wire::ParseItems(body, &document, &asked).ok()) return {};
    const auto meta = context_.meta();
    const auto known = meta->collections().find(std::string(asked.collection));
    if (known == meta->collections().end()) return {};
    observer.Deleted(known->second.policy, user, asked, place);
  } else if (header.kind == LogKind::kHistoryClear) {
    wire::ClearCall clear;
    if (!wire::ParseClear(body, &document, &clear).ok() || !clear.filter) return {};
    return observer.Cleared(user, clear.collections, place);
  }
  return {};
}

// {"collection":"video","key":"watched:{user}","users":["a",7]}: all of their past is in the log;
// with "everybody":true, of all users that have any.
Status Applier::ApplyImported(const LogRecord& record, Applied* applied) {
  Status& verdict = applied->verdict;
  std::string collection, key;
  std::vector<std::string> users;
  bool everybody = false;
  try {
    const auto body = ParseOutside(record.value);
    collection = body.at("collection").get<std::string>();
    key = body.at("key").get<std::string>();
    everybody = body.value("everybody", false);
    for (const auto& user : body.at("users")) {
      users.push_back(user.is_string() ? user.get<std::string>()
                                       : std::to_string(user.get<uint64_t>()));
    }
  } catch (const nlohmann::json::exception& e) {
    verdict = Status::InvalidArgument(e.what());
    return {};
  }
  std::vector<IdRef> ids;
  for (const std::string& user : users) {
    const IdRef& id = ids.emplace_back(user);
    verdict = id.Validate();
    if (verdict.ok() && context_.engine->ShardOf(id) != record.partition) {
      verdict = Status::InvalidArgument("belongs to another partition", "/users");
    }
    if (!verdict.ok()) return {};
  }
  verdict = CheckCounts(collection, record, applied->header);
  if (verdict.code() == StatusCode::kUnavailable) return verdict;
  if (!verdict.ok()) return {};
  migration::Migration* const migration =
      context_.migrations == nullptr ? nullptr : context_.migrations->Find(collection);
  verdict = migration == nullptr
                ? Status::NotFound("the settings have no migration of it", "/collection")
                : migration->NoteByLog(key, ids, everybody);
  return verdict.code() == StatusCode::kIOError ? NotNow(verdict) : Status();
}

// {"topic":"plays","partition":3,"offset":12}: rows up to there were told.
Status Applier::ApplyTold(const LogRecord& record, Status* verdict) {
  OutboxSource source{.shard = record.partition, .topic = {}, .partition = 0};
  int64_t up_to = -1;
  try {
    const auto body = ParseOutside(record.value);
    source.topic = body.at("topic").get<std::string>();
    source.partition = body.at("partition").get<uint32_t>();
    up_to = body.at("offset").get<int64_t>();
  } catch (const nlohmann::json::exception& e) {
    *verdict = Status::InvalidArgument(e.what());
    return {};
  }
  for (bool more = true; more;) {
    std::vector<OutboxRow> rows;
    Status done = context_.engine->ReadOutbox(source, -1, kToldAtOnce, &rows);
    const size_t read = rows.size();
    std::erase_if(rows, [&](const OutboxRow& row) { return row.offset > up_to; });
    more = !rows.empty() && rows.size() == read;
    if (done.ok() && !rows.empty()) done = context_.engine->DeleteOutbox(rows);
    if (!done.ok()) return NotNow(done);
  }
  return {};
}

}  // namespace seendb::replica
