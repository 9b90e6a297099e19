// server/ingest/topic_outcomes.h: whether anything of a topic is taken. Settings that do not fit a
// topic make a dead letter or a refused event of all that it holds, which looks like a topic that
// is read well: offsets move on, and nothing waits.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "base/sync.h"

namespace seendb::ingest {

/// See the head of this file. Threads: any.
class TopicOutcomes {
 public:
  using Clock = std::chrono::steady_clock;

  /// What a batch of a topic came to.
  struct Batch {
    uint64_t taken = 0;      ///< events
    uint64_t not_taken = 0;  ///< events that were refused, and dead letters
    uint64_t deletions = 0;  ///< passed over: they count while nothing was ever taken
    std::string why = {};    ///< the newest of not_taken was not
  };
  void Note(const std::string& topic, const Batch& batch, Clock::time_point now);
  /// Events of the topic were taken before this process began.
  void NoteTakenBefore(const std::string& topic);
  /// A sentence for each topic of which nothing is taken, by the topic: for kPatience nothing at
  /// all ever, or kInARow of one that was read well before. It is over with the next
  /// event that is taken.
  std::map<std::string, std::string> NothingTaken(Clock::time_point now) const;

  static constexpr std::chrono::seconds kPatience{15};
  static constexpr uint64_t kInARow = 100;

 private:
  struct Outcome {
    bool ever_taken = false;
    uint64_t not_taken = 0;  // since the last that was
    Clock::time_point since = {};
    std::string why = {};
  };
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<std::string, Outcome> topics_ GUARDED_BY(mutex_);
};

}  // namespace seendb::ingest
