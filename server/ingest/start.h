// server/ingest/start.h: where the reading of a partition begins, and what is wrong with that.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ops/kafka_config.h"
#include "seendb/ingest.h"

namespace seendb::ingest {

/// What is known of a partition before it is read.
struct PartitionFacts {
  std::optional<int64_t> stored = {};   ///< the lowest offset of all shards
  std::optional<SourceMark> last = {};  ///< the newest known message before that
  bool held = false;                    ///< noted: not to be read on
  bool known = false;                   ///< some shard knows it, maybe not all
  bool topic_known = false;   ///< some partition of its topic is known: this one came later
  bool replicated = false;    ///< another node's replica may have what is gone from the log
  bool repeatable = false;    ///< what is read once more changes nothing
  int64_t low = 0, high = 0;  ///< what the broker keeps: from low to before high
};

/// The alarm for a log that is not, or not any more, the one that was read.
inline constexpr char kBeyondEnd[] = "beyond_end";

/// The answer. Exactly one of `offset` and `wanted_start` and `held` is set.
struct StartPoint {
  std::optional<int64_t> offset;                ///< begin here
  std::optional<SourceMark> check = {};         ///< if the log still has this message unchanged
  std::optional<ops::KafkaStart> wanted_start;  ///< begin where the settings say
  std::string held;                             ///< do not read it, and why
  std::string alarm;                            ///< "truncated", "beyond_end", "no_start", or none
  int64_t lost = 0;                             ///< messages that are gone
};

/// Decides. What is stored counts, as long as the broker's log still agrees with it; one that once
/// did not is held until its topic is forgotten, since a log that has grown again past the stored
/// offset begins with messages that were never read; what is gone from the log is passed over with
/// an alarm, or, of a replica, not at all; a partition that came later, or that some shard does not
/// know, begins with the oldest message; only a topic of which nothing is stored begins where the
/// settings say. A repeatable one is never held: it begins anew.
StartPoint ChooseStart(const PartitionFacts& facts, ops::KafkaStart start);

}  // namespace seendb::ingest
