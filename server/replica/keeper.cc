#include "replica/keeper.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
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
constexpr char kIfLost[] =
    " (it waits for a node that has it; if all of them are lost: seendb cluster begin-empty)";
constexpr std::chrono::milliseconds kReadRecords{1'000};
// For the end of a fetch, when a person has a shard begin empty.
constexpr std::chrono::seconds kTurnMost{10};

int64_t SteadyMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The number of a shard whose folder has this name: "shard-0003", "shard-0003.detached". Nothing:
/// no shard, or one that is being made or deleted.
std::optional<uint32_t> ShardOfFolder(std::string_view name) {
  constexpr std::string_view kPrefix = "shard-";
  if (!name.starts_with(kPrefix)) return {};
  if (name.ends_with(".making") || name.ends_with(".removed")) return {};
  uint32_t shard = 0;
  const char* const begin = name.data() + kPrefix.size();
  const char* const end = name.data() + name.size();
  if (std::from_chars(begin, end, shard).ptr == begin) return {};
  return shard;
}

}  // namespace

class Keeper::Coming {
 public:
  Coming(Keeper* keeper, uint32_t partition) : keeper_(*keeper), partition_(partition) {
    const MutexLock lock(keeper_.mutex_);
    keeper_.coming_.insert(partition_);
  }
  ~Coming() {
    const MutexLock lock(keeper_.mutex_);
    keeper_.coming_.erase(partition_);
  }
  Coming(const Coming&) = delete;
  Coming& operator=(const Coming&) = delete;

 private:
  Keeper& keeper_;
  const uint32_t partition_;
};

void Keeper::Start() {
  ask_retention_at_ = std::chrono::steady_clock::now() + kFirstRetention;
  worker_.Start("keeper", [this] { Run(); });
}

