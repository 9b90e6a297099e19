// server/ops/ingest_state.h: what the consumption of a log shows of itself, for GET /admin/ingest
// and the metrics. Plain values.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "seendb/events.h"

namespace seendb::ops {

/// One partition of a consumed topic.
struct IngestPartition {
  int32_t partition = 0;
  std::optional<int64_t> applied_offset;  ///< the next to read; nothing: none applied yet
  std::optional<int64_t> high_watermark;  ///< the end of the log; nothing: not known yet
  double rate = 0;                        ///< messages a second, over the last ten
  uint64_t messages = 0;                  ///< read since the start of the process
  uint64_t dead_letters = 0;              ///< messages without an event, over all openings
  uint64_t misrouted = 0;                 ///< dead letters since the start, of others' users
  uint64_t lost = 0;                      ///< offsets that should have been there and were not
  std::vector<std::string> alarms;        ///< raised since the start: "truncated", "gap", ...
  std::string held;                       ///< why it is not read; empty: it is

  /// Messages still to be read; nothing while either end is unknown.
  std::optional<int64_t> Lag() const;
};

/// One consumed topic.
struct IngestTopic {
  std::string topic, collection;            ///< no collection: it has updates of items
  std::vector<IngestPartition> partitions;  ///< ascending; empty while there is no such topic
  /// Events refused since the start of the process, by RefusalReason.
  std::array<uint64_t, kRefusalReasons> refused_by = {};
};

/// Everything consumed.
struct IngestState {
  bool configured = false;
  uint64_t errors = 0;   ///< reported by the broker's side: none ends the consumption
  uint64_t put_off = 0;  ///< batches the engine could not take at once
  std::vector<IngestTopic> topics;
  /// When the oldest first play of the day that waits for its topic was played; nothing: none does.
  std::optional<int64_t> outbox_oldest_ms = {};
};

/// `{"topics":[{"topic","collection","partitions":[...]}]}`; what is not known is null. A topic of
/// items has no collection.
std::string IngestStateToJson(const IngestState& state);

}  // namespace seendb::ops
