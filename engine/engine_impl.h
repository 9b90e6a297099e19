// engine/engine_impl.h: the Engine put together from shards: what is asked is checked and routed to
// them, the collections are kept, background work is said to be due. Behaviour is in the .cc files
// beside it, one concern each; what happens to one shard's data is in shard/.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock_guard.h"
#include "base/counters.h"
#include "base/name_table.h"
#include "catalog.h"
#include "dumping_engine.h"
#include "recorder.h"
#include "scheduler.h"
#include "seams.h"
#include "seendb/engine.h"
#include "shards.h"
#include "store/database_lock.h"
#include "store/files.h"
#include "store/problem_list.h"
#include "with_user_sets.h"

namespace seendb {

/// kInvalidArgument ("/user") for an ill-formed id.
inline Status CheckUser(IdRef user) {
  const Status valid = user.Validate();
  return valid.ok() ? valid : Status(valid.code(), std::string(valid.message()), "/user");
}

/// kInvalidArgument ("/shard").
inline Status CheckShardNumber(uint32_t number, uint32_t shards) {
  if (number < shards) return {};
  return Status::InvalidArgument("the database has " + std::to_string(shards) + " shards",
                                 "/shard");
}

/// See the head of this file.
class EngineImpl final : public WithUserSets {
 public:
  EngineImpl(std::string path, const Options& options, const Seams& seams);
  ~EngineImpl() override;
  Status OpenAll();
  Status FinishOpening() override;

  Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                   const RecordOptions& options) override;
  Result<RecordResult> RecordImpressions(std::span<const Impression> impressions,
                                         const RecordOptions& options) override;
  Result<RecordResult> RecordExposures(std::span<const Exposure> exposures,
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
  Status DeleteHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       CallTime at_ms, EventGroups same_as) override;
  Status ClearHistory(IdRef user, const HistoryClear& clear) override;
  Status SetRecording(IdRef user, bool paused, CallTime at_ms) override;
  Result<Recording> GetRecording(IdRef user) override;
  Result<RecordResult> PutMarks(IdRef user, std::span<const Mark> marks) override;
  Result<bool> DeleteMark(IdRef user, std::string_view group, CallTime at_ms) override;
  Status ReadMarks(const MarksRequest& request, MarksPage* page) override;
  Status ReadCounts(const CountsRequest& request, CountsPage* page) override;
  Status Reserve(const ReserveRequest& request, Reserved* reserved) override;
  Status PutCollection(std::string_view name, const PolicyPatch& patch,
                       std::optional<uint64_t> making) override;
  Status DeleteCollection(std::string_view name) override;
  std::vector<CollectionInfo> Collections() override;
  Status Drain() override;
  Status Seal(std::string_view collection, std::string_view bucket) override;
  Status SealClosed() override;
  Status DropExpired() override;
  Status Compact() override;
  Status Sync() override;
  Result<int64_t> ConfirmClock() override;
  Result<CheckpointReport> Checkpoint(const std::string& dir, const CheckpointAlso& also) override;
  std::vector<uint32_t> AttachedShards() const override;
  Result<CheckpointReport> CheckpointShard(uint32_t shard, const std::string& dir) override;
  Status AttachShard(uint32_t shard, const std::string& folder,
                     const AttachOptions& options) override;
  Status ReplaceShard(uint32_t shard, const std::string& folder,
                      const AttachOptions& options) override;
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

  // For tests that do one step of the background's work at a time.
  const Shards& shards() const { return shards_; }
  const Catalog& catalog() const { return catalog_; }

 private:
  /// Between OpenAll and FinishOpening.
  struct Opening {
    Identity identity;
    std::vector<uint32_t> shards;  ///< to be opened
    ShardSet opened;               ///< those that are, and not yet replayed
  };

  // engine.cc
  Status OpenIdentity(Identity* identity);
  Status BeginOpening();
  Status OpenTogether();
  Result<std::shared_ptr<Shard>> OpenShard(const Identity& identity, uint32_t shard);
  /// Replays a shard that was admitted to the catalog, and publishes it.
  Status BringIn(uint32_t number, const std::shared_ptr<Shard>& shard);
  /// Whether an opening opens the shard.
  Result<bool> IsToOpen(uint32_t shard) const;
  ShardStoreOptions OptionsOf(const Identity& identity, uint32_t shard) const;
  ShardContext ContextOf(const Identity& identity);
  Status CheckOpen() const;
  Status CheckWritable() const;
  /// Whether collections, and the set of shards, may change.
  Status CheckChangeable() const;
  // attach.cc
  /// Makes an empty shard beside its place; its folder.
  Result<std::string> MakeEmptyShard(const Identity& identity, uint32_t shard,
                                     const std::string& former_lost) const;
  Result<Identity> IdentityToAttach() const;
  Status OpenApart(const Identity& identity, uint32_t shard, const std::string& folder, bool create,
                   const std::string& former_lost = {}) const;
  Status CheckNewcomer(const Identity& identity, uint32_t shard, const std::string& folder,
                       const AttachOptions& options);
  Status OpenInPlace(const Identity& identity, uint32_t number, const std::string& from)
      REQUIRES(attach_mutex_);
  Result<std::unique_ptr<Shard>> TakeOut(uint32_t number, bool may_lose);
  /// A shard that nobody finds, while calls are in it still.
  std::shared_ptr<Shard> Leaving(uint32_t number) const;
  Status FinishReplacing(uint32_t number) REQUIRES(attach_mutex_);
  Status BringBack(uint32_t number, const std::string& aside) REQUIRES(attach_mutex_);
  void ComeBack(uint32_t number, const std::string& aside) REQUIRES(attach_mutex_);
  Status Return(uint32_t number) REQUIRES(attach_mutex_);
  Status MoveAway(uint32_t number, const std::string& to) REQUIRES(attach_mutex_);
  /// Of shards that came or went, now or later.
  void DeleteLeftovers() REQUIRES(attach_mutex_);
  Status Tidy() REQUIRES(attach_mutex_);
  Status TidyIfDue();

  /// Notes the time in every shard that is not being opened anew, once a minute.
  Status NoteClockIfDue();
  Status NoteClock(int64_t now_ms);

  // background.cc
  void StartBackground();
  Status Heal();

  // checkpoint.cc
  /// The folder of a copy of a shard opens; with `checksums` every byte of it is read.
  /// `claims`: what it says of collections; may be null.
  Status CheckShardCopy(const Identity& identity, const std::string& path, uint32_t shard,
                        bool checksums, CollectionClaims* claims = nullptr) const;

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
  std::optional<ItemHash> hash_;  // from the identity on
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  Mutex attach_mutex_{LockRank::kAttach};  // one shard comes or goes at a time
  // Shards that could not be replaced or detached, and are to come back: each lies there, or in its
  // place. And folders in a shard's place that are to go back there.
  std::map<uint32_t, std::string> away_ GUARDED_BY(attach_mutex_);
  std::map<uint32_t, std::string> misplaced_ GUARDED_BY(attach_mutex_);
  bool leftovers_ GUARDED_BY(attach_mutex_) = false;  // folders may be there to be deleted
  Shards shards_;
  std::unique_ptr<Opening> opening_;
  const std::shared_ptr<LeftShards> left_ = std::make_shared<LeftShards>();
  uint32_t shard_count_ = 1;  // also after Close
  ProblemList problems_;      // of the background work; those of a shard are its own
  Catalog catalog_;
  const Recorder recorder_;

  std::atomic<bool> closed_{false};
  std::unique_ptr<Scheduler> scheduler_;  // null without background work
};

}  // namespace seendb
