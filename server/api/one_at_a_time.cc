#include "api/one_at_a_time.h"

#include <exception>
#include <utility>

namespace seendb::api {

http::Task<OneAtATime::Turn> OneAtATime::Enter() {
  if (Begin()) co_return Turn(this);
  Turn turn = co_await http::Given<Turn>([this](http::Give<Turn> give) { Queue(std::move(give)); });
  if (turn && !co_await http::OnWorker(http::Executor::kSlow)) co_return Turn(nullptr);
  co_return std::move(turn);
}

/// Whether nobody had the turn. Then the caller has it.
bool OneAtATime::Begin() {
  const MutexLock lock(mutex_);
  return !std::exchange(running_, true);
}

void OneAtATime::Queue(http::Give<Turn> give) {
  bool full = false;
  {
    const MutexLock lock(mutex_);
    full = running_ && waiting_.size() >= limit_;
    if (running_ && !full) return waiting_.push_back(std::move(give));
    if (!full) running_ = true;
  }
  give(Turn(full ? nullptr : this));
}

/// The first of those that wait has the turn; where its connection is gone, its turn ends at once.
void OneAtATime::GiveNext() noexcept {
  try {
    std::optional<http::Give<Turn>> next;
    {
      const MutexLock lock(mutex_);
      running_ = !waiting_.empty();
      if (!running_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    (*next)(Turn(this));
  } catch (const std::exception&) {
    // Out of memory: that request is answered 500, and its turn has ended.
  }
}

}  // namespace seendb::api
