// engine/engine_impl.h: the Engine put together from shards: what is asked is checked and routed to
// them, the collections are kept, background work is said to be due. Behaviour is in the .cc files
// beside it, one concern each; what happens to one shard's data is in shard/.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock_guard.h"
#include "base/counters.h"
#include "base/name_table.h"
#include "catalog.h"
#include "scheduler.h"
#include "seams.h"
#include "seendb/engine.h"
#include "shards.h"
#include "store/database_lock.h"
#include "store/problem_list.h"

namespace seendb {

/// kInvalidArgument ("/user") for an ill-formed id.
inline Status CheckUser(IdRef user) {
  const Status valid = user.Validate();
  return valid.ok() ? valid : Status(valid.code(), std::string(valid.message()), "/user");
}

class EngineImpl final : public Engine {
 public:
  EngineImpl(std::string path, const Options& options, const Seams& seams);
  ~EngineImpl() override;
  Status OpenAll();
  Status FinishOpening() override;

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
  std::vector<uint32_t> AttachedShards() const override;
  Result<CheckpointReport> CheckpointShard(uint32_t shard, const std::string& dir) override;
  Status AttachShard(uint32_t shard, const std::string& folder) override;
  Status DetachShard(uint32_t shard, Detached folder) override;
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
  ShardStoreOptions OptionsOf(const Identity& identity, uint32_t shard) const;
  ShardContext ContextOf(const Identity& identity);
  /// Options::owned against the database; and whether it names the shard.
  Status CheckOwned(const Identity& identity) const;
  bool Owns(uint32_t shard) const;
  Status CheckOpen() const;
  Status CheckWritable() const;
  /// kUnavailable where it is absent.
  Result<std::shared_ptr<Shard>> ShardFor(IdRef user) const { return shards_.At(ShardOf(user)); }
  /// Runs `work(shard, collection)` for every collection in every shard. The first failure.
  template <typename Work>
  Status InEachCollection(const Work& work) {
    Status first;
    const std::shared_ptr<const CollectionMap> all = catalog_.All();
    for (const auto& [name, collection] : *all) {
      Status done = shards_.InEach(
          [&, &of = *collection](Shard& shard) -> Status { return work(shard, of); });
      if (first.ok() && !done.ok()) first = std::move(done);
    }
    return first;
  }

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

  // checkpoint.cc
  Result<std::string> CheckTarget(const std::string& dir) const;
  /// The folder of a copy of a shard opens; with `checksums` every byte of it is read.
  Status CheckShardCopy(const Identity& identity, const std::string& path, uint32_t shard,
                        bool checksums) const;
  Status MakeCopy(
      const std::string& dir, const std::string& part,
      const std::function<Status(const Identity& identity, const std::string& fresh)>& fill);

  // attach.cc
  Status CheckNumber(uint32_t number) const;
  Status RemoveDetached();
  /// The canonical path of a folder that is to be attached.
  Result<std::string> CheckFolder(uint32_t number, const std::string& folder) const;
  Status OpenAttached(const Identity& identity, uint32_t number);
  Status Unpublish(uint32_t number);

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
  Mutex attach_mutex_{LockRank::kAttach};  // one shard comes or goes at a time
  Shards shards_;
  std::shared_ptr<const ShardSet> opening_;  // between OpenAll and FinishOpening
  const std::shared_ptr<LeftShards> left_ = std::make_shared<LeftShards>();
  uint32_t shard_count_ = 1;  // also after Close
  ProblemList problems_;      // of the background work; those of a shard are its own
  Catalog catalog_;

  std::atomic<bool> closed_{false};
  std::unique_ptr<Scheduler> scheduler_;  // null without background work
};

}  // namespace seendb
