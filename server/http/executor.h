// server/http/executor.h: the threads that run handlers.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <thread>

namespace seendb::http {

/// Which threads run a handler.
enum class Executor : uint8_t {
  kInline,  ///< the connection's own I/O thread: short, never waiting for a disk
  kEngine,  ///< workers for what may wait for a disk
  kSlow,    ///< workers for what may take minutes
  kProbe,   ///< one worker for what is needed while all others are held: /metrics
};
inline constexpr size_t kExecutors = 4;  ///< how many there are

/// The name of an executor, as metrics label it ("engine").
constexpr std::string_view ExecutorName(Executor executor) noexcept {
  switch (executor) {
    case Executor::kInline:
      return "inline";
    case Executor::kEngine:
      return "engine";
    case Executor::kSlow:
      return "slow";
    case Executor::kProbe:
      return "probe";
  }
  return "unknown";
}

/// The default number of workers of kEngine. Most of them wait for a disk, so there are more than
/// cores.
inline size_t DefaultEngineWorkers() {
  return std::max<size_t>(8, 4 * size_t{std::thread::hardware_concurrency()});
}

/// The number of workers of each executor that has some.
struct Workers {
  size_t engine = DefaultEngineWorkers();
  size_t slow = 2;
  size_t probe = 1;
};

}  // namespace seendb::http
