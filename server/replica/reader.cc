#include "replica/reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::replica {
namespace {

using std::chrono::milliseconds;

constexpr int kEndsMs = 3'000;
// Shorter timeout while other partitions are read, and after one got no answer.
constexpr int kEndsAgainMs = 300;
constexpr std::chrono::seconds kLookAgain{1};
constexpr int kFirstMs = 50;
constexpr size_t kPolledMost = 4'096;
constexpr milliseconds kAfterFailure{500};
constexpr milliseconds kWorthTelling{150};
// Records of one partition's backlog that are tried before other partitions have their turn.
constexpr int kTriedAtOnce = 64;

std::optional<int64_t> TimeOf(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const int64_t at_ms = rd_kafka_message_timestamp(&message, &type);
  if (type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || at_ms < 0) return std::nullopt;
  return at_ms;
}

std::optional<std::string_view> HeaderOf(const rd_kafka_message_t& message) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  const void* bytes = nullptr;
  size_t size = 0;
  if (rd_kafka_header_get_last(headers, cluster::kLogHeaderName, &bytes, &size) !=
      RD_KAFKA_RESP_ERR_NO_ERROR) {
    return {};
  }
  return std::string_view(static_cast<const char*>(bytes), size);
}

}  // namespace

Result<kafka::KafkaHandle> Reader::NewConsumer() const {
  Result<kafka::KafkaConf> conf = cluster::ConsumerConfOf(context_.access, "seendb-log");
  if (!conf.ok()) return conf.status();
  return kafka::NewHandle(RD_KAFKA_CONSUMER, std::move(conf).value());
}

Status Reader::Start() {
  const Result<kafka::KafkaHandle> tried = NewConsumer();
  if (!tried.ok()) return tried.status();
  polled_.resize(kPolledMost);
  worker_.Start("log-reader", [this] { Run(); });
  return {};
}

void Reader::Stop() { worker_.Stop(); }

std::string Reader::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

void Reader::SetProblem(const std::string& problem) {
  const MutexLock lock(mutex_);
  problem_ = problem;
}

void Reader::Run() {
  while (!worker_.stopping()) {
    context_.between();
    const Status ended = Session();
    SetProblem(ended.ok() ? "" : "the log can't be read: " + std::string(ended.message()));
    if (!ended.ok() && !worker_.Pause(kAfterFailure)) return;
  }
}

Status Reader::Session() {
  const uint64_t version = context_.progress->version();
  Result<kafka::KafkaHandle> made = NewConsumer();
  if (!made.ok()) return made.status();
  const kafka::KafkaHandle handle = std::move(made).value();
  consumer_ = handle.get();
  rd_kafka_poll_set_consumer(consumer_);
  const kafka::KafkaQueue queue(rd_kafka_queue_get_consumer(consumer_));
  renew_ = false;
  failed_ = Assign();
  if (!failed_.ok()) static_cast<void>(TryBacklog());
  if (failed_.ok()) SetProblem("");
  while (failed_.ok() && !worker_.stopping() && context_.progress->version() == version) {
    context_.between();
    Poll(queue.get());
    if (failed_.ok()) failed_ = TryBacklog();
    if (failed_.ok() && (renew_ || CanReadMore())) break;
  }
  return failed_;
}

int64_t Reader::TellStored(uint32_t partition, std::optional<SourceMark>* last) const {
  int64_t next = 0, newest_ms = 0;
  for (const SourceInfo& source : context_.engine->Sources()) {
    if (source.topic == context_.topic && source.partition == partition) {
      next = source.next_of_shard.value_or(0);
      newest_ms = source.last_of_shard ? source.last_of_shard->time_ms : 0;
      if (last != nullptr) *last = source.last_of_shard;
    }
  }
  context_.progress->Begin(partition, next, newest_ms);
  return next;
}

Result<bool> Reader::Begin(uint32_t partition, int ask_ms) {
  if (context_.progress->IsStopped(partition)) return false;
  std::optional<SourceMark> last;
  const int64_t next = TellStored(partition, &last);
  const auto ends =
      kafka::Watermarks(consumer_, context_.topic, static_cast<int32_t>(partition), ask_ms);
  if (!ends.ok()) return ends.status();
  if (next < ends->first) {
    context_.progress->Stop(partition,
                            "the log begins at offset " + std::to_string(ends->first) +
                                ", and this replica goes on from " + std::to_string(next) +
                                ": what lies between is gone, and may hold an erasure",
                            Stopped::kUntilReplaced, ends->first);
    return false;
  }
  if (next > ends->second) {
    context_.progress->Stop(partition,
                            "the log ends at offset " + std::to_string(ends->second) +
                                ", before what was applied of it (" + std::to_string(next) +
                                "): it lost records, or was made anew",
                            Stopped::kForNow);
    missing_.insert(partition);
    return false;
  }
  context_.progress->Resume(partition);
  next_[partition] = next;
  if (last && last->offset >= ends->first && last->offset < next) checks_[partition] = *last;
  return true;
}

