// server/membership/prober.h: asks other nodes how they are: GET /internal/status at each, all at
// once.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "peers/peer_client.h"

namespace seendb::membership {

/// Whom to ask.
struct ProbeTarget {
  std::string node;
  std::string url;
};

/// What became of it.
struct ProbeResult {
  enum class Kind : uint8_t {
    kAnswered,  ///< `body` is the answer of a 200
    kRefused,   ///< no connection: nobody listens there, or its certificate is refused
    kMissed,    ///< no answer in time, or another one; `why` says which
  };
  Kind kind = Kind::kMissed;
  std::string body;
  std::string why;
  /// By this machine's clock: between asking and the answer.
  int64_t asked_at_ms = 0;
};

/// The results, in the order of the targets. Takes `timeout` at most, and a little. Connections are
/// kept, so that a probe makes no handshake.
std::vector<ProbeResult> ProbeAll(peers::PeerClient* client,
                                  const std::vector<ProbeTarget>& targets,
                                  std::chrono::milliseconds timeout);

}  // namespace seendb::membership
