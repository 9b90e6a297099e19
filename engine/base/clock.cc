#include "base/clock.h"

#include <chrono>
#include <ctime>

namespace seendb {
namespace {

class RealClock final : public MachineClock {
 public:
  int64_t NowMs() const override {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  }
  int64_t BootMs() const override {
    timespec since_boot{};
    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    return int64_t{since_boot.tv_sec} * 1'000 + since_boot.tv_nsec / 1'000'000;
  }
};

}  // namespace

const MachineClock* SystemClock() {
  static const RealClock clock;
  return &clock;
}

}  // namespace seendb
