// engine/seams.h: what tests and the server's manual clock inject. Not installed.

#pragma once

#include "base/clock.h"

namespace rocksdb {
class Env;
}

namespace seendb {

/// Injected parts; null means the real one. Borrowed: they must outlive the Engine.
struct Seams {
  const Clock* clock = nullptr;  ///< believed, whatever it shows (base/clock_guard.h)
  rocksdb::Env* env = nullptr;
  const MachineClock* machine = nullptr;  ///< in place of the machine's, where `clock` is null
};

}  // namespace seendb
