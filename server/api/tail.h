// server/api/tail.h: watchers of the requests that a server answers, as `MONITOR` of Redis shows
// them: GET /admin/tail (tail_stream.cc).
//
//   if (tail.watched()) tail.Note(row);      // where an answer was made: never waits
//   Result<Tail::Watch> watch = tail.Begin({.sample = 0.1});
//   Tail::Heard heard = watch->Take();       // what came since the last call

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "seendb/status.h"

namespace seendb::api {

/// One request that was answered.
struct TailRow {
  int64_t at_ms = 0;  ///< of the machine's clock
  int route = -1;     ///< of Routes(); -1: none was found
  unsigned status = 200;
  std::string_view error = {};  ///< the code of an error, a literal; empty: none
  int64_t took_us = 0, waited_us = 0, worked_us = 0;
  uint64_t bytes_in = 0, bytes_out = 0;
  uint64_t user = 0;       ///< RequestLog::UserOf; 0: none
  std::string token = {};  ///< the caller's name; empty: none
};

/// Which requests somebody wants to see.
struct TailFilter {
  int route = -2;  ///< of Routes(); -1: those that no route was found for; -2: all
  unsigned status_least = 0, status_most = 999;
  double sample = 1;  ///< the share of them
};

/// See the head of this file. A watcher that does not keep up loses rows, which are counted; it
/// delays nobody. Threads: any, but a Watch has one at a time.
class Tail {
 public:
  /// Watchers at a time; rows that each is kept, and given in each second.
  static constexpr size_t kWatchersMost = 4, kRowsMost = 1'000;

  /// The requests since the last look.
  struct Heard {
    std::vector<TailRow> rows;
    uint64_t matched = 0;  ///< requests of route and status, sampled or not
    uint64_t lost = 0;     ///< of those that were sampled: there was no room, or too many came
  };

 private:
  struct Watcher {
    TailFilter filter;
    Heard heard;
    int64_t second = 0;  // since 1970
    size_t in_second = 0;
  };
  struct Shared {
    std::atomic<size_t> watchers{0};
    Mutex mutex{LockRank::kLeaf};
    std::array<std::unique_ptr<Watcher>, kWatchersMost> slots GUARDED_BY(mutex);
  };

 public:
  /// Somebody who watches, until its end.
  class Watch {
   public:
    Watch(Watch&& other) noexcept = default;
    Watch& operator=(Watch&&) = delete;
    ~Watch();
    /// The requests since the last call.
    Heard Take();

   private:
    friend class Tail;
    Watch(std::shared_ptr<Shared> shared, size_t slot) : shared_(std::move(shared)), slot_(slot) {}
    std::shared_ptr<Shared> shared_;  // null: it was moved away
    size_t slot_;
  };

  Tail() : shared_(std::make_shared<Shared>()) {}

  /// Whether anybody watches. Costs a relaxed load.
  bool watched() const noexcept { return shared_->watchers.load(std::memory_order_relaxed) > 0; }
  /// Shows a request to those who want to see it.
  void Note(const TailRow& row);
  /// kBusy: there are as many watchers as there may be.
  Result<Watch> Begin(const TailFilter& filter);

 private:
  const std::shared_ptr<Shared> shared_;
};

}  // namespace seendb::api
