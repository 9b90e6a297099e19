#include "http/request_turn.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/post.hpp>

#include "admission/tenants.h"

namespace seendb::http {
namespace {

/// One dear request of so many stays, so that the thread's lane learns when they become cheap.
constexpr uint32_t kDearKept = 32;
/// Requests of a pipeline are run one after the other for so long.
constexpr std::chrono::microseconds kPipelined{200};
/// The work of a stream that is a turn of its tenant's rate.
constexpr std::chrono::duration<double> kWorkOfTurn{0.1};

/// A piece of a stream, of a request that was admitted.
admission::Ticket PieceOf(const admission::Ticket& whole, uint64_t bytes) {
  admission::Ticket piece = whole;
  piece.cls = admission::Class::kStream;
  piece.bytes = bytes;
  piece.timeout = {};
  return piece;
}

/// Adds what the connection knows of the request.
void CompleteTicket(const admission::Settings& settings, const RequestHead& head,
                    admission::Ticket* ticket) {
  int64_t timeout_ms = head.timeout_ms > 0 ? head.timeout_ms : settings.default_timeout_ms;
  timeout_ms = std::min(timeout_ms, settings.max_timeout_ms);
  ticket->timeout = std::chrono::milliseconds(timeout_ms);
  ticket->retried = head.attempt > 0;
}

}  // namespace

RequestTurn::RequestTurn(Loop* loop, Session* owner, IoThread* thread,
                         boost::asio::any_io_executor executor)
    : loop_(loop), thread_(thread), shared_(thread->shared), io_(std::move(executor)) {
  entry_.owner = owner;
}

admission::Verdict RequestTurn::Admit(Plan* plan, const RequestHead& head, uint64_t bytes,
                                      Clock::time_point first_byte, Clock::time_point now) {
  if (plan->refused || plan->probe || thread_->lane == nullptr) return {};
  admission::Ticket& ticket = plan->ticket;
  CompleteTicket(thread_->lane->settings(), head, &ticket);
  ticket.first_byte = first_byte;
  ticket.bytes = bytes;
  const bool stream = plan->body == BodyMode::kStream;
  if (plan->executor == Executor::kInline && !stream &&
      thread_->lane->Estimate(ticket) > thread_->dear &&
      ++thread_->dear_requests % kDearKept != 0) {
    plan->executor = Executor::kEngine;
  }
  executor_ = bytes > plan->large_bytes ? plan->large_executor : plan->executor;
  admission::Verdict verdict;
  if (executor_ == Executor::kInline) {
    entry_.ticket = ticket;
    verdict = thread_->lane->Head(&entry_, now);
    in_ = In::kThread;
  } else {
    pooled_.entry.ticket = ticket;
    verdict = shared_->PoolOf(executor_).Head(&pooled_, now);
    in_ = In::kWorkers;
  }
  if (!verdict.admitted()) in_ = In::kNone;
  if (stream) Leave();
  return verdict;
}

bool RequestTurn::RunsNow(const Plan& plan, size_t body_bytes, size_t piece_bytes) {
  const Executor executor = body_bytes > plan.large_bytes ? plan.large_executor : plan.executor;
  const bool inlined = executor == Executor::kInline;
  // Its body turned out to be large, or small.
  if (in_ == (inlined ? In::kWorkers : In::kThread)) Leave();
  executor_ = executor;
  scheduled_ = Clock::now();
  if (inlined && (plan.probe || thread_->lane == nullptr)) return true;
  admission::Ticket& ticket = (inlined ? entry_ : pooled_.entry).ticket;
  if (plan.body == BodyMode::kStream) {
    ticket = PieceOf(plan.ticket, piece_bytes);
  } else {
    if (in_ == In::kNone) ticket = plan.ticket;  // it comes again, or another lane passes it on
    if (inlined || in_ == In::kNone) ticket.bytes = body_bytes;
  }
  if (!inlined || scheduled_ + thread_->lane->Estimate(ticket) >= pipelined_until_) return false;
  Leave();
  return true;
}

std::optional<admission::Verdict> RequestTurn::Enter(Clock::time_point came, Job job) {
  in_ = In::kNone;
  if (executor_ == Executor::kInline) {
    const admission::Verdict verdict = thread_->lane->Complete(&entry_, came, scheduled_);
    if (!verdict.admitted()) return verdict;
    in_ = In::kThread;
    kept_ = loop_->shared_from_this();
    return verdict;
  }
  job_ = job;
  away_ = true;
  auto entered = shared_->PoolOf(executor_).Enter(
      &pooled_, came, scheduled_,
      [this, held = loop_->shared_from_this(),
       posted = scheduled_](const admission::Verdict& verdict) { OnWorker(verdict, posted); });
  if (!entered || !entered->admitted()) away_ = false;
  return entered;
}

/// On a worker.
void RequestTurn::OnWorker(const admission::Verdict& verdict, Clock::time_point posted) {
  const Clock::time_point begun = Clock::now();
  CountWaitFor(executor_, begun - posted);
  if (verdict.admitted()) {
    Run(job_);
    shared_->PoolOf(executor_).Done(&pooled_, Clock::now() - begun);
  }
  Back(verdict);
}

/// On a worker: the loop goes on.
void RequestTurn::Back(const admission::Verdict& verdict) {
  boost::asio::post(io_, [this, held = loop_->shared_from_this(), verdict] {
    away_ = false;
    verdict_ = verdict;
    loop_->Came(Loop::Event::kWork, true);
  });
}

bool RequestTurn::Post(Executor executor, Job job) {
  job_ = job;
  executor_ = executor;
  away_ = true;
  const bool posted = shared_->PoolOf(executor).Post(
      [this, held = loop_->shared_from_this(), since = Clock::now()] {
        CountWaitFor(executor_, Clock::now() - since);
        Run(job_);
        Back({});
      });
  if (!posted) away_ = false;
  return posted;
}

admission::Verdict RequestTurn::EnterHello(const admission::Ticket& ticket,
                                           Clock::time_point came) {
  const Clock::time_point now = ticket.first_byte;
  entry_.ticket = ticket;
  admission::Verdict verdict = thread_->lane->Head(&entry_, now);
  if (verdict.admitted()) verdict = thread_->lane->Complete(&entry_, came, now);
  if (!verdict.admitted()) return verdict;
  scheduled_ = now;
  in_ = In::kThread;
  kept_ = loop_->shared_from_this();
  return verdict;
}

std::shared_ptr<Loop> RequestTurn::Came(const admission::Verdict& verdict, Clock::time_point now) {
  in_ = In::kNone;
  waited_ += now - scheduled_;
  verdict_ = verdict;
  runs_ = verdict.admitted();
  began_ = now;
  if (runs_) pipelined_until_ = now + kPipelined;
  return std::move(kept_);
}

void RequestTurn::Run(Job job) {
  failed_ = false;
  const Clock::time_point began = Clock::now();
  try {
    job();
  } catch (const std::exception&) {
    failed_ = true;
  }
  worked_ += Clock::now() - began;
}

void RequestTurn::BeginRefusal(Clock::time_point begun, Clock::time_point head_at) {
  refuses_ = true;
  began_ = begun;
  head_at_ = head_at;
}

void RequestTurn::End() {
  const bool runs = std::exchange(runs_, false), refuses = std::exchange(refuses_, false);
  if (!runs && !refuses) return;
  const Clock::time_point now = Clock::now();
  if (runs) thread_->lane->Done(&entry_, now - began_, now);
  if (refuses) thread_->lane->SpentRefusing(now - began_, now - head_at_);
}

void RequestTurn::Leave() {
  switch (std::exchange(in_, In::kNone)) {
    case In::kNone:
      return;
    case In::kThread:
      return thread_->lane->Remove(&entry_);
    case In::kWorkers:
      return shared_->PoolOf(executor_).Leave(&pooled_);
  }
}

std::shared_ptr<Loop> RequestTurn::Close() {
  End();
  Leave();
  return std::move(kept_);
}

/// Called by the thread that has the request.
void RequestTurn::CountWaitFor(Executor executor, Clock::duration waited) {
  CountWait(waited);
  shared_->QueueWaitsOf(executor).Add(waited);
}

void RequestTurn::ChargeTenant(admission::Tenant* tenant, size_t bytes, size_t body_bytes) {
  const Clock::duration work = worked_ - std::exchange(charged_work_, worked_);
  if (tenant == nullptr) return;
  const double by_bytes = static_cast<double>(bytes) / static_cast<double>(body_bytes);
  const double by_work = std::chrono::duration<double>(work) / kWorkOfTurn;
  const Clock::time_point now = Clock::now();
  tenant->Charge(std::max(by_bytes, by_work), now);
  tenant->AddBytes(bytes, now);
}

}  // namespace seendb::http
