// server/membership/prober.h: asks other nodes how they are: GET /internal/status at each, all at
// once. A node that is silent keeps nobody waiting: the others' answers are taken meanwhile, and
// the next round asks all anew.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
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
  /// Give or take that.
  int64_t asked_within_ms = 0;
  /// By its steady clock: when it was asked, and when the answer came.
  int64_t steady_asked_ms = 0, steady_answered_ms = 0;
};

/// See the head of this file. Connections are kept, so that a probe makes no handshake. Threads:
/// one.
class Prober {
 public:
  /// `timeout`: when a question is missed. `client` outlives this, or is stopped before.
  Prober(peers::PeerClient* client, std::chrono::milliseconds timeout);

  /// Asks all of them, and waits until all have answered, `gather` at most. What came of these
  /// questions and of earlier ones, in the order in which it came, each once.
  std::vector<std::pair<std::string, ProbeResult>> Round(const std::vector<ProbeTarget>& targets,
                                                         std::chrono::milliseconds gather);

 private:
  struct Came;  // shared with questions that are under way

  peers::PeerClient& client_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<Came> came_;
};

}  // namespace seendb::membership
