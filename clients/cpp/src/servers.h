// servers.h: which server to ask: in turn, one that could not be reached last; the targets of a
// name by their priority; in a cluster the node that has the user (GET /cluster).

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "named.h"
#include "net/stream_target.h"

namespace seendb::client::internal {

using Clock = std::chrono::steady_clock;

/// MurmurHash2 of Austin Appleby with Kafka's seed: Java's producers partition by it.
uint32_t Murmur2(std::string_view data);

/// The target of "http://host:port", "https://host:port" or "unix:/path"; without a port 7373.
/// Throws Error.
net::StreamTarget ParseUrl(const std::string& url);

/// The answer of GET /cluster: of each partition the nodes' URLs, those that are up first.
using Placement = std::vector<std::vector<std::string>>;
/// Nothing: `body` is no map of a cluster.
std::optional<Placement> ReadPlacement(std::string_view body);

/// See the head of this file. Threads: any.
class Servers {
 public:
  /// The servers to try, in order, and whether the first is said to have the user.
  struct Route {
    std::vector<std::string> urls;
    bool direct;
  };

  /// Throws Error where one is no URL. Precondition: `urls` is not empty.
  Servers(std::vector<std::string> urls, const Options& options);

  /// Asks for the targets of names where that is due, behind this call. It waits, by `end`, where
  /// each of them has failed since. Gives former targets.
  std::vector<std::string> LookUp(Clock::time_point end);
  /// Why Find gave no server: there is no target.
  Error Nobody();

  Route Find(const std::optional<std::string>& user);
  /// The server could not be reached: it comes last for a second.
  void MarkAway(const std::string& url);

  /// Whether the map of the cluster is old. Then the caller is the one to ask for it.
  bool TakeLearning();
  void Learn(Placement placement);
  /// The map turns out to be old, or could not be had.
  void LearnSoon();

 private:
  bool IsAway(const std::string& url) const;

  const std::vector<std::string> urls_;
  std::map<std::string, std::unique_ptr<Named>> names_;  // by URL
  std::mutex mutex_;
  size_t turn_ = 0;
  std::map<std::string, Clock::time_point> away_;  // until when
  Placement placement_;
  Clock::time_point placed_until_ = Clock::time_point::min();
};

}  // namespace seendb::client::internal
