#include "simulation/middle.h"

#include <chrono>

namespace seendb::simulation {

Middle::Middle(World* world, int64_t skip, const Operation& operation)
    : world_(world), call_(world, operation) {
  world_->points().Arm(skip, [this] { AtPoint(); });
}

Middle::~Middle() {
  world_->points().Disarm();
  if (thread_.joinable()) thread_.join();
}

void Middle::AtPoint() {
  std::unique_lock lock(mutex_);
  thread_ = std::thread([this] {
    call_.Call();
    const std::lock_guard done(mutex_);
    done_ = true;
    changed_.notify_all();
  });
  changed_.wait_for(lock, std::chrono::milliseconds(300), [this] { return done_; });
}

void Middle::Finish() {
  world_->points().Disarm();
  if (thread_.joinable()) return thread_.join();
  if (!done_) call_.Call();
  done_ = true;
}

}  // namespace seendb::simulation
