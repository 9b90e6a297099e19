#include <algorithm>
#include <iterator>

#include "model/action.h"
#include "model/invariants.h"

namespace seendb::model {
namespace {

// Actions that may happen while a shard stands still in the middle of its healing.
constexpr uint64_t kBesideHealing = Of(Kind::kPlay, Kind::kErase, Kind::kIngest, Kind::kIngestAgain,
                                       Kind::kCrash, Kind::kPowerCut, Kind::kEndHeal);

bool Heals(const State& state) {
  return std::any_of(std::begin(state.shards), std::end(state.shards),
                     [](const Shard& shard) { return shard.recovering != 0; });
}

}  // namespace

bool EngineModel::Do(const Action& action, State* state, Answer* answer) const {
  Step step{scope_, action, *state};
  if (Heals(*state) && (kBesideHealing & Of(action.kind)) == 0) return false;
  if (state->over || !table_[static_cast<size_t>(action.kind)].Do(&step)) return false;
  if (answer != nullptr) *answer = step.answer;
  return true;
}

void EngineModel::ForEach(const State& state,
                          const std::function<void(const Action&, const State&)>& visit) const {
  const auto count = [](const Row& row, Over over, int most) {
    return static_cast<uint8_t>((row.over & over) != 0 ? most : 1);
  };
  for (const Row& row : table_) {
    if ((scope_.actions & Of(row.kind)) == 0) continue;
    const uint8_t users = count(row, kUser, scope_.users), items = count(row, kItem, scope_.items);
    const uint8_t shards = count(row, kShard, scope_.shards);
    const uint8_t buckets = count(row, kBucket, scope_.buckets);
    const int combinations =
        count(row, kCollection, scope_.collections) * users * items * buckets * shards;
    for (int at = 0; at < combinations; ++at) {
      int left = at;
      const auto next = [&left](uint8_t of) {
        const auto value = static_cast<uint8_t>(left % of);
        left /= of;
        return value;
      };
      Action action{row.kind};
      action.item = next(items);
      action.user = next(users);
      action.bucket = next(buckets);
      action.shard = next(shards);
      action.collection = static_cast<uint8_t>(left);
      State after = state;
      if (Do(action, &after)) visit(action, after);
    }
  }
}

std::string_view EngineModel::Violated(const State& state) const {
  return ViolatedInvariant(scope_, state);
}

}  // namespace seendb::model
