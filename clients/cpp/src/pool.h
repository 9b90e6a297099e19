// pool.h: the kept connections to one server. The newest is used first; one that was idle for 50 s
// is closed, before the server does (75 s).

#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "net/http_connection.h"
#include "servers.h"

namespace seendb::client::internal {

/// See the head of this file. Threads: any.
class Pool {
 public:
  /// A connection that is in use; back in the pool when this ends, if it is whole.
  class Lease {
   public:
    Lease(Pool* pool, std::unique_ptr<net::HttpConnection> connection)
        : pool_(pool), connection_(std::move(connection)) {}
    Lease(Lease&&) = delete;
    ~Lease() { pool_->Give(whole_ ? std::move(connection_) : nullptr); }
    net::HttpConnection& operator*() { return *connection_; }
    net::HttpConnection* operator->() { return connection_.get(); }
    /// Nothing of a call is left in it.
    void SetWhole() { whole_ = true; }

   private:
    Pool* const pool_;
    std::unique_ptr<net::HttpConnection> connection_;
    bool whole_ = false;
  };

  Pool(net::StreamTarget target, net::TlsFiles files, int most)
      : target_(std::move(target)), files_(std::move(files)), free_(most) {}

  /// A connection, which may have to be opened; null: none was free by `end`.
  std::unique_ptr<Lease> Take(Clock::time_point end);
  void CloseIdle();
  const net::StreamTarget& target() const { return target_; }

 private:
  struct Idle {
    std::unique_ptr<net::HttpConnection> connection;
    Clock::time_point since;
  };

  void Give(std::unique_ptr<net::HttpConnection> connection);

  const net::StreamTarget target_;
  const net::TlsFiles files_;
  std::mutex mutex_;
  std::condition_variable given_;
  int free_;                // connections that may still be leased
  std::vector<Idle> idle_;  // the newest at the end
};

}  // namespace seendb::client::internal
