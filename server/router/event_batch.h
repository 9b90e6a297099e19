// server/router/event_batch.h: events of one request, cut into records by the partition of their
// users, and what became of the records put together again.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/event_counts.h"
#include "api/routes.h"
#include "router/log_writer.h"
#include "router/position.h"
#include "seendb/engine.h"

namespace seendb::router {

/// The kind of events that a route takes.
inline api::EventKind EventKindOf(const api::Route& route) {
  return route.path == "/plays"       ? api::EventKind::kPlays
         : route.path == "/exposures" ? api::EventKind::kExposures
                                      : api::EventKind::kImpressions;
}

/// See the head of this file. Threads: one at a time.
class EventBatch {
 public:
  /// `collection` is one that there is.
  EventBatch(api::EventKind kind, std::string collection)
      : kind_(kind), collection_(std::move(collection)) {}

  /// Adds the next event, at `index` of the request. `user`: as text; `json`: the play, or the
  /// exposure.
  /// `grouped`: the play has groups, or says that it has none.
  void AddEvent(uint32_t partition, std::string_view user, uint64_t index, std::string_view json,
                bool grouped = false);
  void AddImpression(uint32_t partition, std::string_view user, uint64_t index,
                     const Impression& impression);
  size_t events() const { return events_; }
  size_t bytes() const { return bytes_; }

  /// The records, once; the batch stays for Merge.
  std::vector<OwnedRecord> TakeRecords();

  /// What became of all events together, with indexes of the request.
  struct Outcome {
    Status failure;  ///< of a part; the others may be recorded
    RecordResult recorded;
    std::vector<uint64_t> refused_at, first_at;  ///< of `refusals` and `first_today`
    bool pending = false;                        ///< a part is in the log and not applied yet
  };
  /// `results`: of the records, in order.
  Outcome Merge(const std::vector<Result<wire::Appended>>& results, Positions* positions) const;

 private:
  /// A record being filled.
  struct Part {
    OwnedRecord record;
    std::vector<uint64_t> indexes;  // of the request
    std::optional<int64_t> at_ms;   // of impressions
    std::string surface;            // of impressions
    bool grouped = false;
  };
  /// What impressions of one record have in common, beside their user.
  struct Common {
    std::optional<int64_t> at_ms = {};
    std::string_view surface = {};
  };

  void Add(uint32_t partition, std::string_view user, uint64_t index, std::string_view json,
           const Common& common, bool grouped);
  Part& PartFor(uint32_t partition, std::string_view user, size_t bytes, const Common& common);
  void Close(Part* part) const;

  const api::EventKind kind_;
  const std::string collection_;
  std::vector<Part> parts_;
  std::map<uint32_t, size_t> open_;  // the part that is being filled, by partition
  size_t events_ = 0, bytes_ = 0;
};

}  // namespace seendb::router
