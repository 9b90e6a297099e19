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
#include "router/log_writer.h"
#include "router/position.h"
#include "seendb/engine.h"

namespace seendb::router {

/// See the head of this file. Threads: one at a time.
class EventBatch {
 public:
  /// `collection` is one that there is.
  EventBatch(api::EventKind kind, std::string collection)
      : kind_(kind), collection_(std::move(collection)) {}

  /// Adds the next event, at `index` of the request. `user`: as text; `json`: the play.
  void AddPlay(uint32_t partition, std::string_view user, uint64_t index, std::string_view json);
  void AddImpression(uint32_t partition, std::string_view user, uint64_t index, const IdRef& item,
                     std::optional<int64_t> at_ms);
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
  };

  void Add(uint32_t partition, std::string_view user, uint64_t index, std::string_view json,
           std::optional<int64_t> at_ms);
  Part& PartFor(uint32_t partition, std::string_view user, size_t bytes,
                std::optional<int64_t> at_ms);
  void Close(Part* part) const;

  const api::EventKind kind_;
  const std::string collection_;
  std::vector<Part> parts_;
  std::map<uint32_t, size_t> open_;  // the part that is being filled, by partition
  size_t events_ = 0, bytes_ = 0;
};

}  // namespace seendb::router
