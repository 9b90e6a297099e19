// tests/simulation/middle.h: a call in the middle of an operation.

#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "simulation/user_call.h"

namespace seendb::simulation {

/// While it lives, the call is called at the `skip`-th point of the disk, on a thread of its own.
/// The operation at that point waits for it, but not for long: the call may have to wait for the
/// operation. What the model makes of it is the same either way.
class Middle {
 public:
  Middle(World* world, int64_t skip, const Operation& operation);
  ~Middle();
  Middle(const Middle&) = delete;
  Middle& operator=(const Middle&) = delete;

  /// The operation around it is over: waits for the call; one that did not come to its point yet is
  /// done now.
  void Finish();
  /// After Finish: takes the outcome to the model.
  Status Account() { return call_.Account(false); }
  const Operation& operation() const { return call_.operation(); }

 private:
  void AtPoint();

  World* const world_;
  UserCall call_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace seendb::simulation
