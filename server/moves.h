// server/moves.h: a node's shards on their way: those that it fetches from other nodes, and the
// copies that it gives to them.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "api/context.h"
#include "cluster/view.h"
#include "membership/node.h"
#include "ops/metrics.h"
#include "seendb/engine.h"
#include "transfer/fetcher.h"
#include "transfer/snapshots.h"

namespace seendb {

/// See the head of this file. Threads: Start and Stop from one; others from any.
class Moves {
 public:
  /// Borrows `node`, which is prepared. `db`: the folder of the database.
  Moves(membership::Node* node, const std::string& db, transfer::StoreCopies stores);

  /// Gives copies from now on. What attempts of before have brought of shards that the placement no
  /// longer wants here goes.
  Status Start(Engine* engine);
  /// Copies end. Fetches end by their own `stopping`.
  void Stop() { snapshots_.Stop(); }

  /// Answers a call below /internal/shards/.
  http::Task<> Answer(api::Call& call);
  /// See replica::FetchShard.
  Result<std::string> Fetch(uint32_t partition, int64_t least,
                            const std::function<bool()>& stopping);
  /// Those that are on their way here.
  std::map<uint32_t, cluster::CopyProgress> Copies() const;
  void FillMetrics(ops::MetricsSnapshot* to) const;

 private:
  membership::Node& node_;
  transfer::Snapshots snapshots_;
  transfer::Fetcher fetcher_;
};

}  // namespace seendb
