#include "backup/meter.h"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

namespace seendb::backup {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLookEvery{100};

double NowS() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

}  // namespace

Meter::Meter(double bytes_per_s, std::function<bool()> cancelled)
    : cancelled_(std::move(cancelled)),
      pace_(bytes_per_s, std::numeric_limits<double>::max(), NowS()) {}

Status Meter::Take(uint64_t bytes) {
  bytes_ += bytes;
  return Wait(std::chrono::duration<double>(pace_.Take(bytes, NowS())));
}

Status Meter::Wait(std::chrono::duration<double> wait) const {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
  for (;;) {
    if (cancelled_()) return Status::Unavailable("the backup was interrupted");
    const auto now = Clock::now();
    if (now >= until) return {};
    std::this_thread::sleep_for(std::min<Clock::duration>(until - now, kLookEvery));
  }
}

}  // namespace seendb::backup
