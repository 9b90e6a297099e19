// server/admission/lane.h: the requests that wait for one I/O thread, or for one pool of workers.
//
//   Verdict v = lane.Head(&entry, now);      // the head has come: before its body is read
//   v = lane.Complete(&entry, came, now);    // the body has come: it waits now
//   Lane::Turn t = lane.Take(now);           // what to run next, or to refuse after all
//   lane.Done(t.entry, took, now);           // it was run (only if t.verdict was admitted)
//   lane.Remove(&entry);                     // in any state: the client is gone
//
// A request is refused at its head, by the work that waits before it in microseconds: under
// overload at most about L = max(target, 4 * E[s^2]/E[s]), otherwise what a burst may be. What was
// admitted is run, oldest first; only its timeout, a client that is gone or a late loop can refuse
// it then. overload.h has the state, server/doc/overload.md the whole picture.
//
// Pieces of streams (Class::kStream) wait beside the requests, are never refused, and get 10% of
// the time at least.
//
// Threads: one at a time (an I/O thread's own; a pool's workers under the pool's lock), but for
// what says "any thread".

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include <boost/intrusive/list.hpp>

#include "admission/cost_model.h"
#include "admission/lane_counters.h"
#include "admission/overload.h"
#include "admission/shares.h"
#include "admission/ticket.h"

namespace seendb::admission {

class Admission;

/// A request on its way through a lane. Owned by its connection, which removes it from the lane
/// before it goes. It may be used for one request after the other.
class Entry : public boost::intrusive::list_base_hook<> {
 public:
  Ticket ticket;          ///< set before Lane::Head
  void* owner = nullptr;  ///< the caller's own

  /// Whether it waits to be taken.
  bool waits() const { return state_ == State::kWaits; }

 private:
  friend class Lane;
  enum class State : uint8_t { kOut, kAdmitted, kWaits, kRuns };
  State state_ = State::kOut;
  Duration estimate_{0};       // as counted in the lane's work
  int64_t bytes_ = 0;          // as counted for its tenant
  Time came_{};                // its last byte
  bool counted_ = false;       // bytes_ are, for its tenant
  bool counted_work_ = false;  // estimate_ is, for its tenant
};

/// What a lane is for.
struct LaneOptions {
  std::string name;     ///< in metrics
  bool disk = false;    ///< its work waits for disks: Settings::disk_target_ms
  size_t parallel = 1;  ///< threads that take from it
};

/// See the head of this file.
class Lane {
 public:
  /// `admission` is borrowed. Lanes are made by Admission::AddLane.
  Lane(Admission* admission, LaneOptions options);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane();

  /// Whether to take the request whose head has come. Counts a refusal; an entry that was refused
  /// is out. Precondition: it is out.
  Verdict Head(Entry* entry, Time now);
  /// The body has come, its last byte at `came` at the latest: it waits from now on, unless it is
  /// refused, as what came meanwhile is far more than was foreseen. ticket.bytes may be corrected
  /// before. Precondition: it is admitted; or out, for what no head is asked about (a piece of a
  /// stream, a request that another lane passes on).
  Verdict Complete(Entry* entry, Time came, Time now);

  /// What Take says.
  struct Turn {
    Entry* entry = nullptr;  ///< null: nothing waits
    Verdict verdict;         ///< not admitted: refuse it; it is out
  };
  /// The next to be run, or to be refused. Until Done or Remove it runs.
  Turn Take(Time now);
  /// It was run, answered, and took so long of one thread.
  void Done(Entry* entry, Duration took, Time now);
  /// It is out, wherever it was. The client was gone, or the connection closes.
  void Remove(Entry* entry);

  /// The loop spent so long in reading heads and bodies and in refusing, since it last said so.
  void SpentReading(Duration took);
  /// A refusal, with what is dropped of the body, took so long; `late`: since its head came.
  void SpentRefusing(Duration took, Duration late);
  /// Between two looks of a loop for what came.
  void LoopGap(Duration gap);
  /// How many callers the lane has. Each has one request waiting at most. 0: not known.
  void SetCallers(size_t callers) { callers_ = callers; }

  /// Whether it pays to look which of the oldest clients are gone.
  bool LooksForGone(Time now) const;
  /// Calls visit(Entry*) for the `most` oldest that wait; it may not change the lane.
  template <typename Visit>
  void ForOldest(size_t most, Visit visit) {
    for (Entry& entry : requests_) {
      if (most-- == 0) return;
      visit(&entry);
    }
  }

  /// What the request would cost.
  Duration Estimate(const Ticket& ticket) const { return costs_.Estimate(ticket); }
  /// Requests are so cheap that refusing one costs about as much as an answer.
  bool CheapRequests() const;
  /// The part of the time that a loop may spend on reading and refusing while work waits:
  /// Settings::intake_share; a quarter at most while requests are cheap, or in a flood (Flood),
  /// because an answer ends more of the load then than a refusal does.
  double IntakeShare(bool flooded) const;
  /// The mean cost of a request.
  Duration MeanCost() const { return overload_.MeanCost(); }
  bool empty() const { return requests_.empty() && streams_.empty(); }
  size_t size() const { return requests_.size() + streams_.size(); }
  /// The settings of now, renewed by Head and Take.
  const Settings& settings() const { return settings_; }

  /// Any thread: counters and gauges.
  const LaneCounters& counters() const { return counters_; }
  LaneCounters& counters() { return counters_; }
  const LaneOptions& options() const { return options_; }

 private:
  using List = boost::intrusive::list<Entry>;

  void Renew();
  void Offer(const Ticket& ticket, Duration estimate, Time now);
  Duration Wait() const;
  Duration LimitOf(const Ticket& ticket, Duration estimate, Time now) const;
  bool FewCallers() const;
  Verdict Judge(const Ticket& ticket, Duration estimate, Time now);
  Reason JudgeQueue(const Ticket& ticket, Duration estimate, Time now) const;
  Verdict Refuse(const Ticket& ticket, Reason reason, Place place, Time now);
  Reason JudgeWaiting(const Entry& entry, Time now) const;
  bool IsStale(const Entry& entry, Time now) const;
  bool IsStreamsTurn() const;
  void CountBytes(Entry* entry);
  void Unqueue(Entry* entry);
  void Out(Entry* entry);
  void Publish(Time now);

  Admission* const admission_;
  const LaneOptions options_;
  Settings settings_;
  uint64_t settings_version_ = 0;
  CostModel costs_, full_costs_;  // of now; of what was not degraded
  LoadMeter load_, full_load_;
  OverloadState overload_;
  TenantShares shares_;
  List requests_, streams_;
  Duration work_{0};           // of requests_, by their estimates
  Duration stream_credit_{0};  // of the time, that streams may take under overload
  double refusal_ns_ = 10'000, reading_ns_ = 0;  // of one request, means
  Duration read_{0};                             // since heads_ was 0
  uint64_t heads_ = 0;
  size_t callers_ = 0;
  uint64_t dice_;
  LaneCounters counters_;
};

}  // namespace seendb::admission