Status Reader::Assign() {
  next_.clear();
  checks_.clear();
  missing_.clear();
  backlog_.ForgetWhatIsReadAgain();
  Status first;
  const std::set<uint32_t> held = context_.progress->Held();
  for (const uint32_t partition : held) {
    if (worker_.stopping()) return {};
    if (backlog_.Has(partition)) continue;  // its first record is tried, until it is applied
    const Result<bool> begun = Begin(partition, first.ok() ? kEndsMs : kEndsAgainMs);
    if (begun.ok()) continue;
    context_.progress->Stop(partition, std::string(begun.status().message()), Stopped::kForNow);
    missing_.insert(partition);
    if (!first.ok()) continue;
    first = begun.status();
    // The others mostly have no answer either: nobody is to wait for that.
    for (const uint32_t other : held) {
      if (next_.contains(other) || backlog_.Has(other)) continue;
      TellStored(other);
      context_.progress->Stop(other, std::string(first.message()), Stopped::kForNow);
    }
  }
  look_again_ = std::chrono::steady_clock::now() + kLookAgain;
  if (next_.empty() && first.ok() && backlog_.NextTry()) return {};
  if (next_.empty()) return first;
  const kafka::KafkaPartitions list(rd_kafka_topic_partition_list_new(16));
  for (const auto& [partition, next] : next_) {
    const auto check = checks_.find(partition);
    rd_kafka_topic_partition_list_add(list.get(), context_.topic.c_str(),
                                      static_cast<int32_t>(partition))
        ->offset = check == checks_.end() ? next : check->second.offset;
  }
  const rd_kafka_resp_err_t error = rd_kafka_assign(consumer_, list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Unavailable(rd_kafka_err2str(error));
  ops::Log(ops::LogLevel::kInfo, "log_assigned", {{"partitions", list->cnt}});
  return {};
}

// As the newest answers of the brokers said.
std::map<uint32_t, int64_t> Reader::Ends() const {
  std::map<uint32_t, int64_t> ends;
  for (const auto& [partition, next] : next_) {
    int64_t low = 0, high = 0;
    if (rd_kafka_get_watermark_offsets(consumer_, context_.topic.c_str(),
                                       static_cast<int32_t>(partition), &low,
                                       &high) == RD_KAFKA_RESP_ERR_NO_ERROR &&
        high > 0) {
      ends[partition] = high;
    }
  }
  return ends;
}

bool Reader::CanReadMore() {
  const auto now = std::chrono::steady_clock::now();
  if (missing_.empty() || now < look_again_) return false;
  look_again_ = now + kLookAgain;
  auto one = missing_.upper_bound(looked_at_);
  if (one == missing_.end()) one = missing_.begin();
  looked_at_ = *one;
  const Result<bool> begun = Begin(looked_at_, kEndsAgainMs);
  return begun.ok() && (*begun || context_.progress->IsStopped(looked_at_));
}

// A call for a batch returns early only when the batch is full. So the first message is waited for
// alone, and the batch is what has come by then.
void Reader::Poll(rd_kafka_queue_t* queue) {
  polled_[0] = rd_kafka_consume_queue(queue, PollMs());
  if (polled_[0] == nullptr) return;
  const ssize_t more = rd_kafka_consume_batch_queue(queue, 0, polled_.data() + 1, kPolledMost - 1);
  const size_t count = 1 + (more > 0 ? static_cast<size_t>(more) : 0);
  for (size_t i = 0; i < count; ++i) {
    if (failed_.ok() && !worker_.stopping()) failed_ = Take(*polled_[i]);
    rd_kafka_message_destroy(polled_[i]);
  }
}

Status Reader::Take(const rd_kafka_message_t& message) {
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return Status::Unavailable(rd_kafka_message_errstr(&message));
  }
  const auto partition = static_cast<uint32_t>(message.partition);
  const auto next = next_.find(partition);
  if (next == next_.end()) return {};
  if (IsOfAnotherLog(message)) {
    const std::string why = "the log is not the one that was applied: its record at offset " +
                            std::to_string(message.offset) + " has another time";
    context_.progress->Stop(partition, why, Stopped::kForGood);
    ops::Log(ops::LogLevel::kError, "log_stopped", {{"partition", partition}, {"error", why}});
    next_.erase(next);
    return {};
  }
  if (message.offset < next->second) return {};
  if (message.offset > next->second) {
    if (Status gap = CheckGap(message, next->second); !gap.ok()) return gap;
    if (!next_.contains(partition)) return {};
  }
  const LogRecord record{.partition = partition,
                         .offset = message.offset,
                         .time_ms = TimeOf(message),
                         .key = {static_cast<const char*>(message.key), message.key_len},
                         .value = {static_cast<const char*>(message.payload), message.len},
                         .header = HeaderOf(message)};
  const int64_t from = std::exchange(next->second, message.offset + 1);
  return Apply(record, from);
}

// Whether the log has another time for the last applied record than the one that was stored. False
// where the log no longer has that record, or gives no time for it.
bool Reader::IsOfAnotherLog(const rd_kafka_message_t& message) {
  const auto check = checks_.find(static_cast<uint32_t>(message.partition));
  if (check == checks_.end() || message.offset < check->second.offset) return false;
  const SourceMark expected = check->second;
  checks_.erase(check);
  const std::optional<int64_t> at_ms = TimeOf(message);
  return message.offset == expected.offset && at_ms && *at_ms != expected.time_ms;
}

