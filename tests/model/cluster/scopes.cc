// The small worlds of the cluster's models, and the bounds of all of them. Those whose names end
// with
// "-large" are explored by tools/torture alone, as far as memory allows.

#include "model/cluster/lead_world.h"
#include "model/cluster/log_world.h"
#include "model/cluster/move_world.h"

namespace seendb::cluster_model {

std::vector<Scope> LogScopes() {
  return {
      {"log",
       "any node appends; processes die",
       {.records = 3, .writes = 2, .faults = 1},
       {"append", "append-unknown", "tell-pending", "apply", "crash", "start"}},
      {"shards",
       "two shards of the same nodes",
       {.nodes = 2, .shards = 2, .records = 2, .writes = 1, .faults = 2},
       {"append", "apply", "crash", "start", "tell-pending"}},
      {"power",
       "power cuts lose what was not synced",
       {.nodes = 2, .records = 3, .writes = 2, .faults = 2},
       {"append", "apply", "sync", "power-cut", "crash", "start", "tell-pending"}},
      {"erasure",
       "erasures among repeated and reordered plays",
       {.nodes = 2, .records = 4, .writes = 3, .faults = 1},
       {"append", "append-unknown", "apply", "apply-torn", "start"}},
      {"head",
       "the log loses its head; copies take the place of what it left behind",
       {.records = 3, .writes = 2, .faults = 3},
       {"append", "apply", "lose-head", "notice", "copy", "sync", "crash", "start", "lose-disk"}},
      {"again",
       "a collection is made again while its plays are under way",
       {.nodes = 2, .records = 3, .writes = 2, .changes = 2, .faults = 1},
       {"append", "apply", "make-again", "read-meta", "crash", "start"}},
      {"copied",
       "a node that has read less of X.meta fetches a copy",
       {.nodes = 2, .records = 2, .writes = 1, .changes = 2, .faults = 1},
       {"append", "apply", "make-again", "read-meta", "lose-disk", "start", "copy"}},
      {"versions",
       "older nodes, and records that they can't read",
       {.records = 2, .writes = 1, .changes = 1, .faults = 1, .older = true},
       {"append", "apply", "upgrade", "raise", "read-meta", "crash", "start"}},
      {"log-large",
       "three nodes, two shards, four records of each",
       {.shards = 2, .records = 4, .writes = 3, .faults = 2},
       {"append", "append-unknown", "tell-pending", "apply", "apply-torn", "sync", "crash",
        "power-cut", "start", "lose-head", "notice", "lose-disk", "copy"}},
  };
}

std::vector<Scope> MoveScopes() {
  return {
      {"moves",
       "two commands at once; each node follows at its own pace",
       {.changes = 2, .faults = 0},
       {"propose", "write", "read-meta", "probe", "fetch", "catch-up", "lag", "minute", "drop"}},
      {"empty",
       "disks are lost, and nodes start while others ask who has the shard",
       {.changes = 1, .faults = 2},
       {"propose", "write", "read-meta", "probe", "fetch", "catch-up", "minute", "drop",
        "begin-empty", "lose-disk", "start", "opened"}},
      {"past",
       "the same in a cluster that was made from a database",
       {.changes = 0, .faults = 2, .has_past = true},
       {"probe", "fetch", "catch-up", "begin-empty", "crash", "lose-disk", "start", "opened"}},
      {"moves-large",
       "three changes, and nodes that die",
       {.changes = 3, .faults = 1},
       {"propose", "write", "read-meta", "probe", "fetch", "catch-up", "lag", "minute", "drop",
        "crash", "start", "opened"}},
  };
}

std::vector<Scope> LeadScopes() {
  return {
      {"lead",
       "a node dies, another takes over",
       {.records = 2, .faults = 1},
       {"write", "apply", "hear", "lag", "probe", "crash", "start", "ask"}},
      {"cut-off",
       "a node is cut off from the log",
       {.records = 1, .faults = 1},
       {"write", "apply", "hear", "lag", "cut", "fail-append", "mend", "probe", "ask"}},
      {"lead-large",
       "both, and more of it",
       {.records = 3, .faults = 2},
       {"write", "apply", "hear", "lag", "cut", "fail-append", "mend", "probe", "crash", "start",
        "ask"}},
  };
}

}  // namespace seendb::cluster_model
