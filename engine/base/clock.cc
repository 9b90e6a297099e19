#include "base/clock.h"

#include <chrono>

namespace seendb {
namespace {

class MachineClock final : public Clock {
 public:
  int64_t NowMs() const override {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  }
};

}  // namespace

const Clock* SystemClock() {
  static const MachineClock clock;
  return &clock;
}

}  // namespace seendb
