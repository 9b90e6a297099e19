// named.h: a name of DNS, and its servers: srv+http://_seendb._tcp.example.com stands for the
// targets of that SRV record (RFC 2782).

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "seendb/client_types.h"

namespace seendb::client::internal {

/// See the head of this file. Threads: any; a thread of its own asks.
class Named {
 public:
  using Clock = std::chrono::steady_clock;
  /// A server: `rank` of its priority, 0 for the first.
  struct Target {
    std::string url = {};
    size_t rank = 0;
    int weight = 0;
  };

  static bool IsName(const std::string& url) { return url.starts_with("srv+"); }
  /// Throws Error (invalid_argument).
  Named(const std::string& url, const Options& options);
  /// Waits for an answer that is asked for, some seconds at most.
  ~Named();

  /// In the order in which they are to be tried: by priority, by chance within it.
  std::vector<Target> Ranked();
  /// When it was asked for last.
  Clock::time_point asked();
  /// Asks again where the answer is older than 30 s, or with `soon` than one.
  void Refresh(bool soon);
  /// Waits until nobody asks, by `end`.
  void Wait(Clock::time_point end);
  /// Why there is no target.
  std::string Why();
  /// The former targets since the last call.
  std::vector<std::string> TakeGone();

 private:
  void Ask();
  std::vector<Target> Read(std::vector<SrvRecord> records) const;

  const std::string url_;
  std::string scheme_, name_;
  std::function<std::vector<SrvRecord>(const std::string&)> resolver_;
  std::function<std::string(const std::string&)> address_of_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::mt19937_64 chance_{std::random_device{}()};
  std::vector<Target> targets_;
  std::vector<std::string> gone_;
  std::string why_ = "no name server has answered yet";
  bool is_asking_ = false;
  Clock::time_point asked_ = Clock::time_point::min();
  std::thread asking_;
};

}  // namespace seendb::client::internal
