// server/http/request_turn.h: where and when a request is run, or refused for the load.
//
// A request is judged when its head has come (Admit), by the lane that it would wait in: that of
// its I/O thread, or that of the workers. Once its body is complete it waits there (Enter). A
// stream is judged at its head as well; then its pieces wait, each by itself.
//
//   if (turn.RunsNow(plan, ...)) return turn.Run(job);
//   entered = turn.Enter(came, job);   // refused, or the loop pauses until its turn
//   turn.verdict();                    // run it (a worker has done so), or refuse it after all
//   turn.End();                        // the thread has done all that the turn was for

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "admission/lane.h"
#include "http/executor.h"
#include "http/io_thread.h"
#include "http/loop.h"
#include "http/message.h"
#include "http/service.h"
#include "http/worker_pool.h"

namespace seendb::http {

/// See the head of this file. Threads: the connection's I/O thread, but for Run, and what it
/// changes, on the thread that has the request.
class RequestTurn {
 public:
  /// A step of a request: a function and its object. Plain data: GCC 12 destroys other temporaries
  /// of an awaited call twice.
  struct Job {
    void operator()() const { step(on); }
    void (*step)(void* on) = nullptr;
    void* on = nullptr;
  };

  /// `owner`: whose TakeTurn the thread calls; `loop`, which it is a part of, goes on at
  /// `executor`.
  RequestTurn(Loop* loop, Session* owner, IoThread* thread, boost::asio::any_io_executor executor);

  /// Whether the request is taken whose head has come, with a body of `bytes`. Completes
  /// `plan->ticket`, and may give a dear request to the workers.
  admission::Verdict Admit(Plan* plan, const RequestHead& head, uint64_t bytes,
                           Clock::time_point first_byte, Clock::time_point now);
  /// Whether a job may run at once; otherwise what Enter needs is set. `body_bytes` are here;
  /// `piece_bytes` of them are the next piece of a stream.
  bool RunsNow(const Plan& plan, size_t body_bytes, size_t piece_bytes);
  /// After RunsNow has said no: the job waits for its turn. Refused, or nothing where too many
  /// wait; otherwise the loop pauses. A worker runs the job, and then the loop goes on.
  std::optional<admission::Verdict> Enter(Clock::time_point came, Job job);
  /// Has a worker run the job, before requests that wait for their turn; then the loop goes on.
  /// False where the workers take no more. Only for what belongs to a request that was taken.
  bool Post(Executor executor, Job job);
  /// A client's first bytes of TLS wait in the lane of the thread.
  admission::Verdict EnterHello(const admission::Ticket& ticket, Clock::time_point came);

  /// Its turn has come, or it is refused, at `now`; returns the owner that kept the loop.
  [[nodiscard]] std::shared_ptr<Loop> Came(const admission::Verdict& verdict,
                                           Clock::time_point now);
  /// The verdict that ended the wait of Enter.
  const admission::Verdict& verdict() const { return verdict_; }
  /// Whether it was a worker's turn, which has run the job.
  bool at_workers() const { return executor_ != Executor::kInline; }
  /// Runs a job on this thread.
  void Run(Job job);
  /// Whether the last job threw.
  bool failed() const { return failed_; }
  /// A worker has the request, or is to have it.
  bool away() const { return away_; }

  /// The time since then was spent on a refusal; `head_at`: when its head was there.
  void BeginRefusal(Clock::time_point begun, Clock::time_point head_at);
  /// The turn, or the refusal, has taken until now.
  void End();
  /// Pipelined requests wait for their turns again.
  void EndPipeline() { pipelined_until_ = {}; }
  /// Takes the request out of the lane that has it.
  void Leave();
  /// The connection is closed. Returns the owner that kept the loop: it may be the last one.
  [[nodiscard]] std::shared_ptr<Loop> Close();

  /// The times that the request has waited and worked.
  void CountWait(Clock::duration waited) { waited_ += waited; }
  Clock::duration waited() const { return waited_; }
  Clock::duration worked() const { return worked_; }
  void EndTimes() { waited_ = worked_ = charged_work_ = {}; }
  /// A stream brings its tenant's rate no more than whole requests would: each turn of it is a body
  /// of `body_bytes`, the largest, or so much work. The first was taken with the head.
  void ChargeTenant(admission::Tenant* tenant, size_t bytes, size_t body_bytes);

 private:
  enum class In : uint8_t { kNone, kThread, kWorkers };

  void OnWorker(const admission::Verdict& verdict, Clock::time_point posted);
  void Back(const admission::Verdict& verdict);
  void CountWaitFor(Executor executor, Clock::duration waited);

  Loop* const loop_;
  IoThread* const thread_;
  Shared* const shared_;
  const boost::asio::any_io_executor io_;
  admission::Entry entry_;                 // in the lane of the thread
  WorkerPool::Entry pooled_;               // in the lane of workers
  In in_ = In::kNone;                      // which lane has admitted it
  Executor executor_ = Executor::kInline;  // of job_
  Job job_;
  admission::Verdict verdict_;
  bool failed_ = false, away_ = false;
  bool runs_ = false, refuses_ = false;
  Clock::time_point scheduled_;
  Clock::time_point began_;            // the turn, or the refusal
  Clock::time_point head_at_;          // of the refusal
  Clock::time_point pipelined_until_;  // until then pipelined requests are run at once
  Clock::duration waited_{}, worked_{};
  Clock::duration charged_work_{};  // of worked_, to the tenant of a stream
  std::shared_ptr<Loop> kept_;      // while it waits in the lane: nothing else owns it
};

/// The call of a method of `on`.
template <auto method, typename T>
RequestTurn::Job JobOf(T* on) {
  return {[](void* of) { (static_cast<T*>(of)->*method)(); }, on};
}

}  // namespace seendb::http
