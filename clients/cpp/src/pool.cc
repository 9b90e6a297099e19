#include "pool.h"

namespace seendb::client::internal {
namespace {

constexpr std::chrono::seconds kIdleMost{50};
constexpr std::chrono::hours kStepMost{24};  // EndBy sets the limits

}  // namespace

std::unique_ptr<Pool::Lease> Pool::Take(Clock::time_point end) {
  std::unique_lock lock(mutex_);
  if (!given_.wait_until(lock, end, [this] { return free_ > 0; })) return nullptr;
  --free_;
  std::unique_ptr<net::HttpConnection> connection;
  if (!idle_.empty() && Clock::now() - idle_.back().since < kIdleMost) {
    connection = std::move(idle_.back().connection);
    idle_.pop_back();
  } else {
    idle_.clear();  // the newest is too old: so are the others
    connection = std::make_unique<net::HttpConnection>(target_, files_, kStepMost);
  }
  return std::make_unique<Lease>(this, std::move(connection));
}

void Pool::Give(std::unique_ptr<net::HttpConnection> connection) {
  const std::lock_guard lock(mutex_);
  ++free_;
  if (connection) idle_.push_back({.connection = std::move(connection), .since = Clock::now()});
  given_.notify_one();
}

void Pool::CloseIdle() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

}  // namespace seendb::client::internal
