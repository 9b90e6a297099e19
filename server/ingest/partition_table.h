// server/ingest/partition_table.h: what is shown of the consumed partitions while they are
// consumed. The consumer writes, whoever is asked reads.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "ops/ingest_state.h"
#include "ops/kafka_config.h"
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

/// See the head of this file. Threads: any.
class PartitionTable {
 public:
  explicit PartitionTable(const ops::KafkaConfig& config);

  /// A partition is there.
  void Appear(const std::string& topic, int32_t partition);
  /// It is read from here on, or held: not read, for a reason.
  void SetHeld(const std::string& topic, int32_t partition, std::string reason);
  /// Something is wrong with it; true when the alarm is new.
  bool Raise(const std::string& topic, int32_t partition, const std::string& alarm);
  void AddLost(const std::string& topic, int32_t partition, int64_t messages);
  void AddMessages(const std::string& topic, int32_t partition, uint64_t messages);
  /// Counts the events of a batch that were refused.
  void AddRefused(const std::string& topic, const IngestResult& result);
  void SetHighWatermark(const std::string& topic, int32_t partition, int64_t offset);
  void CountError();
  void CountPutOff();

  /// Everything, with what the engine knows of offsets and dead letters.
  ops::IngestState Snapshot(const std::vector<SourceInfo>& sources) const;

 private:
  struct Row {
    ops::IngestPartition shown;
    Rate rate;
  };
  using Key = std::pair<std::string, int32_t>;

  const ops::KafkaConfig& config_;
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<Key, Row> rows_ GUARDED_BY(mutex_);
  std::map<std::string, std::array<uint64_t, kRefusalReasons>> refused_by_ GUARDED_BY(mutex_);
  uint64_t errors_ GUARDED_BY(mutex_) = 0, put_off_ GUARDED_BY(mutex_) = 0;
};

}  // namespace seendb::ingest
