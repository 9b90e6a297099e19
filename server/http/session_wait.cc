// The part of Session that waits for something without holding a thread: until what Resume made is
// called or a limit has passed, or until a Reply is sent.

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "http/session.h"

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

void Session::GiveBack(Came came) { came_ = std::move(came); }

/// Runs `again` once resumed; that may have been before.
void Session::Wait(int64_t limit_us, void (Session::*again)()) {
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
  const Clock::duration worked =
      after_wait_ == &Session::Replied ? ReplyWorked(now) : waited.zero();
  worked_ += worked;
  waited_ += waited - worked;
  came_.waited_us = 1 + std::chrono::duration_cast<std::chrono::microseconds>(waited).count();
  (this->*after_wait_)();
}

/// How long the job took that a Reply was posted to workers with; zero where there was none.
Session::Clock::duration Session::ReplyWorked(Clock::time_point now) const {
  const Clock::time_point begun = reply_job_began_.load(std::memory_order_relaxed);
  if (begun == Clock::time_point()) return {};
  return now - std::max(begun, waits_since_);
}

/// The request is answered: what still comes for it is dropped.
void Session::ForgetWaits() {
  wait_number_.store(wait_number_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  resumed_ = false;
  came_ = {};
}

Reply Session::Defer() {
  deferred_ = true;
  reply_job_began_.store({}, std::memory_order_relaxed);
  return {std::shared_ptr<ReplyTo>(shared_from_this(), this), ++wait_number_};
}

void Session::Answer(std::shared_ptr<ReplyTo> self, uint64_t number, Response response) {
  auto given = std::make_shared<Response>(std::move(response));
  boost::asio::post(stream_.get_executor(),
                    [this, self = std::move(self), number, given = std::move(given)]() mutable {
                      Resumed(number, std::move(given));
                    });
}

bool Session::Post(Executor executor, std::function<void()> job) {
  return shared_->PoolOf(executor).Post([weak = weak_from_this(), shared = shared_, executor,
                                         posted = Clock::now(), job = std::move(job)] {
    const Clock::time_point begun = Clock::now();
    shared->QueueWaitsOf(executor).Add(begun - posted);
    if (const auto self = weak.lock()) {
      self->reply_job_began_.store(begun, std::memory_order_relaxed);
    }
    job();
  });
}

void Session::Replied() {
  response_ = std::move(*std::static_pointer_cast<Response>(came_.given));
  deferred_ = false;
  RespondEncoded();
}

}  // namespace seendb::http
