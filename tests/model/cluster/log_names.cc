// Names of the log's model: nodes and shards are alike; and its states as text.

#include <algorithm>
#include <cstring>

#include "model/cluster/log_world.h"

namespace seendb::cluster_model {

namespace {

bool HasBit(uint8_t mask, int bit) { return (mask >> bit & 1) != 0; }
void SetBit(uint8_t* mask, int bit) { *mask = static_cast<uint8_t>(*mask | 1 << bit); }

LogState Under(const LogState& state, const LogWorld::Names& names) {
  LogState renamed = state;
  renamed.up = renamed.readers = 0;
  for (int node = 0; node < kNodes; ++node) {
    const int from = names.nodes[node];
    if (HasBit(state.up, from)) SetBit(&renamed.up, node);
    if (HasBit(state.readers, from)) SetBit(&renamed.readers, node);
    renamed.read[node] = state.read[from];
    renamed.made[node] = state.made[from];
    for (int shard = 0; shard < kShards; ++shard) {
      renamed.awaited[node][shard] = state.awaited[from][names.shards[shard]];
      renamed.replicas[node][shard] = state.replicas[from][names.shards[shard]];
    }
  }
  for (int shard = 0; shard < kShards; ++shard) {
    const int from = names.shards[shard];
    std::copy(std::begin(state.log[from]), std::end(state.log[from]), renamed.log[shard]);
    renamed.count[shard] = state.count[from];
    renamed.begin[shard] = state.begin[from];
    renamed.acked[shard] = state.acked[from];
    renamed.taken[shard] = state.taken[from];
  }
  return renamed;
}

}  // namespace

// Nodes are alike, and so are shards.
LogState LogWorld::Canonical(const Bounds& bounds, const State& state, Names* names) {
  State least = state;
  Names best;
  Names one;
  do {
    for (const bool exchanged : {false, true}) {
      if (exchanged && bounds.shards < 2) continue;
      one.shards[0] = exchanged ? 1 : 0;
      one.shards[1] = exchanged ? 0 : 1;
      const State renamed = Under(state, one);
      if (std::memcmp(&renamed, &least, sizeof renamed) >= 0) continue;
      least = renamed;
      best = one;
    }
  } while (std::next_permutation(one.nodes, one.nodes + bounds.nodes));
  if (names != nullptr) *names = best;
  return least;
}

Action LogWorld::Renamed(const Action& action, const Names& names) {
  Action renamed = action;
  renamed.node = names.nodes[action.node];
  renamed.other = names.nodes[action.other];
  renamed.shard = names.shards[action.shard];
  return renamed;
}

std::string LogWorld::Text(const Bounds& bounds, const State& state) {
  std::string text;
  for (int shard = 0; shard < bounds.shards; ++shard) {
    text +=
        "log of s" + std::to_string(shard) + ", from " + std::to_string(state.begin[shard]) + ":";
    for (int offset = 0; offset < state.count[shard]; ++offset) {
      const Record& record = state.log[shard][offset];
      text += " w" + std::to_string(record.write - 1) + "@" + std::to_string(record.read_at);
      if (HasBit(state.acked[shard], offset)) text += "(acked)";
    }
    text += "\n";
    for (int node = 0; node < bounds.nodes; ++node) {
      const Replica& replica = state.replicas[node][shard];
      text += "  n" + std::to_string(node) + (HasBit(state.up, node) ? " up" : " down");
      text += ", X.meta to " + std::to_string(state.read[node]);
      if (replica.held == 0) text += ", nothing";
      for (const Content& content : {replica.now, replica.safe}) {
        text += ", next " + std::to_string(content.next) + " plays " +
                std::to_string(content.plays) + " erased " + std::to_string(content.erased);
      }
      text += ", stopped " + std::to_string(replica.stopped) + "\n";
    }
  }
  return text;
}

}  // namespace seendb::cluster_model
