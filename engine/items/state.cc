#include "items/state.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace seendb::items {
namespace {

/// Whether `a` is what stays of the two, both being of one field.
bool Wins(const Cell& a, const Cell& b) {
  if (a.version != b.version) return a.version > b.version;
  if (a.unset != b.unset) return b.unset;
  return !a.unset && Compare(a.value, b.value) > 0;
}

bool ExpiryWins(const State& a, const State& b) {
  if (a.expires_version != b.expires_version) return a.expires_version > b.expires_version;
  return a.expires_ms > b.expires_ms;
}

}  // namespace

uint64_t State::Join(const State& other) {
  uint64_t stale = 0;
  const bool only_deletes = other.seen == 0 && other.floor != 0;
  if (only_deletes && other.floor < std::max(floor, seen)) ++stale;
  const uint64_t floor_before = floor;
  seen = std::max(seen, other.seen);
  floor = std::max(floor, other.floor);
  time_ms = std::max(time_ms, other.time_ms);
  lost = lost || other.lost;
  if (other.expires_version != 0 &&
      (other.expires_version < expires_version || other.expires_version < floor_before)) {
    ++stale;
  }
  if (ExpiryWins(other, *this)) {
    expires_version = other.expires_version;
    expires_ms = other.expires_ms;
  }
  std::vector<Cell> joined;
  joined.reserve(cells.size() + other.cells.size());
  auto mine = cells.cbegin();
  for (const Cell& theirs : other.cells) {
    while (mine != cells.cend() && mine->field < theirs.field) joined.push_back(*mine++);
    const bool both = mine != cells.cend() && mine->field == theirs.field;
    if (theirs.version < (both ? std::max(mine->version, floor_before) : floor_before)) ++stale;
    joined.push_back(both && !Wins(theirs, *mine) ? *mine : theirs);
    if (both) ++mine;
  }
  joined.insert(joined.end(), mine, cells.cend());
  cells = std::move(joined);
  ApplyFloor();
  return stale;
}

void State::ApplyFloor() {
  if (expires_version < floor) expires_version = expires_ms = 0;
  std::erase_if(cells, [this](const Cell& cell) { return cell.version < floor; });
}

uint64_t ApplyExpiry(const State& before, uint64_t now_ms, State* update) {
  uint64_t gone_to = 0;  // cells of the update up to this version are gone
  if (before.IsExpired(now_ms)) {
    gone_to = before.expires_version;
    if (ExpiryWins(*update, before)) update->floor = std::max(update->floor, gone_to + 1);
  }
  if (update->IsExpired(now_ms)) gone_to = std::max(gone_to, update->expires_version);
  const uint64_t dropped =
      std::erase_if(update->cells, [gone_to](const Cell& cell) { return cell.version <= gone_to; });
  return dropped;
}

}  // namespace seendb::items
