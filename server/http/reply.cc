#include "http/reply.h"

#include <cassert>
#include <exception>
#include <utility>

#include "http/error.h"

namespace seendb::http {

Reply::Reply(std::weak_ptr<ReplyTo> to, uint64_t number)
    : to_(std::move(to)), number_(number), pending_(true) {}

Reply::Reply(Reply&& other) noexcept
    : to_(std::move(other.to_)),
      number_(other.number_),
      pending_(std::exchange(other.pending_, false)) {}

Reply& Reply::operator=(Reply&& other) noexcept {
  Reply old(std::move(*this));  // answers, where it has not
  to_ = std::move(other.to_);
  number_ = other.number_;
  pending_ = std::exchange(other.pending_, false);
  return *this;
}

Reply::~Reply() {
  if (!pending_) return;
  try {
    Response response;
    WriteError({500, "internal", "the request could not be handled"}, &response);
    Send(std::move(response));
  } catch (const std::exception&) {
    // Out of memory: the request stays unanswered until its connection closes.
  }
}

void Reply::Send(Response response) {
  assert(pending_);
  pending_ = false;
  std::shared_ptr<ReplyTo> to = to_.lock();
  to_.reset();
  if (to == nullptr) return;
  ReplyTo* const connection = to.get();
  connection->Answer(std::move(to), number_, std::move(response));
}

bool Reply::Post(Executor executor, std::function<void(Reply)> job) {
  assert(pending_);
  const std::shared_ptr<ReplyTo> to = to_.lock();
  if (to == nullptr) return false;
  const auto held = std::make_shared<Reply>(std::move(*this));
  const bool taken = to->Post(executor, [held, job = std::move(job)] {
    try {
      job(std::move(*held));
    } catch (const std::exception&) {
      // The job let go of the Reply, which answers 500.
    }
  });
  if (!taken) *this = std::move(*held);
  return taken;
}

}  // namespace seendb::http
