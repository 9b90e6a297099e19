// transport.h: makes calls: the right server, the token, the time that is left, second tries.

#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "attempt.h"
#include "budget.h"
#include "json.h"
#include "last_users.h"
#include "position.h"
#include "servers.h"

namespace seendb::client::internal {

/// An item that FillPage served, and when.
struct Served {
  Clock::time_point at;
  std::string item;
};

/// See the head of this file. Threads: any.
class Transport {
 public:
  /// Answers a request in place of all servers; throws Error.
  using StandIn = std::function<Reply(const Request&)>;

  Transport(std::vector<std::string> urls, Options options, StandIn stand_in = {});

  /// The answer, of 2xx or 422; else throws Error. Tells Options::on_call.
  Reply Ask(Request request);
  /// Ask with `body` as JSON.
  Reply Ask(Request request, const Json& body);
  void Close();

  /// Keeps the position behind a write of these users, which their reads send.
  void Note(const Reply& reply, const std::vector<std::string>& users);
  /// When a call that begins now, with this timeout or the client's, has to have been answered.
  Clock::time_point EndOf(const std::optional<std::chrono::milliseconds>& timeout) const;

  const Options& options() const { return options_; }
  LastUsers<std::vector<Served>>& served() { return served_; }
  /// The share of a user's search results that was seen; 0: not known.
  LastUsers<double>& shares() { return shares_; }

 private:
  struct Progress {
    int status = 0, tries = 0;
  };

  Reply AskStandIn(const Request& request, Progress* progress);
  Reply AskAgain(const Request& request, Progress* progress);
  Outcome Once(const std::string& url, const Request& request, const Headers& headers);
  Outcome Hedged(const std::vector<std::string>& urls, size_t at, const Request& request,
                 const Headers& headers, int* tries);
  Headers HeadersOf(const Request& request, const Headers& more, Clock::time_point end);
  std::string Token();
  std::shared_ptr<Pool> PoolOf(const std::string& url);
  void LookUp(Clock::time_point end);
  void LearnPlacement(Clock::time_point end);
  std::optional<std::chrono::milliseconds> WaitBefore(const Request& request,
                                                      const Outcome& outcome, int attempt);

  const Options options_;
  const StandIn stand_in_;
  const net::TlsFiles files_;
  Servers servers_;
  Budget budget_;
  LastUsers<Position> positions_;
  LastUsers<std::vector<Served>> served_;
  LastUsers<double> shares_;

  std::mutex mutex_;
  bool closed_ = false;
  std::map<std::string, std::shared_ptr<Pool>> pools_;  // by URL
  std::string token_;
  std::filesystem::file_time_type token_changed_ = std::filesystem::file_time_type::min();
};

}  // namespace seendb::client::internal
