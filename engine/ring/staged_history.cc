#include "ring/staged_history.h"

#include <algorithm>
#include <string>
#include <utility>

namespace seendb {
namespace {

// An entry of a slot, apart from it.
struct Copied {
  std::string item, words;
  int64_t at_ms;
};

}  // namespace

bool FrozenBudget::Take(uint64_t bytes) {
  uint64_t held = held_.load(std::memory_order_relaxed);
  do {
    if (held != 0 && held + bytes > kMost) return false;
  } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  return true;
}

StagedHistory::StagedHistory(std::vector<std::shared_ptr<HistoryStaging>> slots,
                             uint16_t collection, std::string_view user)
    : slots_(std::move(slots)), collection_(collection), user_(user) {}

StagedHistory::StagedHistory(StagedHistory&& other) noexcept
    : slots_(std::move(other.slots_)),
      collection_(other.collection_),
      user_(other.user_),
      budget_(std::exchange(other.budget_, nullptr)),
      frozen_(std::exchange(other.frozen_, 0)) {}

StagedHistory::~StagedHistory() {
  if (budget_ != nullptr) budget_->Give(frozen_);
}

std::vector<StagedHistory::Row> StagedHistory::Behind(int64_t at_ms, std::string_view item,
                                                      size_t most) const {
  std::vector<Row> rows;
  size_t holding = 0;
  for (const auto& slot : slots_) {
    const size_t had = rows.size();
    slot->Behind(collection_, user_, at_ms, item, most, &rows);
    holding += rows.size() > had ? 1 : 0;
  }
  if (holding > 1) {
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return ComesFirst(a.at_ms, a.item, b.at_ms, b.item);
    });
  }
  if (rows.size() > most) rows.resize(most);
  return rows;
}

int64_t StagedHistory::NewestMs() const {
  const std::vector<Row> rows = Behind(INT64_MAX, {}, 1);
  return rows.empty() ? kNoTimeMs : rows.front().at_ms;
}

uint64_t StagedHistory::Changes() const {
  uint64_t changes = 0;
  for (const auto& slot : slots_) changes += slot->ChangesOf(collection_, user_);
  return changes;
}

bool StagedHistory::Freeze(FrozenBudget* budget) {
  uint64_t bytes = 0;
  for (const auto& slot : slots_) {
    slot->ForUser(collection_, user_, [&](const HistoryStaging::Entry& entry) {
      bytes += sizeof(HistoryStaging::Entry) + entry.item.size() + entry.words.size();
    });
  }
  if (!budget->Take(bytes)) return false;
  budget_ = budget;
  frozen_ = bytes;
  auto copy = std::make_shared<HistoryStaging>();
  for (const auto& slot : slots_) {
    // The copy has locks of the same rank: its turn comes once the slot's is let go.
    std::vector<Copied> entries;
    slot->ForUser(collection_, user_, [&](const HistoryStaging::Entry& entry) {
      entries.push_back({entry.item, entry.words, entry.at_ms});
    });
    for (const Copied& entry : entries) {
      copy->Add(collection_, {user_, entry.item, entry.at_ms, entry.words});
    }
  }
  slots_ = {std::move(copy)};
  return true;
}

}  // namespace seendb
