// server/http/io_thread.h: a thread with its connections, and the order in which it works.
//
// A turn has two phases. First the thread reads all that has come: heads are judged (Lane::Head),
// bodies collected, and what is complete waits in the lane. Then it works on what waits for
// Settings::slice_us, at least one request. So a request is judged within a slice of its arrival,
// whatever waits, and waits where its wait is known: not in the socket.
//
// While work waits, reading has a share of the time (Lane::IntakeShare).
//
// The thread at the door (door_thread.h) has no lane: it does nothing but read and answer probes.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>
#include <poll.h>

#include "admission/flood.h"
#include "admission/lane.h"
#include "http/shared.h"

namespace seendb::http {

class Session;
using Clock = std::chrono::steady_clock;

/// A connection that waits for a request, among those of its thread.
class Idler : public boost::intrusive::list_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// Closes it, to make room for another.
  virtual void MakeRoom() = 0;

 protected:
  ~Idler() = default;
};

/// See the head of this file. Touched by its own thread only, but for idle_count and the counters
/// of its lane.
struct IoThread {
  /// `lane`: null for the thread at the door.
  IoThread(Shared* the_shared, admission::Lane* the_lane)
      : shared(the_shared), lane(the_lane), io(1) {}

  /// Turns until `io` is stopped.
  void Run();
  /// One turn; `block`: waits where there is nothing to do. False: nothing was done.
  bool Turn(bool block);
  /// When the bytes that are read now came, at the earliest: after the last look that found no more
  /// of them.
  Clock::time_point CameAfter();
  /// A head was read that had come `ago`.
  void ReadHead(Clock::duration ago) { flood_.ReadHead(ago); }
  /// More comes than can be read.
  bool flooded() const { return flood_.on(); }
  /// It has more connections than it takes.
  bool Crowded() const {
    return session_count.load(std::memory_order_relaxed) >
           session_limit.load(std::memory_order_relaxed);
  }

  void AddIdle(Idler* idler);
  void RemoveIdle(Idler* idler);
  /// Closes the one that waits longest for a request, if any still does.
  void CloseLongestIdle();

  Shared* const shared;
  admission::Lane* const lane;
  std::unordered_set<Session*> sessions;
  std::atomic<size_t> idle_count{0};     ///< connections that wait for a request
  std::atomic<size_t> session_count{0};  ///< of `sessions`
  /// More are not taken; less than all while more comes than can be read.
  std::atomic<size_t> session_limit{SIZE_MAX};
  size_t hellos = 0;  ///< first bytes of TLS that wait in the lane
  std::string date;   ///< the Date header's value, renewed once a second
  /// A request that is to cost more leaves this thread to the others.
  Clock::duration dear = std::chrono::milliseconds(5);
  uint32_t dear_requests = 0;  ///< that were to go to the workers for their cost

 private:
  using Idlers = boost::intrusive::list<Idler, boost::intrusive::constant_time_size<false>>;

  bool Read(bool block);
  bool ReadAll();
  bool Work();
  void DropGone();
  void Looked(Clock::time_point now);
  void CutShort(Clock::time_point began, Clock::time_point now);
  void CountGap(Clock::time_point now);

  Idlers idle_;                              // the one that waits longest first
  Clock::time_point looked_ = Clock::now();  // the last time that nothing more had come
  bool waits_ = false;                       // for anything to come, since `looked_`
  Clock::time_point read_until_ = looked_;   // the end of the last reading, cut short or not
  admission::Flood flood_;
  std::vector<pollfd> polled_;  // of DropGone
  std::vector<Session*> asked_;

 public:
  boost::asio::io_context io;  // last: its handlers own sessions, which reach for the others
};

}  // namespace seendb::http
