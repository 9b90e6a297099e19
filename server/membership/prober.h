// server/membership/prober.h: asks other nodes how they are: GET /internal/status at each, all at
// once.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace seendb::membership {

/// Whom to ask.
struct ProbeTarget {
  std::string node;
  std::string host, port;
};

/// What became of it.
struct ProbeResult {
  enum class Kind : uint8_t {
    kAnswered,  ///< `body` is the answer of a 200
    kRefused,   ///< nobody listens there
    kMissed,    ///< no answer in time, or another one; `why` says which
  };
  Kind kind = Kind::kMissed;
  std::string body;
  std::string why;
  /// By this machine's clock: between asking and the answer.
  int64_t asked_at_ms = 0;
};

/// The results, in the order of the targets. Takes `timeout` at most, and a little. `secret` is
/// shown as a bearer token.
std::vector<ProbeResult> ProbeAll(const std::vector<ProbeTarget>& targets,
                                  const std::string& secret, std::chrono::milliseconds timeout);

/// Where a node listens; `url` is "http://host:port".
ProbeTarget TargetOf(const std::string& node, const std::string& url);

}  // namespace seendb::membership
