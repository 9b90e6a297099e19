// server/admission/flood.h: whether more comes to an I/O thread than it can read.
//
// While work waits, reading has a share of the time. That it is cut short says little: clients that
// send while they are read from keep a thread from ever finding that nothing more has come. A flood
// is where, on top of it, heads wait unread for 100 ms. Then refusals come late, and the number of
// connections is what bounds the waits.

#pragma once

#include "admission/ticket.h"

namespace seendb::admission {

/// How long reading is cut short, and heads wait unread, in a flood.
inline constexpr Duration kFlood = std::chrono::milliseconds(100);

/// See the head of this file. Threads: one at a time.
class Flood {
 public:
  /// A head was read that had come `ago`.
  void ReadHead(Duration ago);
  /// Reading began, and was cut short by now: more has come. A flood ends where heads wait for half
  /// of that time only.
  void CutShort(Time began, Time now);
  /// All that had come was read: no flood.
  void ReadAll();

  bool on() const { return on_; }

 private:
  double ago_ns_ = 0;   // mean age of the heads
  Time short_since_{};  // reading was cut short each time, since the last flood; zero: it was not
  bool on_ = false;
};

}  // namespace seendb::admission
