#include "model/view.h"

#include "model/effects.h"

namespace seendb::model {
namespace {

// One rule for both books: which of the facts count now.
UserView Counted(const State& state, const Shard& shard, const Promise& facts, int collection,
                 int user) {
  UserView view;
  if (shard.absent) return {.unavailable = true};
  const int oldest = OldestRead(state.now);
  view.degraded = state.in_doubt || shard.disk.dropped[collection] > oldest;
  // The list does not tell of dropped buckets (consistency.md, "Where this version falls short").
  view.list_degraded = state.in_doubt != 0;
  view.list_lacks = shard.disk.dropped[collection] > OldestKept(state.now);
  for (int item = 0; item < kItems; ++item) {
    const Facts of_item = OfItem(collection, user, item);
    const bool lifted = shard.disk.lifted[collection][user][item] != 0;
    view.played[item] = !lifted && (facts.played & of_item & From(oldest)) != 0;
    view.served[item] = (facts.served & ~facts.hidden & of_item & From(oldest)) != 0;
    view.seen[item] = view.played[item] || view.served[item];
    view.listed[item] = (facts.entries & of_item & From(OldestKept(state.now))) != 0;
  }
  return view;
}

}  // namespace

UserView ViewOf(const Scope& scope, const State& state, int collection, int user) {
  const Shard& shard = state.shards[ShardOf(scope, user)];
  const Staged staged = StagedOf(shard.disk);
  const Promise has{staged.plays | shard.disk.merged, shard.disk.served,
                    staged.entries | shard.disk.entries, shard.disk.hidden};
  return Counted(state, shard, has, collection, user);
}

UserView OwedOf(const Scope& scope, const State& state, int collection, int user) {
  const Shard& shard = state.shards[ShardOf(scope, user)];
  return Counted(state, shard, shard.promise, collection, user);
}

}  // namespace seendb::model
