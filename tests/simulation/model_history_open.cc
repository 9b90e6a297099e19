// What a failed call or a power cut leaves open in the model of history.

#include <algorithm>
#include <utility>

#include "simulation/model.h"
#include "simulation/tally.h"

namespace seendb::simulation {
void HistoryModel::Synced(uint32_t shard) {
  std::set<OpenItem> left;
  for (const OpenItem& open : open_[shard]) {
    Of& of = of_[open.collection][open.user];
    if (const auto lift = of.lifts.find(open.item); lift != of.lifts.end()) lift->second.call = 0;
    const auto item = of.items.find(open.item);
    if (item == of.items.end()) continue;
    bool unsure = false;
    for (ItemState& state : item->second) {
      if (state.sure) state.call = 0;
      unsure = unsure || !state.sure;
    }
    if (unsure) left.insert(open);
  }
  open_[shard] = std::move(left);
}

void HistoryModel::Settle(uint32_t shard, bool power_was_cut, uint64_t kept,
                          const Observe& observe) {
  uint64_t last_present = 0, first_absent = UINT64_MAX;
  const auto may_be_lost = [&](uint64_t call) { return power_was_cut && call > kept; };
  for (const OpenItem& open : std::exchange(open_[shard], {})) {
    Of& of = of_[open.collection][open.user];
    if (const auto lift = of.lifts.find(open.item); lift != of.lifts.end()) {
      if (may_be_lost(lift->second.call)) lift->second.sure = false;
      lift->second.call = 0;
    }
    const auto item = of.items.find(open.item);
    if (item == of.items.end()) continue;  // erased meanwhile
    for (ItemState& state : item->second) {
      if (may_be_lost(state.call)) state.sure = false;
    }
    if (const auto seen = observe(open.collection, open.user, open.item)) {
      SettleItem(open, *seen, &of, &last_present, &first_absent);
    }
    for (ItemState& state : item->second) state.call = 0;
  }
  if (last_present > first_absent) {
    throw Violation("history of a call was lost and of a later one of the shard kept");
  }
}

// Leaves the states of the moments that agree with what was seen, and those before them. Of several
// reports of one time, and of those before, nothing more is known than there was.
void HistoryModel::SettleItem(const OpenItem& open, const std::optional<HistoryEntry>& seen, Of* of,
                              uint64_t* last_present, uint64_t* first_absent) {
  bool none = false;
  const std::vector<ItemState>& states = of->items[open.item];
  std::vector<Moment> right;
  for (const Moment& moment : Winners(open.collection, *of, open.item, &none)) {
    const bool agrees =
        seen ? !Hidden(open.collection, *of, moment) &&
                   ShownAt(open.collection, *of, states, moment.at_ms).Has(*seen, false)
             : MayBeHidden(open.collection, *of, moment);
    if (agrees) right.push_back(moment);
  }
  none = none && !seen;
  if (right.empty() && !none) {
    throw Violation("history after an opening: " + open.collection + " " + open.user + " " +
                    open.item + " is none of what it can be");
  }
  std::vector<ItemState> left;
  const auto is_last = [&](const ItemState& state) {
    return right.size() == 1 && !none && state.moment() == right.front();
  };
  const bool one = std::count_if(states.begin(), states.end(), is_last) == 1;
  for (const ItemState& state : states) {
    // What is later than all that it can be did not happen, or was lost.
    if (right.empty() || state.moment() > right.front()) {
      if (state.call != 0) *first_absent = std::min(*first_absent, state.call);
      continue;
    }
    left.push_back(state);
    if (!one || !is_last(state)) continue;
    if (!state.sure && state.call != 0) *last_present = std::max(*last_present, state.call);
    left.back().sure = true;
  }
  of->items[open.item] = std::move(left);
}

}  // namespace seendb::simulation
