// server/http/current_tls.h: what new connections are made with, which may change while the server
// runs.

#pragma once

#include <atomic>
#include <utility>

#include "base/sync.h"
#include "http/tls.h"

namespace seendb::http {

/// See the head of this file. Threads: any.
class CurrentTls {
 public:
  /// From now on; null: without TLS.
  void Set(TlsContext tls) {
    const MutexLock lock(mutex_);
    now_.store(tls.get(), std::memory_order_release);
    tls_ = std::move(tls);
  }
  TlsContext Get() const {
    const MutexLock lock(mutex_);
    return tls_;
  }
  /// Whether it is this one, which the caller holds. Takes no lock.
  bool Is(const TlsContext& one) const { return now_.load(std::memory_order_acquire) == one.get(); }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  TlsContext tls_ GUARDED_BY(mutex_);
  std::atomic<const boost::asio::ssl::context*> now_{nullptr};
};

}  // namespace seendb::http
