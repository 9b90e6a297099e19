// server/migration/shadow.h: for a share of filter requests, judges the candidates in the old way
// too, and counts where the answers differ.
//
// A difference counts once both were asked again about the item: between the first two looks a play
// may have come.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/sync.h"
#include "migration/counters.h"
#include "migration/old_client.h"
#include "seendb/engine.h"
#include "threads/worker.h"

namespace seendb::migration {

/// See the head of this file. Holds up no request: at most kWaitingMost comparisons wait, and
/// others are left out, counted. Threads: any.
class Shadow {
 public:
  /// All are borrowed. `share`: of the requests offered, from 0 to 1.
  Shadow(OldLink* link, Engine* engine, std::string collection, Counters* counters, double share);
  ~Shadow() = default;
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// Takes the request's turn into account; true: it is to be offered.
  bool IsDue();
  /// Compares this answer later; copies what it needs.
  void Offer(const FilterRequest& request, const FilterResponse& response) EXCLUDES(mutex_);
  void Pause(bool paused) { paused_ = paused; }
  /// The first differences of each kind.
  void Samples(std::vector<ops::MigrationSample>* missing,
               std::vector<ops::MigrationSample>* extra) const EXCLUDES(mutex_);

  static constexpr size_t kWaitingMost = 64;
  static constexpr size_t kSamplesMost = 10;

 private:
  struct Comparison {
    std::string user;
    std::vector<std::string> items;
    std::vector<bool> seen;  // here
  };
  /// An item that is judged differently.
  struct Difference {
    std::string item;
    bool seen = false;  // here
    int64_t at_ms = 0;  // by the old store, where it has it
  };

  void Work() EXCLUDES(mutex_);
  std::optional<Comparison> Next() EXCLUDES(mutex_);
  void Compare(OldClient& client, const Comparison& comparison);
  /// The scores of items as times; nothing where the old store lacks the item.
  Result<std::vector<std::optional<int64_t>>> AskOld(OldClient& client, const std::string& user,
                                                     const std::vector<std::string>& items) const;
  bool IsInWindow(int64_t at_ms) const;
  void Confirm(OldClient& client, const std::string& user, std::vector<Difference> found);
  void Count(const std::string& user, const Difference& difference) EXCLUDES(mutex_);

  OldLink& link_;
  Engine& engine_;
  const std::string collection_;
  Counters& counters_;
  const double share_;
  std::atomic<uint64_t> offered_{0};
  std::atomic<bool> paused_{false};
  mutable Mutex mutex_{LockRank::kLeaf};
  std::deque<Comparison> queue_ GUARDED_BY(mutex_);
  std::vector<ops::MigrationSample> missing_ GUARDED_BY(mutex_), extra_ GUARDED_BY(mutex_);
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::migration
