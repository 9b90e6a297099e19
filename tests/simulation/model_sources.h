// tests/simulation/model_sources.h: logs that are ingested, and how far each shard has applied
// them.
//
// A source is a partition of a topic. Of each shard and source all states are kept that it may have
// after a power cut: the oldest is on the disk, a later one belongs to a call. What a shard has
// stored must be one of them, never older than the one that was synced.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "seendb/ingest.h"
#include "simulation/script.h"

namespace seendb::simulation {

/// Topic and partition.
using Source = std::pair<std::string, uint32_t>;
/// Of one shard: the offset to read next, by source.
using StoredOffsets = std::map<Source, int64_t>;

/// A topic's events are of one collection, all played ("video.p") or all served ("video.s").
std::string CollectionOf(const std::string& topic);
bool IsServed(const std::string& topic);

/// A message: an event, or none that could be read.
struct Message {
  bool dead = false;
  ScriptEvent event = {};  ///< its time is worked out
};

/// What a call does to one source in one shard.
struct SourceMove {
  Source source;
  int64_t next_offset = 0;
  SourceCounts more;  ///< counted by it
};

/// See the head of this file.
class SourcesModel {
 public:
  explicit SourcesModel(uint32_t shards) : shards_(shards) {}

  // ---- Logs ----

  void Publish(const Source& source, std::vector<Message> messages);
  /// The topic is deleted and made anew.
  void Empty(const std::string& topic);
  const std::vector<Message>& LogOf(const Source& source) const;
  std::vector<Source> SourcesOf(const std::string& topic) const;
  /// What the log says of the time of a message.
  static int64_t TimeOf(const Source& source, int64_t offset);

  // ---- What shards have ----

  /// The next offset of a shard, as acknowledged.
  std::optional<int64_t> NextOf(uint32_t shard, const Source& source) const;
  /// The lowest offset; nothing where a shard knows none.
  std::optional<int64_t> LowestOf(const Source& source) const;
  /// Sources that any shard knows.
  std::vector<Source> Known() const;
  SourceCounts CountsOf(const Source& source) const;
  /// Whether anything was ever tried to be ingested, and not forgotten.
  bool Any() const;

  void Move(uint32_t shard, uint64_t call, const SourceMove& move, bool acknowledged);
  /// Forgotten, and that is on the disk.
  void Forget(uint32_t shard, const std::string& topic);
  /// Everything acknowledged of a shard is on the disk; or all calls up to one.
  void Synced(uint32_t shard) { SyncedTo(shard, UINT64_MAX); }
  void SyncedTo(uint32_t shard, uint64_t call);
  /// What an opening found. Throws a Violation where it can't be.
  void Settle(uint32_t shard, bool power_was_cut, const StoredOffsets& stored);

 private:
  struct State {
    uint64_t call = 0;
    bool acknowledged = true;
    std::optional<int64_t> next_offset;
    SourceCounts counts;
  };
  using States = std::vector<State>;  // oldest first, one at least
  const State* Acknowledged(uint32_t shard, const Source& source) const;

  std::map<Source, std::vector<Message>> logs_;
  std::vector<std::map<Source, States>> shards_;
};

}  // namespace seendb::simulation
