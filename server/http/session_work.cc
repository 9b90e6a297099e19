// The part of Session that says where and when a request is run, and refuses it under load.
//
// A request is judged when its head has come, by the lane that it would wait in: that of its I/O
// thread, or that of the workers. Once its body is complete it waits there. What is refused at its
// head leaves its body unread where that can be dropped in the kernel.

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

#include <boost/asio/post.hpp>
#include <sys/socket.h>

#include "http/probe.h"
#include "http/refusal.h"
#include "http/session.h"

namespace seendb::http {
namespace {

/// One dear request of so many stays, so that the thread's lane learns when they become cheap.
constexpr uint32_t kDearKept = 32;
/// Requests of a pipeline are run one after the other for so long.
constexpr std::chrono::microseconds kPipelined{200};

/// A piece of a stream, of a request that was admitted.
admission::Ticket PieceOf(const admission::Ticket& whole, uint64_t bytes) {
  admission::Ticket piece = whole;
  piece.cls = admission::Class::kStream;
  piece.bytes = bytes;
  piece.timeout = {};
  return piece;
}

}  // namespace

/// At the door: whether what comes next watches nothing.
bool Session::MovesOn() const {
  if (thread_->lane != nullptr || beyond_limit_ || stream_.secure()) return false;
  return JudgeFirstBytes(in_.view()) == FirstBytes::kOther;
}

/// The connection goes on to an I/O thread, and this session has ended.
void Session::MoveOn() {
  Arrival arrival{.socket = stream_.Release(),
                  .connection = std::move(connection_),
                  .counted_peer = std::exchange(counted_peer_, false),
                  .received = std::string(in_.view()),
                  .came = came_at_};
  shared_->counters.open.fetch_add(1, std::memory_order_relaxed);  // Close counts this one out
  Close();
  HandOver(std::move(arrival), shared_);
}

admission::Entry* Session::EntryFor(Executor executor) {
  return executor == Executor::kInline ? &entry_ : &pooled_.entry;
}

/// Whether the request is taken. Otherwise it is answered.
bool Session::AdmitHead() {
  if (plan_.refused || plan_.probe || thread_->lane == nullptr) return true;
  CompleteTicket();
  const admission::Ticket& ticket = plan_.ticket;
  const bool stream = plan_.body == BodyMode::kStream;
  if (plan_.executor == Executor::kInline && !stream &&
      thread_->lane->Estimate(ticket) > thread_->dear &&
      ++thread_->dear_requests % kDearKept != 0) {
    plan_.executor = Executor::kEngine;
  }
  executor_ = left_ > plan_.large_bytes ? plan_.large_executor : plan_.executor;
  admission::Entry* const entry = EntryFor(executor_);
  entry->ticket = ticket;
  admission::Verdict verdict;
  if (executor_ == Executor::kInline) {
    verdict = thread_->lane->Head(entry, began_);
    admitted_by_ = Lane::kThread;
  } else {
    verdict = shared_->PoolOf(executor_).Head(&pooled_, began_);
    admitted_by_ = Lane::kWorkers;
  }
  if (!verdict.admitted()) {
    admitted_by_ = Lane::kNone;
    Refuse(verdict, /*at_head=*/true);
    return false;
  }
  if (stream) LeaveLane();  // its pieces wait, each by itself
  return true;
}

/// Adds what the connection knows of the request.
void Session::CompleteTicket() {
  const admission::Settings& settings = thread_->lane->settings();
  int64_t timeout_ms = head_.timeout_ms > 0 ? head_.timeout_ms : settings.default_timeout_ms;
  timeout_ms = std::min(timeout_ms, settings.max_timeout_ms);
  plan_.ticket.timeout = std::chrono::milliseconds(timeout_ms);
  plan_.ticket.retried = head_.attempt > 0;
  plan_.ticket.first_byte = first_byte_;
  plan_.ticket.bytes = left_;
}

/// Takes the request out of the lane that has admitted it.
void Session::LeaveLane() {
  switch (std::exchange(admitted_by_, Lane::kNone)) {
    case Lane::kNone:
      return;
    case Lane::kThread:
      return thread_->lane->Remove(&entry_);
    case Lane::kWorkers:
      return shared_->PoolOf(executor_).Leave(&pooled_);
  }
}

/// Answers that the request is not taken, and keeps the connection where its body can be dropped.
void Session::Refuse(const admission::Verdict& verdict, bool at_head) {
  const Clock::time_point begun = at_head ? read_at_ : Clock::now();
  const Clock::time_point head_at = began_;
  const bool unread = at_head && head_.HasBody();
  // A new connection costs more than what is dropped: only where there are too many one closes.
  const bool crowded = thread_->Crowded();
  response_.Clear();
  WriteRefusal(verdict, &response_);
  if (plan_.shape_error != nullptr) plan_.shape_error(&response_);
  phase_ = Phase::kBody;
  if (unread) {
    const bool droppable = !head_.chunked && !head_.expects_continue && !crowded &&
                           left_ <= thread_->lane->settings().discard_bytes;
    if (droppable) {
      dropped_left_ = left_;
      transfer_until_ = After(shared_->limits.transfer_ms);
    } else {
      broken_input_ = true;
    }
  }
  if (crowded) response_.close = true;
  if (dropped_left_ > 0) static_cast<void>(DropBody());
  Respond();
  if (phase_ == Phase::kHead && in_.empty()) Write();
  const Clock::time_point now = Clock::now();
  thread_->lane->SpentRefusing(now - begun, now - head_at);
}

/// Only TCP drops bytes that nobody looks at, and only without TLS.
bool Session::DropsInKernel() const { return !stream_.secure() && connection_.family != AF_UNIX; }

/// Drops what has come of the body of a refused request: what was read, and what is in the kernel
/// where that can drop it. False when more is to come.
bool Session::DropBody() {
  const size_t here = std::min<uint64_t>(dropped_left_, in_.size());
  in_.Consume(here);
  dropped_left_ -= here;
  while (dropped_left_ > 0) {
    if (!DropsInKernel()) return false;
    const size_t most = std::min<uint64_t>(dropped_left_, size_t{1} << 30);
    const ssize_t count = recv(stream_.descriptor(), nullptr, most, MSG_TRUNC | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) dropped_left_ = 0;  // the peer has closed, as the next read will tell
    dropped_left_ -= std::min(dropped_left_, static_cast<uint64_t>(count));
    shared_->counters.bytes_in.fetch_add(static_cast<uint64_t>(count), std::memory_order_relaxed);
  }
  return true;
}

Executor Session::ExecutorNow() const {
  return body_.size() > plan_.large_bytes ? plan_.large_executor : plan_.executor;
}

/// Has `job` run when its turn comes, where the request belongs, then `then` on this thread.
void Session::Schedule(Step job, Step then) {
  const Executor executor = ExecutorNow();
  job_ = job;
  then_ = then;
  const bool at_once = plan_.probe || thread_->lane == nullptr;
  if (executor != Executor::kInline) {
    if (admitted_by_ == Lane::kThread) LeaveLane();  // its body turned out to be large
    executor_ = executor;
    return ScheduleOnWorkers();
  }
  if (admitted_by_ == Lane::kWorkers) LeaveLane();
  executor_ = executor;
  scheduled_ = Clock::now();
  if (at_once) return RunNow();
  const bool piece = plan_.body == BodyMode::kStream;
  if (piece) entry_.ticket = PieceOf(plan_.ticket, body_.size() - fed_);
  if (!piece && admitted_by_ == Lane::kNone) entry_.ticket = plan_.ticket;  // it comes again
  if (!piece) entry_.ticket.bytes = body_.size();
  if (scheduled_ + thread_->lane->Estimate(entry_.ticket) < turn_until_) {
    LeaveLane();
    return RunNow();
  }
  if (!out_.empty()) return Write();  // answers of before don't wait; then it comes here again
  const admission::Verdict verdict = thread_->lane->Complete(&entry_, came_at_, scheduled_);
  admitted_by_ = Lane::kNone;
  if (!verdict.admitted()) return Refuse(verdict, /*at_head=*/false);
  admitted_by_ = Lane::kThread;
  phase_ = Phase::kWork;
  self_ = shared_from_this();
}

void Session::RunNow() {
  RunJob();
  (this->*then_)();
}

void Session::RunJob() {
  job_failed_ = false;
  const Clock::time_point began = Clock::now();
  try {
    (this->*job_)();
  } catch (const std::exception&) {
    job_failed_ = true;
  }
  worked_ += Clock::now() - began;
}

void Session::TakeTurn(const admission::Verdict& verdict, Clock::time_point now) {
  const std::shared_ptr<Session> self = std::move(self_);
  admitted_by_ = Lane::kNone;
  if (phase_ == Phase::kHandshake) return AnswerHello(verdict, now);
  waited_ += now - scheduled_;
  if (verdict.admitted()) {
    turn_until_ = now + kPipelined;
    RunJob();
    // What goes on elsewhere, or comes again, may need the entry at once. Otherwise the answer's
    // way into the socket counts as well.
    const bool ends = !plan_.stream && !handling_;
    if (ends) {
      (this->*then_)();
      if (phase_ == Phase::kHead && in_.empty() && !out_.empty()) Write();
    }
    const Clock::time_point done = Clock::now();
    thread_->lane->Done(&entry_, done - now, done);
    if (!ends) (this->*then_)();
  } else {
    Refuse(verdict, /*at_head=*/false);
  }
  Pump();
  turn_until_ = {};
}

void Session::ScheduleOnWorkers() {
  if (!out_.empty()) return Write();  // answers of before don't wait; then it comes here again
  phase_ = Phase::kWork;
  scheduled_ = Clock::now();
  const bool piece = plan_.body == BodyMode::kStream;
  if (piece) pooled_.entry.ticket = PieceOf(plan_.ticket, body_.size() - fed_);
  if (!piece && admitted_by_ == Lane::kNone) {  // another lane passes it on
    pooled_.entry.ticket = plan_.ticket;
    pooled_.entry.ticket.bytes = body_.size();
  }
  admitted_by_ = Lane::kNone;
  WorkerPool& pool = shared_->PoolOf(executor_);
  at_worker_ = true;
  const auto entered =
      pool.Enter(&pooled_, came_at_, scheduled_,
                 [self = shared_from_this(), posted = scheduled_](
                     const admission::Verdict& verdict) { self->OnWorker(verdict, posted); });
  if (entered && entered->admitted()) return;
  at_worker_ = false;
  if (!entered) return Fail({503, "busy", "too much work in flight"});
  Refuse(*entered, /*at_head=*/false);
}

/// On a worker.
void Session::OnWorker(const admission::Verdict& verdict, Clock::time_point posted) {
  const Clock::time_point begun = Clock::now();
  CountWait(executor_, begun - posted);
  if (verdict.admitted()) {
    RunJob();
    shared_->PoolOf(executor_).Done(&pooled_, Clock::now() - begun);
  }
  boost::asio::post(stream_.get_executor(), [session = shared_from_this(), verdict] {
    session->at_worker_ = false;
    if (session->phase_ == Phase::kDone) return;
    if (verdict.admitted()) {
      (session.get()->*(session->then_))();
    } else {
      session->Refuse(verdict, /*at_head=*/false);
    }
    session->Pump();
  });
}

bool Session::PostToWorkers(Executor executor, Step job, Step then) {
  phase_ = Phase::kWork;
  job_ = job;
  then_ = then;
  executor_ = executor;
  at_worker_ = true;
  const bool posted =
      shared_->PoolOf(executor).Post([self = shared_from_this(), since = Clock::now()] {
        const Clock::time_point begun = Clock::now();
        self->CountWait(self->executor_, begun - since);
        self->RunJob();
        const auto io = self->stream_.get_executor();
        boost::asio::post(io, [self] {
          self->at_worker_ = false;
          if (self->phase_ == Phase::kDone) return;
          (self.get()->*(self->then_))();
          self->Pump();
        });
      });
  if (!posted) at_worker_ = false;
  return posted;
}

/// Called by the thread that has the request.
void Session::CountWait(Executor executor, Clock::duration waited) {
  waited_ += waited;
  shared_->QueueWaitsOf(executor).Add(waited);
}

}  // namespace seendb::http