void Keeper::Stop() {
  worker_.AskToStop();
  {
    const MutexLock lock(mutex_);
    turn_.NotifyAll();
  }
  worker_.Stop();
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
  for (const auto& [partition, replica] :
       progress_->Report(engine_->NowMs(), std::chrono::steady_clock::now())) {
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
    if (!worker_.WaitFor(kLookEvery)) return;
    std::set<uint32_t> fetched;
    {
      const MutexLock lock(mutex_);
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
  LookAtDisk();
  NoteEmptyStarts(*meta, views);
  const int64_t now_ms = engine_->NowMs();
  for (uint32_t p = 0; p < meta->placement().assign.size(); ++p) {
    serving_.Note(p, cluster::ReplicasOf(p, *meta, views), now_ms);
  }
  std::set<uint32_t> busy = progress_->Fetching();
  for (const auto& [partition, fetcher] : fetchers_) busy.insert(partition);
  const cluster::ShardPlan plan = cluster::PlanShards(options_.node, *meta, progress_->Held(), busy,
                                                      serving_, now_ms, fetch_first_);
  for (const uint32_t partition : plan.fetch) {
    fetch_first_ = partition + 1;
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
  if (!TakeTurn(partition)) return;
  fetchers_[partition] = std::thread([this, partition, bring = std::move(bring)] {
    const Status brought = bring();
    Note(partition, brought.ok() ? "" : "it can't be fetched: " + brought.ToString());
    EndTurn(partition);
    {
      const MutexLock lock(mutex_);
      fetched_.insert(partition);
    }
    if (brought.ok()) worker_.Wake();  // one that failed is tried again at the next look
  });
}

bool Keeper::TakeTurn(uint32_t partition) {
  const MutexLock lock(mutex_);
  return bringing_.insert(partition).second;
}

void Keeper::EndTurn(uint32_t partition) {
  {
    const MutexLock lock(mutex_);
    bringing_.erase(partition);
  }
  turn_.NotifyAll();
}

void Keeper::Fetch(uint32_t partition) {
  Begin(partition, [this, partition] {
    progress_->SetFetching(partition, true);
    Status fetched = FetchNow(partition);
    progress_->SetFetching(partition, false);
    if (fetched.ok()) progress_->Hold(partition);
    return fetched;
  });
}

// The node that gave the copy may have read more of X.meta than this one, which would delete
// collections of the copy that it does not know, and take plays of former ones into later ones.
Result<std::string> Keeper::Copy(uint32_t partition, int64_t least) {
  if (!options_.fetch) return Status::NotFound("no node has a copy to give");
  Result<std::string> folder =
      options_.fetch(partition, least, [this] { return worker_.stopping(); });
  if (folder.ok() && !options_.read_meta_to_end(kReadRecords)) {
    return Status::Unavailable(
        "a copy is there, and waits: the topic of the cluster's records can't be read");
  }
  return folder;
}

// It serves on, as one that is behind, until the copy is whole.
Status Keeper::ReplaceNow(uint32_t partition, int64_t copy_from) {
  const Result<std::string> folder = Copy(partition, copy_from);
  if (!folder.ok()) return folder.status();
  const Coming coming(this, partition);
  progress_->Drop(partition);
  Status replaced;
  do {
    // The log has what the former shard may lose: the copy begins at an offset of it.
    replaced = engine_->ReplaceShard(partition, *folder,
                                     {.newer_collections = true, .former_may_lose = true});
  } while (replaced.code() == StatusCode::kBusy && !worker_.stopping());
  if (std::ranges::count(engine_->AttachedShards(), partition) > 0) {
    progress_->Hold(partition);
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

// ---- Beginning empty ----

void Keeper::LookAtDisk() {
  if (options_.db.empty()) return;
  std::optional<std::set<uint32_t>> found(std::in_place);
  std::error_code failed;
  std::filesystem::directory_iterator one(options_.db, failed);
  for (const std::filesystem::directory_iterator end; !failed && one != end;
       one.increment(failed)) {
    if (const auto shard = ShardOfFolder(one->path().filename().string())) found->insert(*shard);
  }
  if (failed) found.reset();
  const MutexLock lock(mutex_);
  on_disk_ = std::move(found);
}

// What is coming is asked about first, and what is attached last: it is one or the other while it
// becomes attached.
std::set<uint32_t> Keeper::None() const {
  const auto meta = options_.meta();
  if (meta == nullptr) return {};
  std::set<uint32_t> none;
  {
    const MutexLock lock(mutex_);
    if (worker_.stopping() || (!options_.db.empty() && !on_disk_)) return {};
    for (uint32_t p = 0; p < meta->placement().assign.size(); ++p) {
      if (!coming_.contains(p) && !(on_disk_ && on_disk_->contains(p))) none.insert(p);
    }
  }
  if (options_.copies) {
    for (const auto& [partition, copy] : options_.copies()) none.erase(partition);
  }
  for (const uint32_t partition : progress_->Held()) none.erase(partition);
  for (const uint32_t partition : engine_->AttachedShards()) none.erase(partition);
  return none;
}

void Keeper::NoteEmptyStarts(const cluster::Meta& meta,
                             const std::map<std::string, cluster::NodeView>& views) {
  const std::set<uint32_t> held = progress_->Held();
  const cluster::Assignment& assign = meta.placement().assign;
  const MutexLock lock(mutex_);
  for (uint32_t p = 0; p < assign.size(); ++p) {
    if (std::ranges::count(assign[p], options_.node) > 0 && !held.contains(p)) {
      empty_[p].Note(options_.node, p, meta, views);
    } else {
      empty_.erase(p);
    }
  }
}

Status Keeper::CheckNobodyHas(uint32_t partition) {
  const auto objection = [&](const cluster::Meta& meta) -> std::string {
    const auto views = options_.views();
    if (!None().contains(partition)) return "this node may have it on its disk";
    const MutexLock lock(mutex_);
    cluster::EmptyStart& empty = empty_[partition];
    empty.Note(options_.node, partition, meta, views);
    return empty.Objection(meta, SteadyMs());
  };
  auto meta = options_.meta();
  std::string why = meta == nullptr ? "the cluster is not known yet" : objection(*meta);
  if (why.empty() && !options_.read_meta_to_end(kReadRecords)) {
    why = "which nodes had it is not known: the topic of the cluster's records can't be read";
  }
  if (why.empty()) {
    meta = options_.meta();
    why = objection(*meta);
  }
  if (why.empty()) return {};
  return Status::NotFound("no node has a copy to give: " + why + kIfLost);
}

Status Keeper::AttachEmpty(uint32_t partition, int64_t beginning, const std::string& lost) {
  const Coming coming(this, partition);
  Status made = engine_->AttachShard(partition, "", {.former_lost = lost});
  if (!made.ok() || beginning == 0) return made;
  const std::string topic = cluster::LogTopicOf(options_.cluster);
  const SourceStep step{.topic = topic, .partition = partition, .next_offset = beginning};
  return engine_
      ->Ingest({.collection = "default", .sources = {&step, 1}, .partition_is_shard = true})
      .status();
}

// Without a copy it begins empty, and is whole once the log was read: where that has all.
Status Keeper::FetchNow(uint32_t partition) {
  const Result<std::string> folder = Copy(partition, 0);
  // The node that gave it may have read more of the collections' topic than this one.
  if (folder.ok()) {
    const Coming coming(this, partition);
    return engine_->AttachShard(partition, *folder, {.newer_collections = true});
  }
  if (folder.status().code() != StatusCode::kNotFound) return folder.status();
  if (Status nobody = CheckNobodyHas(partition); !nobody.ok()) return nobody;
  const Result<int64_t> beginning = BeginningOf(partition);
  if (!beginning.ok()) return beginning.status();
  if (*beginning > 0) {
    return Status::NotFound("no node has a copy to give, and the log begins at offset " +
                            std::to_string(*beginning) + kIfLost);
  }
  return AttachEmpty(partition, 0, "");
}

Status Keeper::CheckMayBeginEmpty(uint32_t partition) const {
  if (!options_.read_meta_to_end(kReadRecords)) {
    return Status::Unavailable("the topic of the cluster's records can't be read");
  }
  const auto meta = options_.meta();
  const cluster::Assignment& assign = meta->placement().assign;
  if (partition >= meta->init()->partitions) {
    return Status::InvalidArgument(
        "the cluster has " + std::to_string(meta->init()->partitions) + " partitions",
        "/partition");
  }
  if (partition >= assign.size() || std::ranges::count(assign[partition], options_.node) == 0) {
    return Status::Incompatible("the placement does not give the partition to " + options_.node);
  }
  // The loss is marked in the collections that the engine knows: it must know all of the cluster's.
  const std::vector<CollectionInfo> known = engine_->Collections();
  for (const auto& [name, collection] : meta->collections()) {
    if (std::ranges::count(known, name, &CollectionInfo::name) > 0) continue;
    return Status::Unavailable(options_.node + " has not made the collection " + name + " as yet");
  }
  if (!None().contains(partition)) {
    return Status::Incompatible(options_.node +
                                " has it, or a folder of it lies in its database, or it comes");
  }
  for (const auto& [node, view] : options_.views()) {
    const bool up = view.health.state() != cluster::NodeState::kDown;
    if (node == options_.node || !view.report || !up) continue;
    const auto replica = view.report->replicas.find(partition);
    if (replica == view.report->replicas.end() || view.report->none.contains(partition)) continue;
    return Status::Incompatible(node + " has it (" +
                                std::string(cluster::ReplicaStateName(replica->second.state)) +
                                "): " + options_.node + " fetches a copy once that can give one");
  }
  return {};
}

Status Keeper::BeginEmpty(uint32_t partition) {
  if (Status may = CheckMayBeginEmpty(partition); !may.ok()) return may;
  const auto until = std::chrono::steady_clock::now() + kTurnMost;
  {
    const MutexLock lock(mutex_);
    while (!worker_.stopping() && bringing_.contains(partition)) {
      if (!turn_.WaitUntil(mutex_, until)) {
        return Status::Busy("a copy of the partition is on its way");
      }
    }
    if (worker_.stopping()) return Status::Unavailable("the node is stopping");
    bringing_.insert(partition);
  }
  Status status = CheckMayBeginEmpty(partition);  // it may have come meanwhile
  const Result<int64_t> beginning = status.ok() ? BeginningOf(partition) : status;
  const std::string lost = "all copies of the partition were lost, and it was begun empty";
  status = beginning.ok() ? AttachEmpty(partition, *beginning, lost) : beginning.status();
  if (status.ok()) {
    progress_->Hold(partition);
    ops::Log(ops::LogLevel::kWarn, "shard_begins_empty",
             {{"partition", partition}, {"log_begins_at", *beginning}});
    Note(partition, "");
  }
  EndTurn(partition);
  return status;
}

}  // namespace seendb::replica
