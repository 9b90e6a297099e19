#include "cluster/topic_follower.h"

#include <algorithm>
#include <utility>

namespace seendb::cluster {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kTopicAskMs = 5'000, kTopicCheckMs = 1'000, kTopicPollMs = 200;
constexpr std::chrono::milliseconds kTopicRetry{500}, kTopicRetryMost{5'000}, kTopicLook{2'000};
// Limits of one write.
constexpr size_t kRecordsMost = 1'000, kRecordBytesMost = size_t{8} << 20;

TopicRecord TopicRecordOf(const rd_kafka_message_t& message) {
  TopicRecord record{.offset = message.offset};
  record.key = {static_cast<const char*>(message.key), message.key_len};
  if (message.payload != nullptr && message.len > 0) {
    record.value = std::string_view(static_cast<const char*>(message.payload), message.len);
  }
  return record;
}

}  // namespace

Result<std::unique_ptr<TopicFollower>> TopicFollower::Start(TopicFollowerOptions options) {
  std::unique_ptr<TopicFollower> follower(new TopicFollower(std::move(options)));
  const TopicFollowerOptions& given = follower->options_;
  auto reader = TopicReader::Open(given.access, given.topic, given.client,
                                  TopicReader::Topic::kCompactedLater);
  if (!reader.ok()) return reader.status();
  follower->reader_ = std::move(reader).value();
  follower->worker_.Start("topic", [self = follower.get()] { self->Run(); });
  return follower;
}

std::string TopicFollower::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

bool TopicFollower::WaitFor(int64_t next_offset, std::chrono::milliseconds most) const {
  const auto deadline = std::chrono::steady_clock::now() + most;
  const MutexLock lock(mutex_);
  while (taken_ < next_offset && !stopping_) {
    if (!changed_.WaitUntil(mutex_, deadline)) break;
  }
  return taken_ >= next_offset;
}

void TopicFollower::Stop() {
  worker_.AskToStop();
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  worker_.Stop();
}

void TopicFollower::Run() {
  std::optional<SteadyClock::time_point> failing;
  std::chrono::milliseconds retry = kTopicRetry;
  while (!worker_.stopping()) {
    const Status status = Step();
    SetProblem(status.ok() ? cut_ : status);
    // A record of newer software is not passed over; the process that replaces this one reads it.
    if (status.code() == StatusCode::kIncompatible) {
      options_.sink->SetCurrent(false);
      return;
    }
    if (status.ok()) {
      failing.reset();
      retry = kTopicRetry;
      if (!missing_) continue;
    } else {
      reader_->Forget();  // where it goes on is looked up anew
      if (!failing) failing = SteadyClock::now();
      const bool long_since = SteadyClock::now() - *failing >= options_.limits.failing;
      if (long_since) options_.sink->SetCurrent(false);
    }
    if (!worker_.Pause(missing_ ? kTopicLook : retry)) return;
    if (!status.ok()) retry = std::min(2 * retry, kTopicRetryMost);
  }
}

Status TopicFollower::Step() {
  missing_ = false;
  if (!reader_->assigned()) {
    Status begun = Begin();
    if (!begun.ok() || missing_) return begun;
  }
  return TakeSome();
}

// A topic that is not there has nothing; but where something was read of it, it is missed.
Status TopicFollower::Begin() {
  TopicSink& sink = *options_.sink;
  const auto ends = reader_->AskEnds(kTopicAskMs);
  if (ends.status().code() == StatusCode::kNotFound) {
    missing_ = true;
    const bool may_lack = options_.may_lack == nullptr || options_.may_lack();
    if (sink.next_offset() > 0 || !may_lack) {
      return Status::Unavailable(std::string(ends.status().message()));
    }
    sink.SetCurrent(true);
    return {};
  }
  if (!ends.ok()) return ends.status();
  const auto [begin, end] = *ends;
  const int64_t next = sink.next_offset();
  if (next > end || (next < begin && next > 0)) {
    if (options_.log) {
      options_.log("topic_read_anew", "topic " + options_.topic + " has offsets from " +
                                          std::to_string(begin) + " to " + std::to_string(end) +
                                          ", and was read up to " + std::to_string(next));
    }
    sink.SetCurrent(false);
    if (Status anew = sink.BeginAnew(); !anew.ok()) return anew;
  }
  end_ = end;
  if (sink.next_offset() == 0) {
    cut_ = begin == 0
               ? Status()
               : Status::Unavailable("topic " + options_.topic + " lost what was before offset " +
                                     std::to_string(begin));
  }
  Status assigned = reader_->Assign(std::max(sink.next_offset(), begin));
  if (!assigned.ok()) return assigned;
  sink.SetCurrent(sink.next_offset() >= end || begin == end);
  Moved();
  Told();
  return {};
}

Status TopicFollower::TakeSome() {
  std::vector<TopicReader::Message> kept;
  std::vector<TopicRecord> records;
  TopicSink& sink = *options_.sink;
  int64_t next = sink.next_offset();
  Status failed;
  size_t bytes = 0;
  while (records.size() < kRecordsMost && bytes < kRecordBytesMost && failed.ok()) {
    TopicReader::Message message = reader_->Next(records.empty() ? kTopicPollMs : 0);
    if (!message) break;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      next = std::max(next, message->offset);
      break;
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      failed = reader_->FailureOf(*message);
      break;
    }
    records.push_back(TopicRecordOf(*message));
    next = message->offset + 1;
    bytes += message->len + message->key_len;
    kept.push_back(std::move(message));
  }
  if (!records.empty() || next > sink.next_offset()) {
    if (Status taken = sink.Take(records, next); !taken.ok()) return taken;
    if (next >= end_) sink.SetCurrent(true);
    Moved();
    Told();
  }
  return failed.ok() ? CheckEnd() : failed;
}

// A consumer does not say that the brokers are away, nor that it stands still.
Status TopicFollower::CheckEnd() {
  if (SteadyClock::now() < ask_at_) return {};
  TopicSink& sink = *options_.sink;
  const auto ends = reader_->AskEnds(kTopicCheckMs);
  if (!ends.ok()) {
    if (SteadyClock::now() - heard_ < options_.limits.silent) return {};
    sink.SetCurrent(false);
    return Status::Unavailable(std::string(ends.status().message()));
  }
  Heard();
  if (sink.next_offset() >= end_) {
    end_ = ends->second;  // what is behind the former end may be on its way
    return {};
  }
  sink.SetCurrent(false);
  if (heard_ - moved_ < options_.limits.silent) return {};
  return Status::Unavailable("topic " + options_.topic + ": the records from offset " +
                             std::to_string(sink.next_offset()) + " on do not come");
}

void TopicFollower::Heard() {
  heard_ = SteadyClock::now();
  ask_at_ = heard_ + options_.limits.quiet;
}

void TopicFollower::Moved() {
  Heard();
  moved_ = heard_;
}

void TopicFollower::Told() {
  {
    const MutexLock lock(mutex_);
    taken_ = options_.sink->next_offset();
  }
  changed_.NotifyAll();
}

void TopicFollower::SetProblem(const Status& status) {
  const std::string text(status.message());
  {
    const MutexLock lock(mutex_);
    if (problem_ == text) return;
    problem_ = text;
  }
  if (status.ok() || !options_.log) return;
  const bool stopped = status.code() == StatusCode::kIncompatible;
  options_.log(stopped ? "topic_stopped" : "topic_problem", text);
}

}  // namespace seendb::cluster
