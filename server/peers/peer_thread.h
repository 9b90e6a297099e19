// server/peers/peer_thread.h: one thread of a PeerClient, with its connections. Everything but
// Post, SetTls and Stop runs on the thread.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/sync.h"
#include "peers/peer_client.h"

namespace seendb::peers {

/// One question on its way.
struct Exchange {
  PeerRequest request;
  PeerClient::Done done;
  std::chrono::steady_clock::time_point until;
  bool repeated = false;  ///< a kept connection was closed under it
  bool learned = false;   ///< the node has told its time
};

class PeerConnection;

/// See the head of this file.
class PeerThread {
 public:
  explicit PeerThread(const PeerClientOptions& options);
  ~PeerThread();
  PeerThread(const PeerThread&) = delete;
  PeerThread& operator=(const PeerThread&) = delete;

  /// Takes a question. Any thread.
  void Post(PeerRequest request, PeerClient::Done done);
  /// See PeerClient. Any thread.
  void After(std::chrono::milliseconds time, std::function<void()> then);
  void SetTls(const net::TlsContext& tls);
  /// Ends all that is under way, and the thread. Any other thread; a second call does nothing.
  void Stop();

  /// The connection is free for the next question, or (`keep` false) closed.
  void Release(const std::shared_ptr<PeerConnection>& connection, bool keep);
  /// Sends it on a new connection, if it may still.
  void Repeat(const std::shared_ptr<Exchange>& exchange);

 private:
  /// The connections to one node, and what waits for one.
  struct Pool {
    std::vector<std::shared_ptr<PeerConnection>> idle;  // the newest last
    std::map<PeerConnection*, std::shared_ptr<PeerConnection>> busy;
    std::deque<std::shared_ptr<Exchange>> waiting;
  };

  void Take(const std::shared_ptr<Exchange>& exchange);
  void Begin(Pool* pool, const std::shared_ptr<Exchange>& exchange, bool fresh);
  void Tidy();
  void AbortAll();

  const PeerClientOptions options_;
  net::TlsContext tls_;  // of new connections
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer tidying_;
  bool ending_ = false;                                          // of the thread
  std::set<std::shared_ptr<boost::asio::steady_timer>> timers_;  // of After, likewise
  std::map<std::string, Pool> pools_;                            // by url
  Mutex mutex_{LockRank::kLeaf};
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace seendb::peers
