// The part of Session that waits for something without holding a thread: until what Resume made is
// called or a limit has passed.

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "http/session.h"
#include "http/wait.h"

namespace seendb::http {

std::function<void(std::shared_ptr<void>)> Session::Resume() {
  return [weak = weak_from_this(), number = ++wait_number_](std::shared_ptr<void> given) {
    std::shared_ptr<Session> self = weak.lock();
    if (self == nullptr) return;
    const auto executor = self->stream_.get_executor();
    boost::asio::post(executor, [session = std::move(self), number, given]() mutable {
      session->Resumed(number, std::move(given));
    });
  };
}

Waiting::Came Session::Take() { return std::exchange(came_, {}); }

/// Runs `again` once resumed; that may have been before.
void Session::AwaitCall(int64_t limit_us, void (Session::*again)()) {
  after_wait_ = again;
  waits_since_ = Clock::now();
  phase_ = Phase::kWork;
  waits_ = true;
  self_ = shared_from_this();
  if (resumed_) return EndWait();
  if (limit_us <= 0) return;
  wait_limit_.emplace(stream_.get_executor());
  wait_limit_->expires_after(std::chrono::microseconds(limit_us));
  wait_limit_->async_wait(
      [weak = weak_from_this(), number = wait_number_.load()](const boost::system::error_code& ec) {
        const std::shared_ptr<Session> session = weak.lock();
        if (ec || session == nullptr || !session->waits_ || number != session->wait_number_) return;
        session->EndWait();
        session->Pump();
      });
}

void Session::Resumed(uint64_t number, std::shared_ptr<void> given) {
  if (phase_ == Phase::kDone || number != wait_number_) return;
  came_.given = std::move(given);
  resumed_ = true;
  if (!waits_) return;  // the handler is still about to say that it waits
  EndWait();
  Pump();
}

void Session::EndWait() {
  ++wait_number_;
  waits_ = resumed_ = false;
  wait_limit_.reset();
  const std::shared_ptr<Session> self = std::move(self_);
  const Clock::time_point now = Clock::now();
  const Clock::duration waited = now - waits_since_;
  waited_ += waited;
  came_.waited_us = 1 + std::chrono::duration_cast<std::chrono::microseconds>(waited).count();
  if (Wait* const wait = handling_.wait()) wait->came = Take();
  (this->*after_wait_)();
}

/// The request is answered: what still comes for it is dropped.
void Session::ForgetWaits() {
  wait_number_.store(wait_number_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  resumed_ = false;
  came_ = {};
}

}  // namespace seendb::http
