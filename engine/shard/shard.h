// shard/shard.h: one shard: its database, its ring, its users' records, its offsets and its locks.
//
// The engine routes to shards, keeps the collections and says when background work falls due; all
// that happens to one shard's data happens here. Each call enters the shard and leaves it: none
// holds a lock of it while another shard is entered. Where the shard is being opened anew, requests
// wait for kReopenWait and are kUnavailable then; a filter is answered from memory instead, and
// says what it lacks. Background work and the calls for policies wait as long as that takes, unless
// their comment says otherwise.
//
// Threads: any, for every member but Open, Replay and the destructor.
// Errors: writes answer kIOError where the outcome is open, and kUnavailable or kIOError where the
// shard takes no writes; then nothing was written.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seendb/history.h"
#include "seendb/ingest.h"
#include "seendb/report.h"
#include "shard/apply.h"
#include "shard/buckets.h"
#include "shard/filter.h"
#include "shard/history_cursor.h"
#include "shard/maintenance.h"
#include "shard/makings.h"
#include "shard/parts.h"
#include "shard/policies.h"
#include "shard/report.h"

namespace seendb {

/// What all shards know of a source.
struct KnownSource {
  SourceInfo info;
  uint32_t shards = 0;  ///< that have a record of it
};
using KnownSources = std::map<Sources::Key, KnownSource>;

/// How long a request waits for a shard that is being opened anew.
inline constexpr std::chrono::milliseconds kReopenWait{250};

/// See the head of this file.
class Shard {
 public:
  /// Opens the database; Replay must follow before anything else but noted_ms and the policies.
  static Result<std::unique_ptr<Shard>> Open(const ShardStoreOptions& options,
                                             const ShardContext& context);
  explicit Shard(const ShardContext& context, std::unique_ptr<ShardStore> opened)
      : parts_(context, std::move(opened)) {}
  /// Stages the journals again, and reads the offsets.
  Status Replay();
  /// The newest time noted by any opening.
  std::optional<int64_t> noted_ms() const { return parts_.store->noted_ms(); }

  // ---- Writes ----

  /// Whether it takes writes now.
  Status CheckWritable();
  /// Room for plays, kept until the pin goes. kBusy. Does not wait.
  Result<SlotPin> Pin();
  /// A first play of the user was told to nobody after all. Does not wait.
  void MarkFirstNotTold(const std::string& user, std::string_view collection, int64_t day);
  /// See apply.h. Where first plays are to be told it waits, with no lock of the shard held, while
  /// another Apply writes one of the same users. Afterwards the ring is turned where its slot is
  /// full.
  Status Apply(const ShardWrite& write, const SlotPin* pin, RecordResult* result);
  /// Looks the records of the events' users up, in memory alone; kIncomplete: that does not tell.
  /// An Apply right after it mostly finds them. Does not wait.
  Status LoadUsersFromMemory(std::span<const ShardEvent> events);
  Status CheckLog(const IngestBatch& batch);
  void AddSources(KnownSources* known);
  Status ForgetTopic(std::string_view topic);
  /// See outbox.h. The first two do not wait.
  uint64_t OutboxRows() const { return parts_.outbox.rows(); }
  void AddOutboxSources(std::vector<OutboxSource>* sources);
  Status ReadOutbox(const OutboxSource& source, int64_t after, size_t limit,
                    std::vector<OutboxRow>* rows);
  Status DeleteOutbox(std::span<const OutboxRow> told);
  /// See erase.h, history_clear.h and history_edit.h.
  Status Erase(const std::string& user, const CollectionMap& collections,
               const EraseOptions& options, Erasure* erasure);
  Status Clear(const std::string& user, std::span<const CollectionPtr> wanted, bool filter);
  Status DeleteItems(const Collection& of, const std::string& user, std::span<const IdRef> items,
                     int64_t oldest_ms);
  Status SetRecording(const std::string& user, bool paused, const CollectionMap& collections,
                      int64_t oldest_ms);

  // ---- Policies (policies.h) ----

