// server/http/listener.h: the listening sockets and the I/O threads behind them.
//
//   Listener listener(&service, {.limits = limits, .threads = 2});
//   if (auto error = listener.Open("127.0.0.1", 0)) return Report(*error);
//   listener.Start();                   // serves until
//   listener.BeginDrain();              // answers now close their connections
//   listener.WaitIdle(10'000);          // no request is in flight
//   listener.Stop();                    // all connections closed, all threads joined
//
// One thread accepts and answers what watches the process (door_thread.h). Any other connection is
// pinned to an I/O thread (io_thread.h); those share nothing on the path of a request but a few
// counters. Threads: Open, OpenUnix, Start and Stop from one thread;
// the rest from any.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "http/connection.h"
#include "http/door_thread.h"
#include "http/limits.h"
#include "http/service.h"
#include "http/shared.h"
#include "http/tls.h"

namespace seendb::http {

/// How a Listener runs.
struct ListenerOptions {
  Limits limits;
  size_t threads = 1;  ///< I/O threads
  Workers workers = {};
  admission::Admission* admission = nullptr;  ///< borrowed; null: one of its own
};

/// See the head of this file.
class Listener {
 public:
  /// `service` is borrowed until the destructor returns.
  Listener(Service* service, const ListenerOptions& options);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  /// Stops.
  ~Listener();

  /// Binds `door` and listens; the message of a failure. Port 0: one picked by the system.
  std::optional<std::string> Open(const std::string& host, uint16_t port, Door door = Door::kMain);
  /// Opens Door::kUnix: a socket at `path`, which its owner and group may connect to (mode 0660).
  /// One that a process left there goes; anything else there is a failure. Stop removes it.
  std::optional<std::string> OpenUnix(const std::string& path);
  /// What `door` is bound to, as "host:port" with IPv6 in brackets, or the path; empty: nothing.
  const std::string& address(Door door = Door::kMain) const;
  /// From now on connections over TCP are under TLS of `tls`. Those there are stay as they are, but
  /// where `tls` trusts the client's certificate no more: they end at their next request, with 401.
  void SetTls(TlsContext tls);
  /// Starts to accept and serve. `held`: at the admin door alone; connections to the others wait in
  /// the kernel, as many as the backlog.
  void Start(bool held = false);
  /// All doors accept from now on. Threads: any, after Start.
  void Admit();
  /// From now on every answer closes its connection.
  void BeginDrain();
  /// True once no request is in flight; false after `timeout_ms`.
  bool WaitIdle(int64_t timeout_ms);
  /// Stops the workers; false when a handler still ran after `timeout_ms`.
  bool StopWorkers(int64_t timeout_ms);
  /// Closes all connections and joins the I/O threads.
  void Stop();

  /// Counters, for /metrics.
  const ListenerCounters& counters() const { return shared_.counters; }
  /// Body bytes held now.
  size_t InflightBytes() const { return shared_.budget.used(); }
  /// Answer bytes held now.
  size_t AnswerBytes() const { return shared_.answers.used(); }
  /// Connections that have said nothing yet.
  size_t DoorConnections() const { return door_.waiting(); }

 private:
  using Protocol = Stream::Protocol;

  std::optional<std::string> Listen(const Protocol::endpoint& endpoint, Entrance* at);
  void CloseEntrances();
  void Tick(IoThread* thread, boost::asio::steady_timer* timer);
  /// The thread at the door, then the I/O threads.
  std::vector<IoThread*> AllThreads();

  const ListenerOptions options_;
  std::optional<admission::Admission> own_admission_;
  Shared shared_;
  DoorThread door_;
  std::vector<std::unique_ptr<IoThread>> io_threads_;
  std::vector<std::unique_ptr<boost::asio::steady_timer>> ticks_;
  std::vector<std::thread> threads_;
  std::vector<std::unique_ptr<Entrance>> entrances_;  // of the thread at the door, once that runs
  std::atomic<bool> held_{false};
  bool stopped_ = false;
};

/// Splits "host:port" or "[v6]:port"; nothing where it is neither.
std::optional<std::pair<std::string, uint16_t>> ParseHostPort(const std::string& text);

}  // namespace seendb::http
