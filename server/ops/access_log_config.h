// server/ops/access_log_config.h: the setting "access_log": which requests have a line in the log.

#pragma once

#include <cstdint>
#include <string>

#include "ops/config_keys.h"

namespace seendb::ops {

/// Which requests have a line.
enum class AccessLogMode : uint8_t {
  kOff,      ///< none
  kSampled,  ///< a share of all, and the slow ones
  kSlow,     ///< the slow ones
  kAll,      ///< all
};

/// The setting "access_log".
struct AccessLogConfig {
  AccessLogMode mode = AccessLogMode::kSlow;
  double sample = 0.01;        ///< of kSampled: the share of requests
  int64_t slow_ms = 1'000;     ///< a request is slow that waited and worked so long on the server
  uint32_t lines_per_s = 100;  ///< beyond, lines are left out and counted
  std::string user_key = {};   ///< 32 hexadecimal digits; empty: random in each process
};

/// Reads an object with these keys.
Setter AccessLog(AccessLogConfig* to);

}  // namespace seendb::ops
