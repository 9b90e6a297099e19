// tests/simulation/middle.h: a deed in the middle of an operation.

#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "simulation/deed.h"

namespace seendb::simulation {

/// While it lives, the deed is called at the `skip`-th point of the disk, on a thread of its own.
/// The operation at that point waits for it, but not for long: the deed may have to wait for the
/// operation. What the model makes of it is the same either way.
class Middle {
 public:
  Middle(World* world, int64_t skip, const Operation& operation);
  ~Middle();
  Middle(const Middle&) = delete;
  Middle& operator=(const Middle&) = delete;

  /// The operation around it is over: waits for the deed; one that did not come to its point yet is
  /// done now.
  void Finish();
  /// After Finish: takes the outcome to the model.
  Status Account() { return deed_.Account(false); }
  const Operation& operation() const { return deed_.operation(); }

 private:
  void AtPoint();

  World* const world_;
  Deed deed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace seendb::simulation
