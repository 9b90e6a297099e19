#include "http/call_wait.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace seendb::http {

CallWait::CallWait(Loop* loop, boost::asio::any_io_executor executor)
    : loop_(loop), executor_(std::move(executor)) {}

std::function<void(std::shared_ptr<void>)> CallWait::Resume() {
  return [this, weak = loop_->weak_from_this(), number = ++number_](std::shared_ptr<void> given) {
    std::shared_ptr<Loop> loop = weak.lock();
    if (loop == nullptr) return;
    const boost::asio::any_io_executor executor = executor_;
    boost::asio::post(executor, [this, held = std::move(loop), number, given]() mutable {
      Resumed(number, std::move(given));
    });
  };
}

Waiting::Came CallWait::Take() { return std::exchange(came_, {}); }

bool CallWait::Begin(int64_t limit_us) {
  since_ = Clock::now();
  if (resumed_) {
    End();
    return false;
  }
  waits_ = true;
  kept_ = loop_->shared_from_this();
  if (limit_us <= 0) return true;
  limit_.emplace(executor_);
  limit_->expires_after(std::chrono::microseconds(limit_us));
  limit_->async_wait([this, weak = loop_->weak_from_this(),
                      number = number_.load()](const boost::system::error_code& ec) {
    const std::shared_ptr<Loop> held = weak.lock();
    if (ec || held == nullptr || !waits_ || number != number_) return;
    GoOn();
  });
  return true;
}

void CallWait::Resumed(uint64_t number, std::shared_ptr<void> given) {
  if (closed_ || number != number_) return;
  came_.given = std::move(given);
  resumed_ = true;
  if (waits_) GoOn();  // otherwise the handler is still about to say that it waits
}

void CallWait::GoOn() {
  const std::shared_ptr<Loop> kept = std::move(kept_);
  End();
  loop_->Came(Loop::Event::kWork, true);
}

void CallWait::End() {
  ++number_;
  waits_ = resumed_ = false;
  limit_.reset();
  waited_ = Clock::now() - since_;
  came_.waited_us = 1 + std::chrono::duration_cast<std::chrono::microseconds>(waited_).count();
}

void CallWait::Forget() {
  number_.store(number_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  resumed_ = false;
  came_ = {};
}

std::shared_ptr<Loop> CallWait::Close() {
  closed_ = true;
  waits_ = false;
  came_ = {};
  limit_.reset();
  return std::move(kept_);
}

}  // namespace seendb::http
