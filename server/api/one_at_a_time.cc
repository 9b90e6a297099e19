#include "api/one_at_a_time.h"

#include <exception>
#include <utility>

#include "api/context.h"
#include "http/error.h"

namespace seendb::api {

void OneAtATime::Run(Call& call, Job job) {
  {
    const MutexLock lock(mutex_);
    if (running_ && waiting_.size() >= limit_) {
      return http::WriteError({503, "busy", "too much work in flight"}, &call.response);
    }
    if (running_) {
      waiting_.push_back({call.Defer(), std::move(job)});
      return;
    }
    running_ = true;
  }
  const Turn turn(this);
  job(&call.response);
}

/// The first of those that wait; where none does, the next request may run at once.
bool OneAtATime::TakeNext(Waiter* next) {
  const MutexLock lock(mutex_);
  running_ = !waiting_.empty();
  if (!running_) return false;
  *next = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

void OneAtATime::RunNext() noexcept {
  Waiter next;
  while (TakeNext(&next)) {
    try {
      const bool posted =
          next.reply.Post(http::Executor::kSlow, [this, job = next.job](http::Reply reply) {
            const Turn turn(this);
            http::Response response;
            job(&response);
            reply.Send(std::move(response));
          });
      if (posted) return;
      http::Response refused;
      http::WriteError({503, "busy", "too much work in flight"}, &refused);
      next.reply.Send(std::move(refused));
    } catch (const std::exception&) {
      // Out of memory: the Reply answers 500.
    }
  }
}

}  // namespace seendb::api