  /// Nothing where not even an opening for reading succeeded.
  std::optional<CollectionClaims> Claims();
  Status AdoptPolicy(const Collection& known);
  HistoryIncomplete HistoryIncompleteUnder(const Collection& wanted, const Policy* recorded_by,
                                           int64_t now_ms);
  Status AnnouncePolicy(const Collection& wanted, const HistoryIncomplete& incomplete);
  Status ConfirmPolicy(const Collection& wanted, const HistoryIncomplete& incomplete);

  // ---- Collections that go, or begin anew (makings.h) ----

  void StopWrites(const std::string& name);
  void ResumeWrites(const std::string& name);
  bool HoldsAny(const Collection& collection);
  Status BeginDeletion(const std::string& name, uint64_t making);
  Status FinishDeletion(const std::string& name);
  Status BeginAnew(const Collection& wanted);

  // ---- Reads ----

  /// The user's turn for a filter request that records (user_turns.h). Enters nothing.
  Status TakeTurn(const std::string& user, UserTurns::Time deadline, const FilterOnTurn* on_turn,
                  FilterTurn* turn) {
    return parts_.turns->Take(user, deadline, on_turn, turn);
  }
  /// See filter.h. False where memory alone was asked and can't tell; it does not wait then.
  bool Filter(const FilterRead& read, FilterResponse* response);
  Status ReadHistory(const HistoryRequest& request, std::span<const CollectionPtr> wanted,
                     const HistoryCursor* cursor, HistoryPage* page);
  Status LookupHistory(const Collection& of, const std::string& user, std::span<const IdRef> items,
                       HistoryLookup* found);
  Result<Recording> GetRecording(const std::string& user);
  Status Inspect(std::string_view only, UserReport* report);
  Status Verify(VerifyReport* report);
  Status Scan(std::string_view family_prefix, const std::function<bool(const ScanRow&)>& visit,
              bool* enough);

  // ---- Statistics: a shard that is being opened anew is left out, without waiting ----

  void AddTo(EngineStats* stats);
  void AddBucketsTo(const Collection& collection, int64_t now_ms, BucketSums* sums);
  void AddSlotsTo(std::vector<SlotInfo>* infos);

  // ---- Background work ----

  /// Makes what was written survive power loss. With `passed_over` it does not wait for a shard
  /// that is being opened anew, but says so there: whoever does that syncs it.
  Status Sync(bool* passed_over);
  /// Turns the ring and drains it.
  Status Drain();
  /// What falls due. These pass over a shard that is being opened anew: whoever does that drains
  /// and so syncs it.
  Status DrainIfDue();
  Status NoteClock(int64_t now_ms);
  Status FlushUsers();
  Status Maintain(const CollectionMap& collections);
  /// Opens the shard anew where its disk failed and it has rested; `*healed`: that was done. With
  /// `wait` false it leaves alone a shard that somebody else heals.
  Status HealIfDue(bool wait, bool* healed);
  /// For an opening, before anybody writes: see maintenance.h.
  Status BeginUpkeep(const CollectionMap& collections);
  /// By hand.
  Status Seal(const Collection& collection, const std::function<bool(const Bucket&)>& wanted);
  Status DropFilters(const Collection& collection, const OldestKept& oldest_kept);
  Status DropHistory(const Collection& collection, const OldestKept& oldest_kept);
  Status TrimHistory(const Collection& collection);
  Status Compact();

  // ---- The whole shard ----

  Status Checkpoint(const std::string& folder, CheckpointReport* report);
  /// Whatever takes long ends soon, with kUnavailable: the shard is to be closed.
  void GiveUp();
  /// The last sync, once nobody else is inside. `now_ms`: a time to be noted, if any.
  Status Close(std::optional<int64_t> now_ms);

 private:
  class Entry;
  /// Runs `work()` inside, unless the shard is being opened anew; false then.
  template <typename Work>
  bool TryInside(const Work& work);

  ShardParts parts_;
};

}  // namespace seendb
