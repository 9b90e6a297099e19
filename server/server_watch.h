// server/server_watch.h: what a running server looks after by itself: secrets that changed are read
// again, and problems that begin or are over are told to the log.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "ops/problem_log.h"
#include "secrets.h"

namespace seendb {

/// See the head of this file. Threads: the one that runs `io`.
class ServerWatch {
 public:
  /// Says what is wrong now, for people. Waits for nothing.
  using Problems = std::function<std::vector<std::string>()>;

  /// Both are borrowed.
  ServerWatch(boost::asio::io_context* io, Secrets* secrets) : timer_(*io), secrets_(*secrets) {}

  /// Looks from now on. Those in `told` are in the log already.
  void Start(Problems problems, const std::vector<std::string>& told);

 private:
  void Tick();

  boost::asio::steady_timer timer_;
  Secrets& secrets_;
  Problems problems_;
  ops::ProblemLog known_;
};

}  // namespace seendb
