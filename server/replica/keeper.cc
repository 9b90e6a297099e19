#include "replica/keeper.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::replica {
namespace {

constexpr std::chrono::seconds kLookEvery{1};
constexpr int kBeginningMs = 3'000;
// The first time some seconds after the start, which has other things to ask.
constexpr std::chrono::seconds kFirstRetention{5}, kAskRetentionEvery{60};
constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kMarginLeastMs = 12 * kHourMs;

}  // namespace

void Keeper::Start() {
  ask_retention_at_ = std::chrono::steady_clock::now() + kFirstRetention;
  thread_ = std::thread([this] { Run(); });
}

void Keeper::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  for (auto& [partition, fetcher] : fetchers_) fetcher.join();
  fetchers_.clear();
}

void Keeper::AskRetention() {
  const auto now = std::chrono::steady_clock::now();
  if (now < ask_retention_at_) return;
  const Result<int64_t> told =
      cluster::RetentionMsOf(options_.access, cluster::LogTopicOf(options_.cluster));
  ask_retention_at_ = std::chrono::steady_clock::now() + kAskRetentionEvery;
  if (!told.ok()) return;
  const MutexLock lock(mutex_);
  retention_ms_ = *told;
}

std::optional<int64_t> Keeper::LogMarginMs() const {
  std::optional<int64_t> retention_ms;
  {
    const MutexLock lock(mutex_);
    retention_ms = retention_ms_;
  }
  if (!retention_ms || *retention_ms < 0) return {};
  int64_t most_behind_ms = 0;
  for (const auto& [partition, replica] : progress_->Report(engine_->NowMs())) {
    most_behind_ms = std::max(most_behind_ms, replica.behind_ms);
  }
  return *retention_ms - most_behind_ms;
}

std::vector<std::string> Keeper::Problems() const {
  std::vector<std::string> problems;
  if (const auto margin_ms = LogMarginMs(); margin_ms && *margin_ms < kMarginLeastMs) {
    problems.push_back("the log keeps what is applied next for less than " +
                       std::to_string(std::max<int64_t>(0, *margin_ms) / kHourMs + 1) +
                       " h more: what is deleted before can't be applied");
  }
  const MutexLock lock(mutex_);
  for (const auto& [partition, why] : problems_) {
    problems.push_back("partition " + std::to_string(partition) + ": " + why);
  }
  return problems;
}

void Keeper::Note(uint32_t partition, const std::string& why) {
  {
    const MutexLock lock(mutex_);
    if (why.empty()) {
      problems_.erase(partition);
    } else if (std::exchange(problems_[partition], why) == why) {
      return;
    }
  }
  if (why.empty()) return;
  ops::Log(ops::LogLevel::kWarn, "shard_problem", {{"partition", partition}, {"error", why}});
}

void Keeper::Run() {
  for (;;) {
    Look();
    AskRetention();
    const auto end = std::chrono::steady_clock::now() + kLookEvery;
    std::set<uint32_t> fetched;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && fetched_.empty() && wake_.WaitUntil(mutex_, end)) continue;
      if (stopping_) return;
      fetched.swap(fetched_);
    }
    for (const uint32_t partition : fetched) {
      fetchers_.at(partition).join();
      fetchers_.erase(partition);
    }
  }
}

void Keeper::Look() {
  const auto meta = options_.meta();
  if (meta == nullptr) return;
  const auto views = options_.views();
  const int64_t now_ms = engine_->NowMs();
  for (uint32_t p = 0; p < meta->placement().assign.size(); ++p) {
    serving_.Note(p, cluster::ReplicasOf(p, *meta, views), now_ms);
  }
  std::set<uint32_t> busy = progress_->Fetching();
  for (const auto& [partition, fetcher] : fetchers_) busy.insert(partition);
  const cluster::ShardPlan plan =
      cluster::PlanShards(options_.node, *meta, progress_->Held(), busy, serving_, now_ms);
  for (const uint32_t partition : plan.fetch) {
    if (!dropping_.contains(partition)) Fetch(partition);
  }
  for (const auto& [partition, copy_from] : progress_->ToReplace()) {
    const bool full = fetchers_.size() >= cluster::kFetchesMost;
    if (full || fetchers_.contains(partition) || dropping_.contains(partition)) continue;
    Begin(partition, [this, p = partition, least = copy_from] { return ReplaceNow(p, least); });
  }
  for (const uint32_t partition : plan.drop) {
    progress_->Drop(partition);
    dropping_.insert(partition);
  }
  for (const uint32_t partition : std::set<uint32_t>(dropping_)) Drop(partition);
}

