// server/ingest/partition_table.h: what is shown of the consumed partitions while they are
// consumed. The consumer writes, whoever is asked reads.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "ingest/item_sink.h"
#include "ingest/topic_outcomes.h"
#include "ops/ingest_state.h"
#include "ops/kafka_config.h"
#include "seendb/engine.h"
#include "seendb/ingest.h"

namespace seendb::ingest {

/// Events a second over the last ten whole seconds. Threads: one at a time.
class Rate {
 public:
  using Clock = std::chrono::steady_clock;
  void Add(uint64_t count, Clock::time_point now);
  double PerSecond(Clock::time_point now) const;

 private:
  static constexpr int64_t kSeconds = 10;
  struct Second {
    int64_t second = -1;
    uint64_t count = 0;
  };
  std::array<Second, kSeconds + 1> seconds_{};  // by their number, modulo
};

/// What the database knows of a partition; null where it is nothing.
const SourceInfo* FindSource(const std::vector<SourceInfo>& sources, const std::string& topic,
                             int32_t partition);

/// What the database knows of all sources. `by_shard`: where each partition has the users of one
/// shard, as that shard knows them.
std::vector<SourceInfo> SourcesOf(Engine* engine, bool by_shard);
/// The same of a store of items. kCorruption: one can't be read.
Result<std::vector<SourceInfo>> SourcesOf(const ItemSink& items);

/// See the head of this file. Threads: any.
class PartitionTable {
 public:
  explicit PartitionTable(const ops::KafkaConfig& config);

  /// A partition is there.
  void Appear(const std::string& topic, int32_t partition);
  /// It is read from here on, or held: not read, for a reason.
  void SetHeld(const std::string& topic, int32_t partition, std::string reason);
  /// An answer for it was an error, and which; empty: one was none again.
  void SetUnread(const std::string& topic, int32_t partition, std::string why,
                 Rate::Clock::time_point now);
  /// Something is wrong with it; true when the alarm is new.
  bool Raise(const std::string& topic, int32_t partition, const std::string& alarm);
  void AddLost(const std::string& topic, int32_t partition, int64_t messages);
  void AddMessages(const std::string& topic, int32_t partition, uint64_t messages);
  /// Messages with events of other partitions' users.
  void AddMisrouted(const std::string& topic, int32_t partition, uint64_t messages);
  /// Dead letters that no database counts.
  void AddDeadLetters(const std::string& topic, int32_t partition, uint64_t messages);
  /// Counts the events of a batch that were refused.
  void AddRefused(const std::string& topic, const RecordResult& result);
  void SetHighWatermark(const std::string& topic, int32_t partition, int64_t offset);
  /// Whether this offset is where the log ended when that was last heard.
  bool IsAtEnd(const std::string& topic, int32_t partition, int64_t next_offset) const;
  void CountError();
  void CountPutOff();
  /// Whether anything of each topic is taken.
  TopicOutcomes& outcomes() { return outcomes_; }
  const TopicOutcomes& outcomes() const { return outcomes_; }

  /// Where these partitions of all topics begin is known, or can't be.
  void SetBegun(std::set<uint32_t> partitions);
  /// How old is what is applied of each partition that has begun: 0 at the end of the log, else the
  /// age of the newest applied message; of the topic where that is the most.
  std::map<uint32_t, int64_t> BehindMs(const std::vector<SourceInfo>& sources,
                                       int64_t now_ms) const;
  /// Why partitions are not read, each reason once.
  std::vector<std::string> HeldReasons() const;
  /// Why partitions can't be read for now, a sentence each: those whose newest answer was an error,
  /// less than kUnreadFor ago, since librdkafka asks again by itself.
  std::vector<std::string> UnreadReasons(Rate::Clock::time_point now) const;
  static constexpr std::chrono::seconds kUnreadFor{30};

  /// Everything, with what the engine knows of offsets and dead letters.
  ops::IngestState Snapshot(const std::vector<SourceInfo>& sources) const;

 private:
  struct Row {
    ops::IngestPartition shown;
    Rate rate;
    std::string unread = {};
    Rate::Clock::time_point unread_at = {};
  };
  using Key = std::pair<std::string, int32_t>;

  const ops::KafkaConfig& config_;
  TopicOutcomes outcomes_;
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<Key, Row> rows_ GUARDED_BY(mutex_);
  std::set<uint32_t> begun_ GUARDED_BY(mutex_);
  std::map<std::string, std::array<uint64_t, kRefusalReasons>> refused_by_ GUARDED_BY(mutex_);
  uint64_t errors_ GUARDED_BY(mutex_) = 0, put_off_ GUARDED_BY(mutex_) = 0;
};

}  // namespace seendb::ingest
