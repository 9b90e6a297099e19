// engine/recorder.h: records events. What is given is checked, sorted by shard, and written in one
// shard after the other; with positions in logs (ingest.cc) every shard that they concern is
// written.
//
// Threads: any. Whoever calls has checked that the database takes writes.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/clock_guard.h"
#include "base/counters.h"
#include "catalog.h"
#include "filter/item_hash.h"
#include "seendb/engine.h"
#include "shards.h"

namespace seendb {

/// See the head of this file.
class Recorder {
 public:
  struct Context {
    const Options* options = nullptr;
    const ClockGuard* clock = nullptr;
    Counters* counters = nullptr;
    const Shards* shards = nullptr;
    const Catalog* catalog = nullptr;
    const std::optional<ItemHash>* hash = nullptr;  ///< there once the engine is open
  };
  explicit Recorder(const Context& context) : context_(context) {}

  /// As the members of Engine.
  Result<RecordResult> RecordPlays(std::span<const Play> plays, const RecordOptions& options) const;
  Result<RecordResult> RecordImpressions(std::span<const Impression> impressions,
                                         const RecordOptions& options) const;
  Result<RecordResult> RecordExposures(std::span<const Exposure> exposures,
                                       const RecordOptions& options) const;
  Result<IngestResult> Ingest(const IngestBatch& batch) const;
  /// Impressions of this moment, or of a later one where the clock went back: their time is not
  /// held against the clock.
  Result<RecordResult> RecordServed(std::span<const Impression> impressions,
                                    const RecordOptions& options, int64_t at_ms) const;

 private:
  // record.cc
  template <typename Given>
  Result<RecordResult> RecordAll(std::span<const Given> given, const RecordOptions& options,
                                 std::optional<int64_t> present_ms = {}) const;
  Result<RecordResult> RecordShown(std::span<const Impression> impressions,
                                   const RecordOptions& options,
                                   std::optional<int64_t> present_ms) const;
  /// Of a call in several pieces: kUnavailable where the shard of one of the users is absent.
  template <typename Given>
  Status CheckAttached(std::span<const Given> given) const;
  template <typename Given>
  Status RecordPiece(std::span<const Given> given, uint32_t first_index,
                     const Collection& collection, const GivenEvents& all,
                     RecordResult* result) const;
  /// Counts what was accepted and refused of a call.
  void CountTaken(Fact fact, const RecordResult& result) const;
  /// Counts the impressions of a call that the policy's cap keeps out; how many they are.
  uint64_t CountEvicted(ServedCount* served, const Collection& collection) const;
  /// The call failed: the first plays it has named are not known to its caller.
  void MarkNotTold(std::span<const Play> plays, const Collection& collection, const Today& today,
                   const RecordResult& result) const;
  /// What a call answers that failed in a shard after others, maybe, were written.
  static Status FailureOf(Status failed, bool any_written);
  /// Room in every shard that is to stage events, by group; kBusy where one has none.
  static Status PinAll(const ShardSet& shards, const EventsByShard& by_shard,
                       const Collection& collection, const GivenEvents& given,
                       std::vector<std::optional<SlotPin>>* pins);
  Status WriteEvents(const EventsByShard& by_shard, const Collection& collection,
                     const GivenEvents& given, RecordResult* result) const;
  /// Today, where first plays of the day are to be told.
  std::optional<Today> TodayOf(const Collection& collection, Fact fact) const;
  static Today TodayAt(const Collection& collection, int64_t at_ms);

  // ingest.cc
  /// Today by when the events arrived; kInvalidArgument ("/origins/3"): on different days.
  Result<std::optional<Today>> TodayOf(const Collection& collection,
                                       const IngestBatch& batch) const;
  /// Events as they go to the shards.
  struct SortedEvents {
    EventsByShard accepted;
    std::map<uint32_t, std::vector<Refusal>> refused;  ///< by shard
    std::optional<Today> today;
    const TimeCheck* times = nullptr;
    ServedCount* served = nullptr;
    GroupsGiven groups;
  };
  /// kBusy where the outbox takes no more rows.
  Status CheckOutbox(const IngestBatch& batch, const std::optional<Today>& today) const;
  Status WriteSteps(const IngestBatch& batch, const Collection& collection,
                    const SortedEvents& sorted, IngestResult* result) const;

  const Context context_;
};

}  // namespace seendb
