// shard/shard.h: one shard: its database, its ring, its users' records, its offsets and its locks.
//
// The engine routes to shards, keeps the collections and says when background work falls due; all
// that happens to one shard's data happens here. Users' data are written and read through Shard
// itself. What the engine asks of a shard in other roles is in classes of their own, each of which
// only refers to the shard: its collections (shard_catalog.h), positions in logs and the outbox
// (shard_log.h), background work (shard_upkeep.h), and what people are told (shard_report.h).
//
// Each call enters the shard and leaves it: none holds a lock of it while another shard is entered.
// Where the shard is being opened anew, requests wait for kReopenWait and are kUnavailable then
// (entry.h); a filter is answered from memory instead, and says what it lacks. Background work and
// the calls for policies wait as long as that takes, unless their comment says otherwise.
//
// Threads: any, for every member but Open, Replay and the destructor.
// Errors: writes answer kIOError where the outcome is open, and kUnavailable or kIOError where the
// shard takes no writes; then nothing was written.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "seendb/counts.h"
#include "seendb/filter_dump.h"
#include "seendb/history.h"
#include "seendb/marks.h"
#include "seendb/report.h"
#include "seendb/user_sets.h"
#include "shard/apply.h"
#include "shard/filter.h"
#include "shard/history_cursor.h"
#include "shard/history_edit.h"
#include "shard/own_sets.h"
#include "shard/parts.h"
#include "shard/shard_catalog.h"
#include "shard/shard_log.h"
#include "shard/shard_report.h"
#include "shard/shard_upkeep.h"

namespace seendb {

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
  /// Whether its database has all that was acknowledged: kIOError or kUnavailable from a failure of
  /// its disk until it has recovered, where memory alone has some of it.
  Status CheckSound();
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
  /// Before events are applied: makes the families that take them, where the collection has had
  /// none. With `memory_only`: kIncomplete where that is so, or can't be told without waiting.
  Status Prepare(std::string_view collection, const GivenEvents& given);
  /// See erase.h, history_clear.h and history_edit.h.
  Status Erase(const std::string& user, const CollectionMap& collections,
               const EraseOptions& options, Erasure* erasure);
  Status Clear(const std::string& user, std::span<const CollectionPtr> wanted, bool filter,
               std::optional<int64_t> at_ms);
  Status DeleteItems(const Collection& of, const std::string& user, const ToDelete& named,
                     std::optional<int64_t> at_ms, int64_t oldest_ms);
  Status SetRecording(const std::string& user, bool paused, std::optional<int64_t> at_ms,
                      const CollectionMap& collections, int64_t oldest_ms);
  /// See marks.h.
  Status PutMarks(const std::string& user, std::span<const Mark> marks, int64_t now_ms, bool sync,
                  RecordResult* result);
  Status DeleteMark(const std::string& user, std::string_view group, int64_t at_ms, bool* deleted);
  /// See own_sets.h.
  Status PutOwnSet(const std::string& user, const UserSet& set, std::vector<std::string_view> items,
                   int64_t now_ms, bool sync, UserSetInfo* info);
  Status DeleteOwnSet(const std::string& user, std::string_view name, const CallTime& at_ms,
                      int64_t now_ms, bool* deleted);
  /// See reserve.h.
  Status Reserve(const Collection& collection, const std::string& user,
                 const ReserveRequest& request, int64_t at_ms, Reserved* reserved);

  // ---- Reads ----

  /// The user's turn for a filter request that records (user_turns.h). Enters nothing.
  Status TakeTurn(const std::string& user, UserTurns::Time deadline, const FilterOnTurn* on_turn,
                  FilterTurn* turn) {
    return parts_.turns->Take(user, deadline, on_turn, turn);
  }
  /// See filter.h. False where memory alone was asked and can't tell; it does not wait then.
  bool Filter(const FilterRead& read, FilterResponse* response);
  /// See filter_dump.h.
  Status DumpFilter(const Collection& collection, const std::string& user, bool served_ids,
                    FilterDump* dump);
  Status ReadHistory(const HistoryRequest& request, std::span<const CollectionPtr> wanted,
                     const HistoryCursor* cursor, HistoryPage* page);
  Status LookupHistory(const Collection& of, const std::string& user, std::span<const IdRef> items,
                       HistoryLookup* found);
  Result<Recording> GetRecording(const std::string& user);
  Status ReadMarks(const MarksRequest& request, MarksPage* page);
  Status ListOwnSets(const std::string& user, UserSetList* list);
  Status ReadOwnSet(const std::string& user, std::string_view name, std::string_view after,
                    size_t limit, UserSetPage* page);
  /// See own_sets.h. With `memory_only` it waits for nobody, either.
  bool FindOwnSets(std::string_view user, bool memory_only, NamedSets* named);
  Status ReadCounts(const Collection& collection, const CountsRequest& request, CountsPage* page);

  // ---- Other roles; the shard outlives what they return ----

  ShardCatalog catalog() { return ShardCatalog(parts_); }
  ShardLog log() { return ShardLog(parts_); }
  ShardUpkeep upkeep() { return ShardUpkeep(parts_); }
  ShardReport report() { return ShardReport(parts_); }

  // ---- The whole shard ----

  Status Checkpoint(const std::string& folder, CheckpointReport* report);
  /// Whatever takes long ends soon, with kUnavailable: the shard is to be closed.
  void GiveUp();
  /// The last sync, once nobody else is inside. `now_ms`: a time to be noted, if any.
  Status Close(std::optional<int64_t> now_ms);
  /// For tests that do one step of the background's work at a time.
  ShardParts& parts() { return parts_; }

 private:
  ShardParts parts_;
};

}  // namespace seendb
