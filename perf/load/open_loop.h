// load/open_loop.h: loads an HTTP/1.1 server as a crowd does: requests are sent at times of their
// own, whether or not answers come.
//
// One thread, plain sockets. A request goes out on a connection that waits for none, or on a new
// one. Latencies count from the time at which the request was to be sent. A client whose time is
// up closes its connection (with RST, as one that gives up does), and opens another.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace seendb::perf {

/// Where and how hard.
struct OpenLoad {
  uint16_t port = 0;        ///< on 127.0.0.1
  double rate_per_s = 100;  ///< mean; the times between two requests are exponential
  double seconds = 1;
  double settle_s = 0;  ///< of them, whose requests are sent, and counted nowhere
  /// Within each second, the first burst_s have burst_times the rate; the mean grows by that.
  double burst_s = 0;
  double burst_times = 1;
  double timeout_s = 1;             ///< of the client
  size_t connections_most = 4'000;  ///< a request that finds no room is not offered
  /// A request that is refused or late is sent again at once, as often as this. Results count the
  /// last try, from the time at which the first was to be sent.
  int retries = 0;
};

/// What came back of one kind of request.
struct OpenResult {
  uint64_t offered = 0;   ///< began to be sent
  uint64_t unsent = 0;    ///< were due, and no connection was left
  uint64_t answered = 0;  ///< 200 in time
  uint64_t refused = 0;   ///< 503 or 429 in time
  uint64_t late = 0;      ///< no answer in time
  uint64_t broken = 0;    ///< another status, or the connection broke
  std::vector<double> answer_ms, refusal_ms;
  std::vector<double> behind_ms;  ///< of all: by how much the client was late to begin to send

  uint64_t all() const { return answered + refused + late + broken; }
  /// Takes in what came back of another kind.
  void Add(const OpenResult& other);
};

/// Sends requests (Encode), one of each list in turn, kinds by chance; the results by kind.
std::vector<OpenResult> RunOpenLoad(const OpenLoad& load,
                                    const std::vector<std::vector<std::string>>& kinds,
                                    const std::vector<double>& shares = {1});

}  // namespace seendb::perf
