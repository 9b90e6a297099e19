// engine/engine_impl.h: the Engine put together from shards: what is asked is checked and routed to
// them, the collections are kept, background work is said to be due. Behaviour is in the .cc files
// beside it, one concern each; what happens to one shard's data is in shard/.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock_guard.h"
#include "base/counters.h"
#include "base/name_table.h"
#include "base/sync.h"
#include "scheduler.h"
#include "seams.h"
#include "seendb/engine.h"
#include "shard/shard.h"
#include "store/database_lock.h"
#include "store/problem_list.h"

namespace seendb {

/// kInvalidArgument ("/user") for an ill-formed id.
inline Status CheckUser(IdRef user) {
  const Status valid = user.Validate();
  return valid.ok() ? valid : Status(valid.code(), std::string(valid.message()), "/user");
}

/// The shards by their numbers; null: absent. Never changed: another set is published instead. A
/// call takes the set once, and keeps its shards as objects.
using ShardSet = std::vector<std::shared_ptr<Shard>>;

/// kUnavailable.
inline Status AbsentShard(size_t shard) {
  return Status::Unavailable("shard " + std::to_string(shard) + " is not attached");
}

class EngineImpl final : public Engine {
 public:
  EngineImpl(std::string path, const Options& options, const Seams& seams);
  ~EngineImpl() override;
  Status OpenAll();

  Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                   const RecordOptions& options) override;
  Result<RecordResult> RecordImpressions(std::span<const Impression> impressions,
                                         const RecordOptions& options) override;
  Result<IngestResult> Ingest(const IngestBatch& batch) override;
  std::vector<SourceInfo> Sources() override;
  Status ForgetTopic(std::string_view topic) override;
  std::vector<OutboxSource> OutboxSources() override;
  Status ReadOutbox(const OutboxSource& source, int64_t after, size_t limit,
                    std::vector<OutboxRow>* rows) override;
  Status DeleteOutbox(std::span<const OutboxRow> told) override;
  Status Filter(const FilterRequest& request, FilterResponse* response) override;
  Result<UserReport> Inspect(IdRef user, std::string_view collection) override;
  Status EraseUser(IdRef user, const EraseOptions& options, Erasure* erasure) override;
  Status ReadHistory(const HistoryRequest& request, HistoryPage* page) override;
  Status LookupHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       HistoryLookup* found) override;
  Status DeleteHistory(IdRef user, std::string_view collection,
                       std::span<const IdRef> items) override;
  Status ClearHistory(IdRef user, const HistoryClear& clear) override;
  Status SetRecording(IdRef user, bool paused) override;
  Result<Recording> GetRecording(IdRef user) override;
  Status PutCollection(std::string_view name, const PolicyPatch& patch) override;
  Status DeleteCollection(std::string_view name) override;
  std::vector<CollectionInfo> Collections() override;
  Status Drain() override;
  Status Seal(std::string_view collection, std::string_view bucket) override;
  Status SealClosed() override;
  Status DropExpired() override;
  Status Compact() override;
  Status Sync() override;
  Result<int64_t> ConfirmClock() override;
  Result<CheckpointReport> Checkpoint(const std::string& dir) override;
  Status RunDue() override;
  EngineStats Stats() override;
  std::vector<BucketInfo> Buckets() override;
  std::vector<SlotInfo> Ring() override;
  Result<VerifyReport> Verify() override;
  Status Scan(std::string_view family_prefix,
              const std::function<bool(const ScanRow&)>& row) override;
  int64_t NowMs() const override { return clock_->NowMs(); }
  uint32_t ShardOf(IdRef user) const override;
  Status Close() override;

 private:
  // engine.cc
  /// Believes the clock, or doubts it, by what the shards noted.
  void BeginClock();
  /// Notes the time in every shard that is not being opened anew, once a minute.
  Status NoteClockIfDue();
  Status NoteClock(int64_t now_ms);
  Status OpenIdentity(Identity* identity);
  Status OpenShards(const Identity& identity);
  /// Options::owned against the database; and whether it names the shard.
  Status CheckOwned(const Identity& identity) const;
  bool Owns(uint32_t shard) const;
  Status CheckOpen() const;
  Status CheckWritable() const;
  std::shared_ptr<const ShardSet> shards() const {
    const ReaderLock lock(shards_mutex_);
    return shards_;
  }
  void PublishShards(std::shared_ptr<const ShardSet> shards);
  /// kUnavailable where it is absent.
  Result<std::shared_ptr<Shard>> ShardFor(IdRef user) const;
  /// Those that are attached.
  std::vector<std::shared_ptr<Shard>> Attached() const;
  /// kUnavailable, naming the first that is.
  static Status CheckNoneAbsent(const ShardSet& shards);
  /// Runs `work(shard)` for every attached shard, one after the other: one that fails keeps no
  /// other from its turn. The first failure.
  template <typename Work>
  Status InEachShard(const Work& work) {
    Status first;
    const std::shared_ptr<const ShardSet> all = shards();
    for (const std::shared_ptr<Shard>& shard : *all) {
      if (shard == nullptr) continue;
      Status status = work(*shard);
      if (first.ok() && !status.ok()) first = std::move(status);
    }
    return first;
  }
  /// Runs `work(shard, collection)` for every collection in every shard. The first failure.
  template <typename Work>
  Status InEachCollection(const Work& work) {
    Status first;
    const std::shared_ptr<const CollectionMap> all = collections();
    for (const auto& [name, collection] : *all) {
      Status done =
          InEachShard([&, &of = *collection](Shard& shard) -> Status { return work(shard, of); });
      if (first.ok() && !done.ok()) first = std::move(done);
    }
    return first;
  }

  // collections.cc
  std::shared_ptr<const CollectionMap> collections() const;
  Result<CollectionPtr> FindCollection(std::string_view name) const;
  void Publish(std::shared_ptr<const CollectionMap> collections);
  /// Brings the shards in line with the first that knows better, after an opening.
  Status ReconcileCollections(bool fresh);
  /// What the shards say of names that more than one collection has had.
  struct StoredMakings {
    std::map<std::string, uint64_t, std::less<>> numbers;
    std::set<std::string, std::less<>> deleting;
    uint64_t NumberOf(std::string_view name) const {
      const auto at = numbers.find(name);
      return at == numbers.end() ? 0 : at->second;
    }
  };
  StoredMakings ReadMakings();
  CollectionPtr NewCollection(const std::string& name, uint64_t making, const Policy& policy);
  /// Whether the policy is valid, and how many column families the collections would need.
  Status CheckFamilies(std::string_view name, const Policy& policy) const;
  Status CheckAllWritable();
  Status StoreCollection(const CollectionPtr& wanted);
  void PublishWith(const CollectionPtr& collection);
  class StoppedWrites;
  /// Gives a collection other fixed fields; `fixed` where it holds anything.
  Status BeginAnew(const CollectionPtr& wanted, const Status& fixed);
  Status FinishDeletion(const std::string& name, uint64_t making);
  /// Deletions that a crash or a failure has interrupted.
  Status FinishDeletions();

  // record.cc
  template <typename Given>
  Result<RecordResult> RecordAll(std::span<const Given> given, const RecordOptions& options,
                                 bool impressions);
  /// Of a call in several pieces: kUnavailable where the shard of one of the users is absent.
  template <typename Given>
  Status CheckAttached(std::span<const Given> given) const;
  template <typename Given>
  Status RecordPiece(std::span<const Given> given, uint32_t first_index,
                     const Collection& collection, const GivenEvents& all, RecordResult* result);
  /// Counts the impressions of a call that the policy's cap keeps out; how many they are.
  uint64_t CountEvicted(ServedCount* served, const Collection& collection);
  /// The call failed: the first plays it has named are not known to its caller.
  void MarkNotTold(std::span<const Play> plays, const Collection& collection, const Today& today,
                   const RecordResult& result);
  /// What a call answers that failed in a shard after others, maybe, were written.
  static Status FailureOf(Status failed, bool any_written);
  /// Room in every shard that is to stage events; kBusy where one has none.
  static Status PinAll(const ShardSet& shards, const EventsByShard& by_shard,
                       const Collection& collection, const GivenEvents& given,
                       std::vector<std::optional<SlotPin>>* pins);
  Status WriteEvents(const EventsByShard& by_shard, const Collection& collection,
                     const GivenEvents& given, RecordResult* result);
  /// Today, where first plays of the day are to be told.
  std::optional<Today> TodayOf(const Collection& collection, bool impressions) const;

  // ingest.cc
  /// Events as they go to the shards.
  struct SortedEvents {
    EventsByShard accepted;
    std::vector<std::vector<uint32_t>> refused;  ///< by shard
    std::optional<Today> today;
    const TimeCheck* times = nullptr;
    ServedCount* served = nullptr;
  };
  /// kBusy where the outbox takes no more rows.
  Status CheckOutbox(const IngestBatch& batch, const std::optional<Today>& today) const;
  Status WriteSteps(const IngestBatch& batch, const Collection& collection,
                    const SortedEvents& sorted, IngestResult* result);

  // filter.cc
  Status RecordReturned(const FilterRequest& request, FilterResponse* response);

  // history.cc
  Result<CollectionPtr> FindHistory(std::string_view name) const;
  /// The same for a call about items of a user, which are checked first.
  Result<CollectionPtr> FindHistoryOf(IdRef user, std::span<const IdRef> items,
                                      std::string_view name) const;
  /// What becomes of collections that keep no history: refused where they are named, and not among
  /// all; among all; taken.
  enum class Without : uint8_t { kRefused, kAmongAll, kTaken };
  Result<std::vector<CollectionPtr>> HistoryCollections(std::span<const std::string_view> names,
                                                        Without without) const;
  /// What users' records say of the time before it has no effect any more.
  int64_t OldestAccepted() const;

  // background.cc
  void StartBackground();
  Status Heal();
  Status ReconcileHealed();

  // checkpoint.cc
  Result<std::string> CheckTarget(const std::string& dir) const;
  Status CheckCopy(const Identity& identity, const std::string& folder, bool checksums) const;

  std::string path_;  // canonical once the database is open
  const Options options_;
  const Seams seams_;
  ClockGuard guard_;
  const ClockGuard* const clock_ = &guard_;
  const std::shared_ptr<OpenLogs> logs_ = std::make_shared<OpenLogs>();
  const std::unique_ptr<rocksdb::Env> env_;
  std::shared_ptr<SharedResources> shared_;
  std::unique_ptr<DatabaseLock> lock_;
  NameTable names_;
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  mutable ReadWriteMutex shards_mutex_{LockRank::kLeaf};
  std::shared_ptr<const ShardSet> shards_ GUARDED_BY(shards_mutex_);
  uint32_t shard_count_ = 1;  // also after Close
  ProblemList problems_;      // of the background work; those of a shard are its own

  mutable ReadWriteMutex collections_mutex_{LockRank::kLeaf};
  std::shared_ptr<const CollectionMap> collections_ GUARDED_BY(collections_mutex_);
  Mutex admin_mutex_{LockRank::kPolicies};  // policies change one at a time

  std::atomic<bool> closed_{false};
  std::unique_ptr<Scheduler> scheduler_;  // null without background work
};

}  // namespace seendb
