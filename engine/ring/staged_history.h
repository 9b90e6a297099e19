// ring/staged_history.h: what the slots of a ring hold of one user's history in one collection, to
// be read by items and by pages without a copy of it.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ring/history_staging.h"

namespace seendb {

/// The memory of copies, over all who make some. Threads: any.
class FrozenBudget {
 public:
  static constexpr uint64_t kMost = 64ULL << 20;

  /// False where others hold too much. One copy alone may be of any size.
  bool Take(uint64_t bytes);
  void Give(uint64_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> held_{0};
};

/// See the head of this file. What it held when it was made stays in it; newer states of the slots
/// that were there come into it. It keeps these slots in memory. Threads: one.
class StagedHistory {
 public:
  using Row = HistoryStaging::Row;

  /// `user` must outlive it.
  StagedHistory(std::vector<std::shared_ptr<HistoryStaging>> slots, uint16_t collection,
                std::string_view user);
  StagedHistory(StagedHistory&& other) noexcept;
  StagedHistory& operator=(StagedHistory&&) = delete;
  ~StagedHistory();

  /// Calls `visit(index, state)` for each state of `items`; of one item maybe for several, whose
  /// join counts. Cost: a look-up for each item and slot.
  template <typename Visit>
  void ForItems(std::span<const std::string_view> items, const Visit& visit) const {
    for (const auto& slot : slots_) slot->ForItems(collection_, user_, items, visit);
  }
  /// The newest states behind a place, in order, each once, at most `most`: fewer only where there
  /// are no more. A row that another slot has superseded may be among them. Cost: by `most`.
  std::vector<Row> Behind(int64_t at_ms, std::string_view item, size_t most) const;
  /// kNoTimeMs: there is none.
  int64_t NewestMs() const;
  /// Grows with every change of what is here.
  uint64_t Changes() const;
  /// From now on it is a copy that nobody changes. False where `budget`, which is borrowed, is used
  /// up: then it is as it was. Cost: a copy of all that the user has here.
  bool Freeze(FrozenBudget* budget);

 private:
  std::vector<std::shared_ptr<HistoryStaging>> slots_;
  const uint16_t collection_;
  const std::string_view user_;
  FrozenBudget* budget_ = nullptr;  // that frozen_ was taken of
  uint64_t frozen_ = 0;
};

}  // namespace seendb
