#include "simulation/model_marks.h"

#include <algorithm>

namespace seendb::simulation {

ItemGroup GroupOf(const std::string& item) {
  uint32_t hash = 0;
  for (const char c : item) hash = hash * 31 + static_cast<unsigned char>(c);
  ItemGroup of{"g" + std::to_string(hash % 5), {}};
  if (hash % 7 != 0) of.at_ms = static_cast<int64_t>(hash / 7 % 100);
  return of;
}

template <typename Change>
void MarksModel::Apply(const std::string& user, const std::string& group, bool sure,
                       const Change& change) {
  Group& known = users_[user][group];
  std::set<State> after;
  for (State state : known.possible) {
    if (!sure) after.insert(state);
    change(&state);
    after.insert(state);
  }
  known.possible = after;
  known.since_sync.insert(after.begin(), after.end());
}

void MarksModel::Mark(const std::string& user, const std::string& group, int64_t until_ms,
                      int64_t said_ms, bool sure) {
  Apply(user, group, sure, [&](State* state) {
    if (state->deleted_ms && said_ms <= *state->deleted_ms) return;
    state->until_ms = state->marked ? std::max(state->until_ms, until_ms) : until_ms;
    state->said_ms = state->marked ? std::max(state->said_ms, said_ms) : said_ms;
    state->marked = true;
  });
}

void MarksModel::Delete(const std::string& user, const std::string& group, int64_t at_ms,
                        bool sure) {
  Apply(user, group, sure, [&](State* state) {
    const int64_t until_ms = state->marked ? std::max(at_ms, state->said_ms) : at_ms;
    *state = {false, 0, 0, std::max(state->deleted_ms.value_or(until_ms), until_ms)};
  });
}

void MarksModel::Synced(uint32_t shard) {
  for (auto& [user, groups] : users_) {
    if (shard_of_(user) != shard) continue;
    for (auto& [name, group] : groups) group.since_sync = group.possible;
  }
}

void MarksModel::Cut(uint32_t shard) {
  for (auto& [user, groups] : users_) {
    if (shard_of_(user) != shard) continue;
    for (auto& [name, group] : groups) group.possible = group.since_sync;
  }
}

template <typename Is>
Truth MarksModel::Ask(const std::string& user, const std::string& group, const Is& is) const {
  const auto known = users_.find(user);
  if (known == users_.end()) return Truth::kNo;
  const auto at = known->second.find(group);
  if (at == known->second.end()) return Truth::kNo;
  const std::set<State>& possible = at->second.possible;
  const auto count = std::count_if(possible.begin(), possible.end(), is);
  return count == 0                                      ? Truth::kNo
         : static_cast<size_t>(count) == possible.size() ? Truth::kYes
                                                         : Truth::kMaybe;
}

Truth MarksModel::Has(const std::string& user, const std::string& group) const {
  return Ask(user, group, [](const State& state) { return state.marked; });
}

Truth MarksModel::Reaches(const std::string& user, const ItemGroup& item) const {
  return Ask(user, item.group, [&](const State& state) {
    return state.marked && state.until_ms >= item.at_ms.value_or(kAlwaysUntil);
  });
}

bool MarksModel::Holds(const std::string& user) const {
  const auto known = users_.find(user);
  if (known == users_.end()) return false;
  return std::any_of(known->second.begin(), known->second.end(),
                     [](const auto& group) { return !group.second.possible.contains(State()); });
}

}  // namespace seendb::simulation
