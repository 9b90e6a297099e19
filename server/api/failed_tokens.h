// server/api/failed_tokens.h: how many wrong tokens each client address has shown within a minute.
//
// A token that is known passes whatever else comes from its address: many clients may share one.
// So this makes no token harder to guess, which their length does. It tells a client that tries
// again and again to wait, and its operator where it is.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/sync.h"
#include "ops/line_limit.h"

namespace seendb::api {

/// See the head of this file. Threads: any. Cost: a lock, and a look-up in memory. It holds
/// kMostAddresses; one more makes it forget the address whose minute began first.
class FailedTokens {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr size_t kMostAddresses = 4'096;
  static constexpr std::chrono::seconds kWindow{60};

  /// So many of an address are answered 401 within a minute; 0: any number.
  explicit FailedTokens(size_t per_minute) : per_minute_(per_minute) {}

  /// A wrong token came from `address` (empty or "unix": none, which has no limit). 0: it is
  /// answered 401; otherwise 429, with the seconds until the address may try again. The first of
  /// those has a line in the log.
  int Note(std::string_view address, Time now);

  /// Wrong tokens that were answered 401, and 429.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  uint64_t limited() const { return limited_.load(std::memory_order_relaxed); }

 private:
  struct Address {
    std::string name;
    Time began;  // of its minute
    size_t count = 0;
  };

  /// The address and its count with the one that came.
  Address Count(std::string name, Time now);

  const size_t per_minute_;
  ops::LineLimit lines_{1};
  std::atomic<uint64_t> refused_{0}, limited_{0};
  mutable Mutex mutex_{LockRank::kLeaf};
  std::list<Address> addresses_ GUARDED_BY(mutex_);  // in the order of their minutes
  std::unordered_map<std::string, std::list<Address>::iterator> by_name_ GUARDED_BY(mutex_);
};

/// What addresses are counted by: that of IPv4, of IPv6 the network of 64 bits, which one client
/// may have for itself.
std::string NetworkOf(std::string_view address);

}  // namespace seendb::api
