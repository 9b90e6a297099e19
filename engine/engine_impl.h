// engine/engine_impl.h: the Engine put together from shards. Behaviour is in the .cc files beside
// it, one concern each: open, record, filter, collections, maintenance, report.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/name_table.h"
#include "ring/gate.h"
#include "ring/ring.h"
#include "seams.h"
#include "seendb/engine.h"
#include "shard_batch.h"
#include "shard_events.h"
#include "store/shard_store.h"
#include "store/sources.h"

namespace seendb {

/// One shard: its database and its ring. Whoever uses them is inside `use` meanwhile, together with
/// others; alone there, a shard whose disk failed is closed and opened anew. `use` comes before the
/// ring's gate; of two shards the lower one comes first.
struct Shard {
  std::unique_ptr<Gate> use = std::make_unique<Gate>();
  std::unique_ptr<ShardStore> store;
  std::unique_ptr<Ring> ring;
  std::unique_ptr<Sources> sources = std::make_unique<Sources>();
  // Opened anew and not drained yet: what memory has may not be on disk. Changed alone in `use`.
  bool recovering = false;
  int heal_tries = 0;  // since it failed; guarded by heal_mutex_, like the next
  std::chrono::steady_clock::time_point heal_next;
};

/// How a problem begins that a bucket can't be sealed.
inline constexpr char kSealProblem[] = "seal ";

/// A collection as the hot path needs it.
struct Collection {
  std::string name;
  uint16_t id = 0;
  Policy policy;
};
using CollectionMap = std::map<std::string, Collection, std::less<>>;

/// Counters of the engine itself; relaxed.
struct EngineCounters {
  std::atomic<uint64_t> plays_accepted{0}, plays_refused{0};
  std::atomic<uint64_t> impressions_accepted{0}, impressions_refused{0};
  std::atomic<uint64_t> filters{0}, filters_degraded{0}, candidates{0}, candidates_seen{0};
  std::atomic<uint64_t> busy{0}, users_erased{0}, ingest_repeated{0};
  std::atomic<uint64_t> reads{0}, read_operands{0};
  std::atomic<uint64_t> buckets_sealed{0}, seal_failures{0}, buckets_dropped{0};
  std::atomic<uint64_t> background_errors{0};
  std::atomic<uint64_t> history_recorded{0}, history_paused{0}, history_pages{0};
  std::atomic<uint64_t> history_lookups{0}, history_deleted{0}, history_cleared{0};
  std::atomic<uint64_t> history_evicted{0};
};

/// kInvalidArgument ("/user") for an ill-formed id.
inline Status CheckUser(IdRef user) {
  const Status valid = user.Validate();
  return valid.ok() ? valid : Status(valid.code(), std::string(valid.message()), "/user");
}
/// kInvalidArgument for too many items, or the first ill-formed one ("/items/3").
Status CheckHistoryItems(std::span<const IdRef> items);

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
  Status Filter(const FilterRequest& request, FilterResponse* response) override;
  Result<UserReport> Inspect(IdRef user, std::string_view collection) override;
  Status EraseUser(IdRef user) override;
  Status ReadHistory(const HistoryRequest& request, HistoryPage* page) override;
  Status LookupHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       HistoryLookup* found) override;
  Status DeleteHistory(IdRef user, std::string_view collection,
                       std::span<const IdRef> items) override;
  Status ClearHistory(IdRef user, const HistoryClear& clear) override;
  Status SetRecording(IdRef user, bool paused) override;
  Result<Recording> GetRecording(IdRef user) override;
  Status PutCollection(std::string_view name, const PolicyPatch& patch) override;
  std::vector<CollectionInfo> Collections() override;
  Status Drain() override;
  Status Seal(std::string_view collection, std::string_view bucket) override;
  Status SealClosed() override;
  Status DropExpired() override;
  Status Compact() override;
  Status Sync() override;
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
  Status OpenIdentity(Identity* identity);
  Status OpenShards(const Identity& identity);
  Status ReconcileCollections(bool fresh);
  Status ReplayRings();
  Status CheckOpen() const;
  Status CheckWritable() const;
  std::shared_ptr<const CollectionMap> collections() const;
  Result<Collection> FindCollection(std::string_view name) const;

  /// Runs `work(shard)` in every shard, together with others there: one that fails keeps no other
  /// from its turn. The first failure.
  template <typename Work>
  Status InEachShard(const Work& work) {
    Status first;
    for (Shard& shard : shards_) {
      const Gate::Scope inside(*shard.use);
      Status status = work(shard);
      if (first.ok() && !status.ok()) first = std::move(status);
    }
    return first;
  }

  // collections.cc
  struct Unwatched {
    int64_t before = kNeverMs, after = kNeverMs;
  };
  std::vector<Unwatched> UnwatchedUnder(const std::string& name, const Policy& policy);
  Status StoreCollection(const std::string& name, const Policy& policy);

  // record.cc
  template <typename Given>
  Result<RecordResult> RecordAll(std::span<const Given> given, const RecordOptions& options,
                                 bool impressions);
  template <typename Given>
  Status RecordPiece(std::span<const Given> given, uint32_t first_index,
                     const Collection& collection, const GivenEvents& all, RecordResult* result);
  /// The call failed: the first plays it has named are not known to its caller.
  void Untell(std::span<const Play> plays, const Collection& collection, const Today& today,
              const RecordResult& result);
  /// kBusy, counted, where no slot takes plays. Precondition: inside the ring's gate.
  Status CheckRoom(size_t shard);
  /// Claims, shard by shard, the users whose first play of the day may be among the events; empty
  /// where none are to be told.
  std::vector<FirstPlays> ClaimFirsts(const EventsByShard& by_shard, const Collection& collection,
                                      const GivenEvents& given);
  Status WriteEvents(const EventsByShard& by_shard, const Collection& collection,
                     const GivenEvents& given, RecordResult* result);
  /// One shard's events, with how far their sources were read and who may play first today; either
  /// may be null.
  struct ShardPart {
    const std::vector<ShardEvent>& events;
    SourceChange* change = nullptr;
    FirstPlays* firsts = nullptr;
  };
  Status WriteShard(const Gate::Scope& inside, Shard& shard, const ShardPart& part,
                    const Collection& collection, const GivenEvents& given, RecordResult* result);
  static Status WriteBatches(const Gate::Scope& inside, Shard& shard, const Collection& collection,
                             ShardBatch* taken, rocksdb::WriteBatch* batch);
  /// Today, where first plays of the day are to be told.
  std::optional<Today> TodayOf(const Collection& collection, bool impressions) const;

  // ingest.cc
  /// Events as they go to the shards.
  struct SortedEvents {
    EventsByShard accepted;
    std::vector<std::vector<uint32_t>> refused;  ///< by shard
    std::optional<Today> today;
  };
  Status WriteSteps(const IngestBatch& batch, const Collection& collection, SortedEvents* sorted,
                    IngestResult* result);
  EventsByShard FreshEvents(const IngestBatch& batch, const SortedEvents& sorted);
  Status WriteStep(const Gate::Scope& inside, size_t shard, const IngestBatch& batch,
                   const Collection& collection, SortedEvents* sorted, FirstPlays* firsts,
                   IngestResult* result);

  // filter.cc
  Status RecordReturned(const FilterRequest& request, const FilterResponse& response);

  // history.cc
  Result<Collection> FindHistory(std::string_view name) const;
  /// What becomes of collections that keep no history: refused where they are named, and not among
  /// all; among all; taken.
  enum class Without : uint8_t { kRefused, kAmongAll, kTaken };
  Result<std::vector<Collection>> HistoryCollections(std::span<const std::string_view> names,
                                                     Without without) const;

  // history_clear.cc
  UserRecord ClearMarks(Shard& shard, const std::vector<Collection>& wanted,
                        const std::string& user, int64_t now_ms);
  Result<UserRecord> MarkCleared(Shard& shard, const std::vector<Collection>& wanted,
                                 const std::string& user);
  Result<UserRecord> ForgetAndClear(Shard& shard, const std::vector<Collection>& wanted,
                                    const std::string& user);
  Status DeleteHistoryRows(Shard& shard, const std::string& collection, const std::string& user,
                           int64_t up_to_ms);
  Status DeleteSomeRows(Shard& shard, const std::string& collection, int64_t index, bool timeline,
                        const std::string& user, int64_t up_to_ms, std::string* from);

  // history_write.cc
  Status WriteDeletions(Shard& shard, const Collection& of, const std::string& user,
                        std::span<const IdRef> items);
  int64_t OldestAccepted(int64_t now_ms) const;

  // history_trim.cc
  Status TrimUser(Shard& shard, const Collection& of, const std::string& user);
  /// Evicts what lies beyond the cap in the collections wanted.
  Status TrimHistory(const std::function<bool(const Collection&)>& wanted);

  // maintenance.cc
  void StartBackground();
  void StopBackground();
  void BackgroundLoop(const char* name, int64_t every_ms, const std::function<Status()>& work);
  Status RotateAndDrain();
  /// Refuses a clock that shows no time a bucket can be named after.
  Status CheckClock() const;
  Status EnsureBuckets();
  Status RunMaintenance();
  /// Whether work that fell due at a time is to be done now.
  using MaintenanceDue = std::function<bool(int64_t from_ms, const Policy& policy)>;
  Status MaintainHistory(int64_t now, const MaintenanceDue& due);
  /// Runs `work(collection, shard, families)` for every collection in every shard that has it.
  template <typename Work>
  Status InEachFamily(const Work& work) {
    Status first;
    const std::shared_ptr<const CollectionMap> all = collections();
    for (const auto& [name, collection] : *all) {
      Status done = InEachShard([&, &wanted = collection](Shard& shard) {
        const std::shared_ptr<const FamilySet> families = shard.store->families();
        const CollectionFamilies* family = families->Find(wanted.name);
        return family == nullptr ? Status() : work(wanted, shard, *family);
      });
      if (first.ok()) first = std::move(done);
    }
    return first;
  }
  Status SealWhere(const std::function<bool(const Collection&, const Bucket&)>& wanted);
  void NoteSeal(const Shard& shard, const std::string& collection, Bucket* bucket,
                const Status& sealed);
  /// Drops, everywhere, those of a collection's `buckets` that are below the oldest kept.
  template <typename OneBucket>
  Status DropWhere(BucketsOf<OneBucket> CollectionFamilies::*buckets,
                   const std::function<int64_t(const Collection&)>& oldest_kept);
  int64_t NextMaintenance(int64_t from_ms, const Policy& policy) const;

  // heal.cc
  Status Heal();
  Status HealShard(Shard& shard);
  Status RecoverShard(Shard& shard, bool reopen);

  // checkpoint.cc
  Status CheckTarget(const std::string& folder) const;
  Status CheckCopy(const Identity& identity, const std::string& folder, bool checksums) const;

  // report.cc
  /// Runs `work(shard, name, family)` for every family of every shard, until one fails.
  template <typename Work>
  Status InEveryFamily(const Work& work);
  BucketReport ReportBucket(Shard& shard, const Policy& policy, const std::string& collection,
                            const Bucket& bucket, std::string_view user, bool* found);

  // history_report.cc
  static void ReportHistory(const Shard& shard, const CollectionFamilies& collection,
                            UserReport* report);

  const std::string path_;
  const Options options_;
  const Seams seams_;
  const Clock* const clock_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::shared_ptr<SharedResources> shared_;
  rocksdb::FileLock* lock_ = nullptr;
  std::vector<Shard> shards_;
  uint32_t shard_count_ = 1;  // also after Close
  NameTable names_;
  EngineCounters counters_;
  RingCounters ring_counters_;

  mutable std::shared_mutex collections_mutex_;
  std::shared_ptr<const CollectionMap> collections_;
  std::mutex admin_mutex_;                     // policies change one at a time
  std::mutex heal_mutex_;                      // shards are opened anew one at a time
  std::mutex due_mutex_;                       // maintenance runs once at a time
  int64_t maintained_to_ms_ = 0;               // guarded by due_mutex_
  std::map<std::string, int64_t> trimmed_ms_;  // by collection; guarded by due_mutex_

  std::atomic<bool> closed_{false};
  std::mutex background_mutex_;
  std::condition_variable background_wake_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace seendb
