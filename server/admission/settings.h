// server/admission/settings.h: what can be set about overload, under "admission" in the config
// file. server/doc/overload.md says what each does.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace seendb::admission {

/// See the head of this file. Defaults as documented.
struct Settings {
  bool enabled = true;          ///< false: nothing is refused but what is over a token's rate
  int64_t target_ms = 10;       ///< most work that waits in an I/O thread under overload
  int64_t interval_ms = 100;    ///< a queue that was never empty for so long is overloaded
  int64_t burst_ms = 100;       ///< most work that waits while there is no overload
  int64_t disk_target_ms = 50;  ///< target_ms of the workers that wait for disks
  int64_t slice_us = 2'000;     ///< of work between two looks for what came
  double intake_share = 0.7;    ///< of a thread's time for reading and refusing, while work waits
  std::array<double, 3> priority_factors = {2, 1, 0.5};  ///< of the target, by priority
  int64_t max_timeout_ms = 60'000;  ///< a client's longer timeout counts as this
  int64_t default_timeout_ms = 0;   ///< of requests that name none; 0: none
  int64_t retry_after_max_s = 30;   ///< most seconds that half a Retry-After stands for
  size_t discard_bytes = 1u << 20;  ///< a refused body up to this size is read and dropped
  double degrade_min_share = 0.5;   ///< least share of the candidates that is examined
  int64_t degrade_up_ms = 200;      ///< between two steps up
  int64_t degrade_down_ms = 1'000;  ///< of calm before a step down
  size_t tenant_bytes = SIZE_MAX;   ///< of bodies that one tenant may hold while others are there
};

}  // namespace seendb::admission
