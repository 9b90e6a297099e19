// server/migration/cluster_node.h: what a migration asks of the node of a cluster that it runs at.
// Functions, so that it knows nothing of clusters. Threads: any.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "seendb/engine.h"

namespace seendb::migration {

/// A record of the cluster's log.
struct LogPlace {
  uint32_t partition = 0;
  int64_t offset = 0;
  int64_t arrival_ms = 0;
};

/// Offsets of a partition's log, from `from` until before `to`.
struct Offsets {
  int64_t from = 0, to = 0;
};

/// Who writes to the old store what is in a partition's log. Each replica has it in a queue: the
/// acting primary writes its own, the others drop theirs once that has told them how far it is.
struct Duty {
  bool here = false;                    ///< this node writes
  std::optional<Offsets> written = {};  ///< by the node that writes, as it last said
};

/// See the head of this file.
struct ClusterNode {
  /// Has imported plays recorded by the log, and waits for it; as Engine::RecordPlays. How many it
  /// refused.
  std::function<Result<uint64_t>(std::string_view collection, std::span<const Play> plays)> record;
  /// Has every replica note that these users' past was recorded, and waits for it.
  std::function<Status(std::string_view collection, std::string_view key,
                       std::span<const IdRef> users)>
      note;
  /// Has every replica note that an import read all keys to their end, and waits for it.
  std::function<Status(std::string_view collection, std::string_view key)> note_everybody;
  /// By partition. Waits for nothing.
  std::function<std::map<uint32_t, Duty>()> duties;
};

}  // namespace seendb::migration
