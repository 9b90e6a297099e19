// tests/simulation/history_call.h: one call about history: made first, on any thread, and then told
// to the model.

#pragma once

#include <vector>

#include "simulation/world.h"

namespace seendb::simulation {

/// A page or more, a look-up, a deletion, a clear, a pause or its end. The world and the operation
/// are borrowed.
class HistoryCall {
 public:
  /// Whether it is one of these.
  static bool Is(Verb verb);
  HistoryCall(World* world, const Operation& operation) : world_(*world), operation_(operation) {}

  /// As UserCall's.
  void Call();
  Status Account(bool alone);

 private:
  Model& model() { return world_.model(); }
  bool Writes() const;
  bool Forgets() const;
  bool Known(const std::vector<std::string>& collections);
  bool Answerable();
  Status CallPages(Reading reading, int64_t pages);
  void AccountPages(bool alone);
  void AccountLookup(bool alone);
  void AccountWrite();

  World& world_;
  const Operation& operation_;
  Status status_;
  std::vector<HistoryPage> pages_;
  HistoryLookup found_;
};

}  // namespace seendb::simulation
