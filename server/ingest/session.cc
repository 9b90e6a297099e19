#include "ingest/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/put_marks.h"
#include "migration/observer.h"
#include "ops/log.h"

namespace seendb::ingest {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{1'000};
constexpr milliseconds kHeldRefresh{1'000};
constexpr milliseconds kFirstPause{5}, kLongestPause{500};
constexpr std::chrono::seconds kComplainEvery{10};

/// Given to librdkafka as the handle's opaque: called within Poll, on the session's thread.
void CountError(rd_kafka_t*, int error, const char* reason, void* table) {
  static_cast<PartitionTable*>(table)->CountError();
  ops::Log(
      ops::LogLevel::kWarn, "kafka_error",
      {{"error", rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(error))}, {"reason", reason}});
}

}  // namespace

Session::Session(const ops::KafkaConfig& config, Engine* engine, PartitionTable* table,
                 DeadLetters* dead_letters, CrashMark* crash_mark,
                 std::set<std::string>* late_topics, migration::Migrations* migrations,
                 const ShardTopics* shards, const ItemSink* items, Worker* worker)
    : config_(config),
      engine_(engine),
      table_(table),
      dead_letters_(dead_letters),
      crash_mark_(crash_mark),
      late_topics_(late_topics),
      migrations_(migrations),
      shards_(shards),
      items_(items),
      readable_(shards == nullptr ? std::set<uint32_t>() : shards->readable()),
      worker_(worker),
      polled_(config.batch_messages) {
  std::function<uint32_t(IdRef)> partition_of;
  if (shards != nullptr) partition_of = [engine](IdRef user) { return engine->ShardOf(user); };
  for (const ops::KafkaTopic& topic : config.topics) {
    readers_.push_back(std::make_unique<Reader>(topic, partition_of));
  }
}

Session::~Session() {
  if (handle_) CommitToGroup();
  queue_.reset();
}

Status Session::Run() {
  Status status = Open();
  if (status.ok()) status = Assign();
  table_->SetBegun(readable_);
  if (!status.ok()) return status;
  while (!worker_->stopping() && !changed_) {
    Poll();
    for (const auto& reader : readers_) {
      if (!reader->batch.empty() && !Apply(reader.get())) return Status::Ok();
    }
    Tick();
  }
  return Status::Ok();
}

Status Session::Open() {
  Result<KafkaConf> conf = ConsumerConf(config_);
  if (!conf.ok()) return conf.status();
  rd_kafka_conf_set_opaque(conf->get(), table_);
  rd_kafka_conf_set_error_cb(conf->get(), CountError);
  Result<KafkaHandle> made = NewKafka(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!made.ok()) return made.status();
  handle_ = std::move(made).value();
  rd_kafka_poll_set_consumer(handle_.get());
  queue_.reset(rd_kafka_queue_get_consumer(handle_.get()));
  return Status::Ok();
}

Status Session::Assign() {
  const Result<std::vector<SourceInfo>> known = Sources();
  if (!known.ok()) return known.status();
  const std::vector<SourceInfo>& sources = *known;
  for (const SourceInfo& one : sources) {
    const SourceCounts& counts = one.counts;
    if (items_ == nullptr &&
        counts.plays_accepted + counts.impressions_accepted + counts.exposures_accepted == 0) {
      continue;
    }
    table_->outcomes().NoteTakenBefore(one.topic);
  }
  const KafkaPartitions list(rd_kafka_topic_partition_list_new(16));
  for (const auto& reader : readers_) {
    Status status = FindPartitions(reader.get());
    for (size_t i = 0; status.ok() && i < reader->partitions.size(); ++i) {
      if (worker_->stopping()) return Status::Ok();
      status = BeginPartition(reader.get(), reader->partitions[i], sources);
    }
    if (!status.ok()) return status;
    if (!reader->batch.empty() && !Apply(reader.get())) return Status::Ok();
    for (const auto& [partition, next] : reader->next) {
      const auto check = reader->checks.find(partition);
      rd_kafka_topic_partition_list_add(list.get(), reader->topic.topic.c_str(), partition)
          ->offset = check == reader->checks.end() ? next : check->second.offset;
    }
  }
  const auto now = Clock::now();
  next_tick_ = now + kTick;
  next_commit_ = now + milliseconds(config_.commit_ms);
  next_refresh_ = now + std::min(kHeldRefresh, milliseconds(config_.refresh_ms));
  if (list->cnt == 0) return Status::Ok();
  const rd_kafka_resp_err_t error = rd_kafka_assign(handle_.get(), list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Unavailable(rd_kafka_err2str(error));
  ops::Log(ops::LogLevel::kInfo, "ingest_assigned", {{"partitions", list->cnt}});
  return Status::Ok();
}

// A call for a batch returns early only when the batch is full. So the first message is waited for
// alone, and the batch is what has come by then.
void Session::Poll() {
  polled_[0] = rd_kafka_consume_queue(queue_.get(), static_cast<int>(config_.batch_ms));
  if (polled_[0] == nullptr) return;
  size_t count = 1;
  if (polled_.size() > 1) {
    const ssize_t more = rd_kafka_consume_batch_queue(queue_.get(), /*timeout_ms=*/0,
                                                      polled_.data() + 1, polled_.size() - 1);
    count += more > 0 ? static_cast<size_t>(more) : 0;
  }
  if (items_ != nullptr) {
    for (const auto& reader : readers_) reader->batch.SetItemTypes(items_->types());
  }
  for (size_t i = 0; i < count; ++i) {
    rd_kafka_message_t* const message = polled_[i];
    if (!changed_ && !worker_->stopping()) Take(*message);
    rd_kafka_message_destroy(message);
  }
}

Session::Reader* Session::ReaderOf(const rd_kafka_topic_t* topic) {
  const auto known = by_handle_.find(topic);
  if (known != by_handle_.end()) return known->second;
  for (const auto& reader : readers_) {
    if (reader->topic.topic != rd_kafka_topic_name(topic)) continue;
    return by_handle_[topic] = reader.get();
  }
  return nullptr;
}

namespace {

/// The time that the log says of a message, if it says one.
std::optional<int64_t> TimeOf(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const int64_t at_ms = rd_kafka_message_timestamp(&message, &type);
  if (type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || at_ms < 0) return std::nullopt;
  return at_ms;
}

/// The newest value of a header; nothing where the record has none of that name.
std::optional<std::string_view> HeaderOf(const rd_kafka_message_t& message,
                                         const std::string& name) {
  rd_kafka_headers_t* headers = nullptr;
  if (name.empty() || rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return {};
  }
  const void* value = nullptr;
  size_t size = 0;
  if (rd_kafka_header_get_last(headers, name.c_str(), &value, &size) !=
      RD_KAFKA_RESP_ERR_NO_ERROR) {
    return {};
  }
  return std::string_view(static_cast<const char*>(value), size);
}

/// All headers, kRefusedBytes of them at most.
Headers HeadersOf(const rd_kafka_message_t& message) {
  Headers all;
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return all;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0, bytes = 0;
  for (size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    bytes += std::strlen(name) + size + 1;
    if (bytes > kRefusedBytes) break;
    all.emplace_back(name,
                     std::string(static_cast<const char*>(value), value == nullptr ? 0 : size));
  }
  return all;
}

}  // namespace

// The brokers' time of it is the same for all replicas, whenever they read it.
std::optional<Arrival> Session::ArrivalOf(const Reader& reader,
                                          const rd_kafka_message_t& message) const {
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const int64_t at_ms = rd_kafka_message_timestamp(&message, &type);
  const bool appended = type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME && at_ms >= 0;
  if (shards_ == nullptr || !appended || !reader.policy) return {};
  return Arrival{at_ms, DayOf(*reader.policy, at_ms)};
}

// Where the log has the message no more (compaction), or says no time of it, nothing is known.
bool Session::IsOfAnotherLog(Reader* reader, const rd_kafka_message_t& message) {
  const auto check = reader->checks.find(message.partition);
  if (check == reader->checks.end() || message.offset < check->second.offset) return false;
  const SourceMark expected = check->second;
  reader->checks.erase(check);
  const std::optional<int64_t> at_ms = TimeOf(message);
  return message.offset == expected.offset && at_ms && *at_ms != expected.time_ms;
}

void Session::Take(const rd_kafka_message_t& message) {
  Reader* const reader = message.rkt == nullptr ? nullptr : ReaderOf(message.rkt);
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) return TakeError(message);
  if (reader == nullptr) return;
  NoteRead(reader, message.partition);
  const auto next = reader->next.find(message.partition);
  if (next == reader->next.end()) return;
  if (IsOfAnotherLog(reader, message)) return Hold(reader, message.partition, next->second);
  if (message.offset < next->second) return;
  if (message.offset > next->second) SkipTo(reader, message.partition, message.offset);
  const Message taken{message.partition,
                      message.offset,
                      TimeOf(message),
                      {static_cast<const char*>(message.key), message.key_len},
                      {static_cast<const char*>(message.payload), message.len},
                      ArrivalOf(*reader, message),
                      HeaderOf(message, reader->topic.user_place.header),
                      HeaderOf(message, reader->topic.item_place.header),
                      [&message] { return HeadersOf(message); }};
  if (!reader->batch.Fits(taken) && !Apply(reader)) return;
  Add(reader, taken);
  next->second = message.offset + 1;
}

void Session::Add(Reader* reader, const Message& message) {
  TopicBatch& batch = reader->batch;
  if (const size_t bytes = message.key.size() + message.payload.size();
      bytes > config_.message_bytes) {
    return batch.Refuse(message,
                        "has " + std::to_string(bytes) + " bytes, more than message_bytes");
  }
  if (!crash_mark_->Enter(reader->topic.topic, message.partition, message.offset)) {
    return batch.Refuse(
        message, "the process died on it " + std::to_string(CrashMark::kDeathsMost) + " times");
  }
  batch.Add(message);
  crash_mark_->Leave();
}

void Session::TakeError(const rd_kafka_message_t& message) {
  Reader* const reader = message.rkt == nullptr ? nullptr : ReaderOf(message.rkt);
  switch (message.err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF: {
      // What lies between the last message and the end is gone, or belongs to transactions.
      if (reader == nullptr) return;
      NoteRead(reader, message.partition);
      const auto next = reader->next.find(message.partition);
      if (next == reader->next.end() || message.offset <= next->second) return;
      SkipTo(reader, message.partition, message.offset);
      reader->batch.Step(message.partition, message.offset);
      return;
    }
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      changed_ = true;  // where to go on is looked up again
      break;
    default:
      break;
  }
  table_->CountError();
  if (reader != nullptr && !changed_ && !NoteUnread(reader, message)) return;
  ops::Log(ops::LogLevel::kWarn, "kafka_error",
           {{"error", rd_kafka_err2name(message.err)},
            {"topic", reader == nullptr ? "" : reader->topic.topic},
            {"partition", message.partition},
            {"reason", rd_kafka_message_errstr(&message)}});
}

// librdkafka asks again by itself, several times a second. False: it was logged a short time ago.
bool Session::NoteUnread(Reader* reader, const rd_kafka_message_t& message) {
  std::string why = rd_kafka_message_errstr(&message);
  if (message.err == RD_KAFKA_RESP_ERR__BAD_COMPRESSION) {
    why +=
        "; if its batch unpacks to more than kafka.properties allow, raise"
        " receive.message.max.bytes";
  }
  const Clock::time_point now = Clock::now();
  table_->SetUnread(reader->topic.topic, message.partition, std::move(why), now);
  Clock::time_point& complain = reader->unread[message.partition];
  if (now < complain) return false;
  complain = now + kComplainEvery;
  return true;
}

void Session::NoteRead(Reader* reader, int32_t partition) {
  if (reader->unread.erase(partition) == 0) return;
  table_->SetUnread(reader->topic.topic, partition, "", Clock::now());
}

void Session::SkipTo(Reader* reader, int32_t partition, int64_t offset) {
  int64_t& next = reader->next[partition];
  if (!reader->topic.gaps_expected) {
    table_->AddLost(reader->topic.topic, partition, offset - next);
    Alarm(*reader, partition, "gap",
          "offsets " + std::to_string(next) + ".." + std::to_string(offset - 1) + " are gone");
  }
  next = offset;
}

// Until `work` succeeds; false when told to stop first.
bool Session::Insist(const char* what, const std::function<Status()>& work) {
  milliseconds pause = kFirstPause;
  Clock::time_point complain = Clock::now();
  for (bool first = true; !worker_->stopping(); first = false) {
    const Status done = work();
    if (done.ok()) return true;
    if (first) table_->CountPutOff();
    if (Clock::now() >= complain) {
      ops::Log(ops::LogLevel::kWarn, what, {{"error", done.ToString()}});
      complain = Clock::now() + kComplainEvery;
    }
    if (!worker_->Pause(pause)) return false;
    pause = std::min(pause * 2, kLongestPause);
  }
  return false;
}

// A shard that lost a part of its log lacks what lies before the batch: where to go on is looked up
// again. So it is where the shard or the collection went, or the collection is another one. Plays
// are on their way to the old store, if their collection moves in from one, before the offsets say
// that they were read.
bool Session::InsistOnIngest(const std::string& topic, const IngestBatch& batch,
                             IngestResult* counted) {
  bool refused = false;
  migration::OnRecorded on_recorded;
  if (batch.fact == Fact::kPlayed) {
    on_recorded = migration::Observer(migrations_).Recording(batch.collection, batch.plays);
  }
  const auto tell = [&on_recorded](const IngestResult* result) {
    if (const auto told = std::exchange(on_recorded, nullptr)) told(result);
  };
  const bool ended = Insist("ingest_put_off", [&] {
    Result<IngestResult> result = engine_->Ingest(batch);
    if (result.ok()) table_->AddRefused(topic, *result);
    if (result.ok()) tell(&*result);
    if (result.ok()) *counted = *result;
    Status done = result.status();
    refused = done.code() == StatusCode::kIncompatible;
    if (shards_ != nullptr && !done.ok()) {
      refused = refused || done.code() == StatusCode::kNotFound ||
                done.code() == StatusCode::kInvalidArgument || ShardsChanged();
    }
    if (!refused) return done;
    ops::Log(ops::LogLevel::kWarn, "ingest_read_again", {{"error", done.ToString()}});
    return Status::Ok();
  });
  tell(nullptr);
  changed_ = changed_ || refused;
  return ended && !refused;
}

// Marks that are refused for themselves become dead letters, which the offsets count.
bool Session::InsistOnMarks(TopicBatch* batch, RecordResult* counted) {
  const std::vector<UserMark> marks = batch->MarksOf();
  MarksPut put;
  const bool ended = marks.empty() || Insist("marks_put_off", [&] {
                       Result<MarksPut> done = PutMarks(engine_, marks);
                       if (!done.ok()) return done.status();
                       put = std::move(done).value();
                       return Status::Ok();
                     });
  for (auto& [mark, reason] : put.not_taken) batch->BuryOne(mark, std::move(reason));
  *counted = std::move(put.counted);
  return ended;
}

void Session::NoteOutcome(const Reader& reader, const RecordResult& counted) {
  const std::vector<DeadLetter>& letters = reader.batch.dead_letters();
  std::string why;
  for (size_t i = 0; i < kRefusalReasons && why.empty(); ++i) {
    if (counted.refused_by[i] > 0) why = RefusalReasonName(static_cast<RefusalReason>(i));
  }
  if (!letters.empty()) why = letters.back().reason;
  table_->outcomes().Note(reader.topic.topic,
                          {.taken = counted.accepted,
                           .not_taken = counted.refused + letters.size(),
                           .deletions = reader.batch.deletions(),
                           .why = why},
                          Clock::now());
}

bool Session::Apply(Reader* reader) {
  if (items_ != nullptr) return ApplyItems(reader);
  TopicBatch& batch = reader->batch;
  const std::string& topic = reader->topic.topic;
  RecordResult marked;
  if (!InsistOnMarks(&batch, &marked)) return false;
  const bool buried = batch.dead_letters().empty() || Insist("dead_letters_put_off", [&] {
                        return dead_letters_->Write(topic, batch.dead_letters());
                      });
  IngestBatch view = batch.View(reader->applied);
  view.outbox_first_plays = !reader->topic.first_of_day_topic.empty();
  view.partition_is_shard = shards_ != nullptr;
  IngestResult counted;
  if (!buried || !InsistOnIngest(topic, view, &counted)) return false;
  if (reader->topic.marks) table_->AddRefused(topic, marked);
  NoteOutcome(*reader, reader->topic.marks ? marked : counted);
  for (const DeadLetter& letter : batch.dead_letters()) {
    table_->AddMisrouted(topic, letter.partition, letter.misrouted ? 1 : 0);
  }
  for (const auto& [partition, progress] : batch.partitions()) {
    table_->AddMessages(topic, partition, progress.messages);
    if (!progress.held) reader->applied[partition] = progress.next_offset;
  }
  batch.Clear();
  return true;
}

void Session::Tick() {
  const auto now = Clock::now();
  if (now >= next_tick_) {
    next_tick_ = now + kTick;
    for (const auto& reader : readers_) {
      for (const auto& [partition, next] : reader->next) {
        int64_t low = -1, high = -1;
        const rd_kafka_resp_err_t error = rd_kafka_get_watermark_offsets(
            handle_.get(), reader->topic.topic.c_str(), partition, &low, &high);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR || high < 0) continue;
        table_->SetHighWatermark(reader->topic.topic, partition, high);
      }
    }
    const auto nothing_taken = table_->outcomes().NothingTaken(now);
    for (const auto& reader : readers_) {
      const auto found = nothing_taken.find(reader->topic.topic);
      if (found == nothing_taken.end() || reader->next.empty()) continue;
      Alarm(*reader, reader->next.begin()->first, "nothing_taken", found->second);
    }
    changed_ = changed_ || ShardsChanged();
    if (items_ != nullptr) TellCurrent();
  }
  if (now >= next_commit_) {
    CommitToGroup();
    next_commit_ = now + milliseconds(config_.commit_ms);
  }
  if (now < next_refresh_) return;
  if (AnythingChanged()) changed_ = true;
  const milliseconds pause(config_.refresh_ms);
  next_refresh_ = Clock::now() + (held_ ? std::min(kHeldRefresh, pause) : pause);
}

// For people's dashboards: nothing here reads it, and nobody waits for the answer.
void Session::CommitToGroup() {
  const KafkaPartitions list(rd_kafka_topic_partition_list_new(16));
  for (const auto& reader : readers_) {
    if (!reader->batch.empty()) continue;  // read, not applied
    for (const auto& [partition, next] : reader->next) {
      rd_kafka_topic_partition_list_add(list.get(), reader->topic.topic.c_str(), partition)
          ->offset = next;
    }
  }
  if (list->cnt > 0) rd_kafka_commit(handle_.get(), list.get(), 1);
}

void Session::Alarm(const Reader& reader, int32_t partition, const std::string& alarm,
                    const std::string& text) {
  if (!table_->Raise(reader.topic.topic, partition, alarm) && alarm != "gap") return;
  ops::Log(
      ops::LogLevel::kError, "ingest_alarm",
      {{"topic", reader.topic.topic}, {"partition", partition}, {"alarm", alarm}, {"text", text}});
}

}  // namespace seendb::ingest
