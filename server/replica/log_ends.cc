#include "replica/log_ends.h"

#include <chrono>
#include <utility>
#include <vector>

namespace seendb::replica {
namespace {

using std::chrono::milliseconds;

// A replica counts as lagging after kBehindMost: several questions fit in.
constexpr milliseconds kAskEvery{500};
constexpr int kAnswerMs = 1'000, kLeadersMs = 2'000;
constexpr std::chrono::seconds kLeadersEvery{10};

}  // namespace

Status LogEnds::Start() {
  Result<kafka::KafkaConf> conf =
      cluster::ConfOf(access_, {{"client.id", "seendb-log-ends"},
                                {"socket.timeout.ms", "3000"},  // then it connects anew
                                {"reconnect.backoff.max.ms", "500"},
                                {"allow.auto.create.topics", "false"},
                                {"log.connection.close", "false"}});
  if (!conf.ok()) return conf.status();
  Result<kafka::KafkaHandle> made = kafka::NewHandle(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!made.ok()) return made.status();
  handle_ = std::move(made).value();
  for (size_t asker = 0; asker < kAskers; ++asker) {
    workers_[asker].Start("log-ends", [this, asker] {
      do Ask(asker);
      while (workers_[asker].Pause(kAskEvery));
    });
  }
  workers_[kAskers].Start("log-leaders", [this] {
    do FollowLeaders();
    while (workers_[kAskers].Pause(kAskEvery));
  });
  return {};
}

void LogEnds::Stop() {
  for (Worker& worker : workers_) worker.AskToStop();
  for (Worker& worker : workers_) worker.Stop();
}

std::string LogEnds::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

void LogEnds::FollowLeaders() {
  const auto now = std::chrono::steady_clock::now();
  if (now < look_again_ && !leaders_in_doubt_) return;
  leaders_in_doubt_ = false;
  Result<Leaders> leaders = kafka::LeadersOf(handle_.get(), topic_, kLeadersMs);
  look_again_ = std::chrono::steady_clock::now() + kLeadersEvery;
  const MutexLock lock(mutex_);
  if (leaders.ok()) {
    leaders_ = std::move(leaders).value();
  } else {
    problem_ = std::string(leaders.status().message());
    leaders_in_doubt_ = true;
  }
}

void LogEnds::Ask(size_t asker) {
  std::map<int32_t, std::vector<int32_t>> of_broker;
  const std::map<uint32_t, int64_t> next = progress_.NextOffsets();
  {
    const MutexLock lock(mutex_);
    for (const auto& [partition, offset] : next) {
      const auto leader = leaders_.find(static_cast<int32_t>(partition));
      if (leader == leaders_.end()) {
        leaders_in_doubt_ = true;
      } else if (static_cast<size_t>(leader->second) % kAskers == asker) {
        of_broker[leader->second].push_back(leader->first);
      }
    }
  }
  for (const auto& [broker, partitions] : of_broker) {
    if (!workers_[asker].stopping()) AskBroker(partitions);
  }
}

// An end before what was applied at the time of the question: the log lost records, which the
// reader finds out. It shows nothing.
void LogEnds::AskBroker(const std::vector<int32_t>& partitions) {
  const std::map<uint32_t, int64_t> next = progress_.NextOffsets();
  const auto asked_at = std::chrono::steady_clock::now();
  const auto ends = kafka::EndsOf(handle_.get(), topic_, partitions, kAnswerMs);
  {
    const MutexLock lock(mutex_);
    problem_ = std::string(ends.status().message());
  }
  if (!ends.ok()) {
    leaders_in_doubt_ = true;
    return;
  }
  for (const auto& [partition, end] : *ends) {
    const auto before = next.find(static_cast<uint32_t>(partition));
    if (before == next.end() || end < before->second) continue;
    progress_.NoteEnd(before->first, end, asked_at);
  }
}

}  // namespace seendb::replica
