// server/replica/policies.h: the engine's collections as the fold of `X.meta` says.
//
// The offset of the record that made a collection tells it from others of its name, at every node
// alike: a shard that comes from another node has the same collections.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/sync.h"
#include "cluster/meta.h"
#include "migration/migration.h"
#include "seendb/engine.h"

namespace seendb::replica {

/// Collections that can't be made or deleted here are problems, and tried again. Threads: Follow
/// from one at a time; problem() from any.
class Policies {
 public:
  /// `changed` is called after each change. `migrations` hear of collections that go; null: there
  /// are none.
  Policies(Engine* engine, std::function<void()> changed, migration::Migrations* migrations)
      : engine_(engine), changed_(std::move(changed)), migrations_(migrations) {}

  /// Brings the engine in line, if that is due: the fold is another one, `shards` (any number that
  /// tells sets of shards apart) is, or something failed a second ago.
  void Follow(const std::shared_ptr<const cluster::Meta>& meta, uint64_t shards);
  /// What can't be done; empty: nothing.
  std::string problem() const;

 private:
  Status BringInLine(const cluster::Meta& meta);
  Status Delete(const std::string& name);

  Engine* const engine_;
  const std::function<void()> changed_;
  migration::Migrations* const migrations_;
  std::shared_ptr<const cluster::Meta> followed_;
  uint64_t shards_ = 0;
  int64_t again_ms_ = 0;  // by the engine's clock; 0: nothing failed
  mutable Mutex mutex_{LockRank::kLeaf};
  std::string problem_ GUARDED_BY(mutex_);
};

}  // namespace seendb::replica
