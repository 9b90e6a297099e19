// seendb/interrupt.h: SIGINT and SIGTERM as a wish that a long command looks for, so that it can
// say what it did.

#pragma once

namespace seendb::tool {

/// While one of these lives, the first SIGINT or SIGTERM is noted; a second one ends the process
/// as if nobody had caught it. Calls that wait (`read`) return with EINTR. At most one lives.
class CatchInterrupts {
 public:
  CatchInterrupts();
  ~CatchInterrupts();
  CatchInterrupts(const CatchInterrupts&) = delete;
  CatchInterrupts& operator=(const CatchInterrupts&) = delete;
};

/// The signal that was caught, or 0. Threads: any.
int InterruptedBy();

}  // namespace seendb::tool
