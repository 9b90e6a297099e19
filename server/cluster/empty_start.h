// server/cluster/empty_start.h: whether a shard may begin empty: only where it is proven that no
// node has it.
//
// A node that does not answer, or that is just opening its database, may have the shard. Only a
// node that says "I have none" (NodeReport::none) has none. Nodes are asked one after the other,
// and a shard may move meanwhile: so each has to say it twice in one process, and all have to have
// meant the same moment.
//
// Pure: times come in. Threads: a plain value, one at a time.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "cluster/meta.h"
#include "cluster/view.h"

namespace seendb::cluster {

/// An answer counts for so long.
inline constexpr int64_t kNoneSaidMostMs = 5'000;

/// What other nodes say of one partition that this node lacks.
class EmptyStart {
 public:
  /// Looks at what the nodes said last, for the node `self`, which has none. Asked are all that a
  /// placement names for the partition or has ever named, and all others that are up, or told of a
  /// replica.
  void Note(const std::string& self, uint32_t partition, const Meta& meta,
            const std::map<std::string, NodeView>& nodes);
  /// Why the partition may not begin empty at `now_ms`, by the steady clock; for people. Empty: it
  /// may. In a cluster that was made from a database it never may: what that holds is not in the
  /// log, and may be in a folder that no node was given yet.
  std::string Objection(const Meta& meta, int64_t now_ms) const;

 private:
  /// From when until when a node surely had none.
  struct Said {
    std::string incarnation;
    int64_t from_ms = 0, to_ms = 0;
  };
  std::map<std::string, Said> said_;           // nodes that have none
  std::map<std::string, std::string> silent_;  // the others, with the reason
};

}  // namespace seendb::cluster