// Calls that are in the shard are waited for.
void Keeper::Drop(uint32_t partition) {
  const Status dropped = engine_->DetachShard(partition, Detached::kRemoved);
  const bool gone = dropped.ok() || !std::ranges::count(engine_->AttachedShards(), partition);
  Note(partition, dropped.ok() ? "" : "it can't be dropped: " + dropped.ToString());
  if (!gone || dropped.code() == StatusCode::kBusy) return;
  dropping_.erase(partition);
  ops::Log(ops::LogLevel::kInfo, "shard_dropped", {{"partition", partition}});
}

void Keeper::Begin(uint32_t partition, std::function<Status()> bring) {
  fetchers_[partition] = std::thread([this, partition, bring = std::move(bring)] {
    const Status brought = bring();
    Note(partition, brought.ok() ? "" : "it can't be fetched: " + brought.ToString());
    {
      const MutexLock lock(mutex_);
      fetched_.insert(partition);
    }
    if (brought.ok()) wake_.NotifyAll();  // one that failed is tried again at the next look
  });
}

void Keeper::Fetch(uint32_t partition) {
  progress_->SetFetching(partition, true);
  Begin(partition, [this, partition] {
    Status fetched = FetchNow(partition);
    progress_->SetFetching(partition, false);
    if (fetched.ok()) progress_->Hold(partition, engine_->NowMs());
    return fetched;
  });
}

bool Keeper::stopping() const {
  const MutexLock lock(mutex_);
  return stopping_;
}

Result<std::string> Keeper::Copy(uint32_t partition, int64_t least) {
  if (!options_.fetch) return Status::NotFound("no node has a copy to give");
  return options_.fetch(partition, least, [this] { return stopping(); });
}

// It serves on, as one that is behind, until the copy is whole.
Status Keeper::ReplaceNow(uint32_t partition, int64_t copy_from) {
  const Result<std::string> folder = Copy(partition, copy_from);
  if (!folder.ok()) return folder.status();
  progress_->Drop(partition);
  Status replaced;
  do {
    replaced = engine_->ReplaceShard(partition, *folder);
  } while (replaced.code() == StatusCode::kBusy && !stopping());
  if (std::ranges::count(engine_->AttachedShards(), partition) > 0) {
    progress_->Hold(partition, engine_->NowMs());
  }
  if (replaced.ok()) {
    ops::Log(ops::LogLevel::kInfo, "shard_replaced",
             {{"partition", partition}, {"log_begins_at", copy_from}});
  }
  return replaced;
}

// By a handle that knows no former leader of the partition.
Result<int64_t> Keeper::BeginningOf(uint32_t partition) const {
  Result<kafka::KafkaConf> conf = cluster::ConfOf(
      options_.access, {{"client.id", "seendb-keeper"}, {"log.connection.close", "false"}});
  if (!conf.ok()) return conf.status();
  const Result<kafka::KafkaHandle> asking =
      kafka::NewHandle(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!asking.ok()) return asking.status();
  const auto ends = kafka::Watermarks(asking->get(), cluster::LogTopicOf(options_.cluster),
                                      static_cast<int32_t>(partition), kBeginningMs);
  return ends.ok() ? Result<int64_t>(ends->first) : ends.status();
}

// Without a copy it begins empty, and is whole once the log was read: where that has all.
Status Keeper::FetchNow(uint32_t partition) {
  const Result<std::string> folder = Copy(partition, 0);
  if (folder.ok()) return engine_->AttachShard(partition, *folder);
  if (folder.status().code() != StatusCode::kNotFound) return folder.status();
  const Result<int64_t> beginning = BeginningOf(partition);
  if (!beginning.ok()) return beginning.status();
  if (*beginning > 0) {
    return Status::NotFound(std::string(folder.status().message()) +
                            ", and the log begins at offset " + std::to_string(*beginning));
  }
  return engine_->AttachShard(partition, "");
}

}  // namespace seendb::replica
