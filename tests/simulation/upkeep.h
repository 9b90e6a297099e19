// tests/simulation/upkeep.h: what is done to the database rather than to users: drains, seals,
// drops, checkpoints and looks at it.

#pragma once

#include "simulation/middle.h"

namespace seendb::simulation {

/// See the head of this file. The world is borrowed.
class Upkeep {
 public:
  /// Whether something else may be done in the middle of it.
  static bool Is(Verb verb);
  explicit Upkeep(World* world) : world_(*world) {}

  /// One operation, with `middle` in the middle of it unless null; then recovers.
  void Do(const Operation& operation, Middle* middle);
  Status Verify();
  void Stats();

 private:
  Engine& engine() { return world_.engine(); }
  Model& model() { return world_.model(); }
  Status DoOne(const Operation& operation);
  Status Over(Status status);
  Status Drained(Status status);
  Status Seal(const Operation& operation);
  void ReadOnly();
  Status Checkpoint();
  void CheckCopy(const std::string& path);

  World& world_;
  Middle* middle_ = nullptr;
  int copies_ = 0;
};

}  // namespace seendb::simulation
