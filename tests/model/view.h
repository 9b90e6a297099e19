// tests/model/view.h: what the engine must answer in a state. This is what is compared after each
// step.

#pragma once

#include "model/state.h"

namespace seendb::model {

/// The answers about a user of a collection, item by item.
struct UserView {
  bool unavailable = false;    ///< the user's shard is absent: nothing below counts
  bool degraded = false;       ///< for the clock, or for buckets of the window that were dropped
  bool list_lacks = false;     ///< buckets that the list would show were dropped by a clock ahead
  bool list_degraded = false;  ///< for the clock
  bool seen[kItems] = {};      ///< by plays or impressions
  bool played[kItems] = {};
  bool served[kItems] = {};
  bool listed[kItems] = {};  ///< in history
};

UserView ViewOf(const Scope& scope, const State& state, int collection, int user);

/// The same by what is owed, and not by what the engine has.
UserView OwedOf(const Scope& scope, const State& state, int collection, int user);

}  // namespace seendb::model