// Accepts a gap of offsets that Kafka never gave to a record. Stops at a gap left by deleted
// records: the log begins behind `expected` then.
Status Reader::CheckGap(const rd_kafka_message_t& message, int64_t expected) {
  const auto ends = kafka::Watermarks(consumer_, context_.topic, message.partition, kEndsMs);
  if (!ends.ok()) return ends.status();
  if (ends->first <= expected) return {};
  const auto partition = static_cast<uint32_t>(message.partition);
  context_.progress->Stop(partition,
                          "the log goes on at offset " + std::to_string(message.offset) +
                              " behind " + std::to_string(expected) + ": what lay between is gone",
                          Stopped::kUntilReplaced, ends->first);
  next_.erase(partition);
  return {};
}

Status Reader::Apply(const LogRecord& record, int64_t from) {
  if (!backlog_.Has(record.partition)) {
    const Status done = ApplyNow(record, from);
    if (done.ok() || done.code() == StatusCode::kNotFound) return done;
  }
  KeepForLater(record, from);
  return {};
}

// A full backlog keeps only the first record of its partition. Another session reads the others
// again, once that one was applied.
void Reader::KeepForLater(const LogRecord& record, int64_t from) {
  if (!context_.progress->IsHeld(record.partition)) {
    next_.erase(record.partition);
  } else if (!backlog_.Keep(record, from, std::chrono::steady_clock::now())) {
    next_.erase(record.partition);
    renew_ = true;
  }
}

Status Reader::ApplyNow(const LogRecord& record, int64_t from) {
  Applied applied;
  const Status done = context_.applier->Apply(record, from, &applied);
  if (done.ok()) {
    TellApplied(record, applied);
    return {};
  }
  if (done.code() == StatusCode::kIncompatible || done.code() == StatusCode::kCorruption) {
    StopForGood(record, done);
    return {};
  }
  // The shard has stored less than `from`: the session ends, the next begins at what is stored.
  if (done.code() == StatusCode::kNotFound) return done;
  return Status::Unavailable(std::string(done.message()));
}

void Reader::TellApplied(const LogRecord& record, const Applied& applied) {
  // An arrival ahead of this node's clock says nothing of the lag.
  const int64_t arrival_ms = applied.header.arrival_ms;
  context_.progress->Advance(record.partition, record.offset + 1,
                             arrival_ms <= context_.engine->NowMs() ? arrival_ms : 0);
  context_.appender->Applied(record.offset, applied);
  if (applied.verdict.code() != StatusCode::kInvalidArgument) return;
  ops::Log(ops::LogLevel::kWarn, "log_record_refused",
           {{"partition", record.partition},
            {"offset", record.offset},
            {"error", applied.verdict.ToString()}});
}

void Reader::StopForGood(const LogRecord& record, const Status& why) {
  context_.progress->Stop(
      record.partition,
      "offset " + std::to_string(record.offset) + ": " + std::string(why.message()),
      Stopped::kForGood);
  ops::Log(ops::LogLevel::kError, "log_stopped",
           {{"partition", record.partition}, {"offset", record.offset}, {"error", why.ToString()}});
  next_.erase(record.partition);
}

int Reader::PollMs() const {
  const std::optional<Time> next = backlog_.NextTry();
  if (!next) return kFirstMs;
  const auto left =
      std::chrono::duration_cast<milliseconds>(*next - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 1, kFirstMs));
}

Status Reader::TryBacklog() {
  for (const uint32_t partition : backlog_.Due(std::chrono::steady_clock::now())) {
    if (worker_.stopping()) return {};
    if (Status tried = TryBacklogOf(partition); !tried.ok()) return tried;
  }
  return {};
}

Status Reader::TryBacklogOf(uint32_t partition) {
  const bool was_full = backlog_.IsFull(partition);
  for (int i = 0; i < kTriedAtOnce && backlog_.Has(partition) && !worker_.stopping(); ++i) {
    if (!context_.progress->IsHeld(partition)) {
      backlog_.Forget(partition);
      next_.erase(partition);
      return {};
    }
    int64_t from = 0;
    const LogRecord record = backlog_.First(partition, &from);
    const Status done = ApplyNow(record, from);
    if (done.code() == StatusCode::kNotFound) {
      backlog_.Forget(partition);
      return done;
    }
    if (!done.ok()) {
      if (backlog_.Failed(partition, std::chrono::steady_clock::now()) >= kWorthTelling) {
        context_.progress->Stop(
            partition,
            "offset " + std::to_string(record.offset) + ": " + std::string(done.message()),
            Stopped::kForNow);
      }
      return {};
    }
    if (context_.progress->IsStopped(partition)) {
      backlog_.Forget(partition);
      return {};
    }
    backlog_.Applied(partition);
    context_.progress->Resume(partition);
  }
  if (was_full && !backlog_.Has(partition)) renew_ = true;
  return {};
}

}  // namespace seendb::replica
