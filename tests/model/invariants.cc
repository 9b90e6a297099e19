#include "model/invariants.h"

#include <algorithm>

#include "model/effects.h"
#include "model/view.h"

namespace seendb::model {
namespace {

struct Invariant {
  std::string_view sentence;
  bool (*Holds)(const Scope& scope, const State& state);
};

template <typename Holds>
bool EachUser(const Scope& scope, const State& state, const Holds& holds) {
  for (int collection = 0; collection < scope.collections; ++collection) {
    for (int user = 0; user < scope.users; ++user) {
      const UserView is = ViewOf(scope, state, collection, user);
      const UserView owed = OwedOf(scope, state, collection, user);
      for (int item = 0; item < scope.items; ++item) {
        if (!is.unavailable && !holds(is, owed, item)) return false;
      }
    }
  }
  return true;
}

template <typename Holds>
bool EachShard(const Scope& scope, const State& state, const Holds& holds) {
  for (int number = 0; number < scope.shards; ++number) {
    if (!holds(state.shards[number])) return false;
  }
  return true;
}

bool PlayedIsSeen(const Scope& scope, const State& state) {
  return EachUser(scope, state, [](const UserView& is, const UserView& owed, int item) {
    return is.seen[item] || !owed.seen[item] || is.degraded;
  });
}

bool ListedIsThere(const Scope& scope, const State& state) {
  return EachUser(scope, state, [](const UserView& is, const UserView& owed, int item) {
    return is.listed[item] || !owed.listed[item] || is.list_lacks;
  });
}

bool NothingForgottenIsAnswered(const Scope& scope, const State& state) {
  return EachUser(scope, state, [](const UserView& is, const UserView& owed, int item) {
    return (owed.played[item] || !is.played[item]) && (owed.served[item] || !is.served[item]) &&
           (owed.listed[item] || !is.listed[item]);
  });
}

bool DurableIsKept(const Scope& scope, const State& state) {
  return EachShard(scope, state, [&](const Shard& shard) {
    const Facts counted = From(OldestKept(state.now));
    const Facts staged = StagedOf(shard.safe).plays | shard.safe.merged;
    const Facts dropped = [&] {
      Facts facts = 0;
      for (int collection = 0; collection < kCollections; ++collection) {
        facts |= OfCollection(collection) & ~From(shard.safe.dropped[collection]);
      }
      return facts;
    }();
    const Facts owed = shard.promise_safe.played & counted & ~dropped;
    return (owed & ~staged) == 0 && (shard.promise_safe.served & ~shard.safe.served) == 0;
  });
}

bool OneCurrentSlot(const Scope& scope, const State& state) {
  return EachShard(scope, state, [&](const Shard& shard) {
    int current = 0, undrained = 0;
    for (int slot = 0; slot < scope.slots; ++slot) {
      current += shard.phase[slot] == Phase::kCurrent;
      undrained += shard.phase[slot] == Phase::kClosed || shard.phase[slot] == Phase::kDraining;
    }
    return shard.absent || current + (undrained == scope.slots) == 1;
  });
}

bool JournalsAreUndrained(const Scope& scope, const State& state) {
  return EachShard(scope, state, [&](const Shard& shard) {
    for (int slot = 0; slot < scope.slots; ++slot) {
      const bool drained =
          shard.phase[slot] == Phase::kFree || shard.phase[slot] == Phase::kDrained;
      if (!shard.absent && drained && shard.disk.journal[slot] != 0) return false;
    }
    return true;
  });
}

bool EntriesWerePlayed(const Scope& scope, const State& state) {
  return EachShard(scope, state, [&](const Shard& shard) {
    for (const Disk* disk : {&shard.disk, &shard.safe}) {
      const Staged staged = StagedOf(*disk);
      if (((disk->entries | staged.entries) & ~(disk->merged | staged.plays)) != 0) return false;
    }
    return true;
  });
}

// A message below the offset is there, unless its user was erased or cleared or its bucket dropped.
bool OffsetsCoverPlays(const Scope& scope, const State& state) {
  if (!state.exists[0] || state.made[0] > 1) return true;
  for (int number = 0; number < scope.shards; ++number) {
    for (const Disk* disk : {&state.shards[number].disk, &state.shards[number].safe}) {
      const Facts has = StagedOf(*disk).plays | disk->merged;
      for (int message = 0; message + 1 < disk->offset; ++message) {
        const int user = message % scope.users, item = message / scope.users % scope.items;
        if (ShardOf(scope, user) != number) continue;
        const bool gone =
            disk->erased[user] != 0 || disk->forgotten[0][user] != 0 || disk->dropped[0] != 0;
        if (!gone && (has & Fact(0, user, item, 0)) == 0) return false;
      }
    }
  }
  return true;
}

bool FormerCollectionsAreEmpty(const Scope& scope, const State& state) {
  return EachShard(scope, state, [&](const Shard& shard) {
    for (int collection = 0; collection < scope.collections; ++collection) {
      if (shard.absent || state.exists[collection]) continue;
      const Facts has = StagedOf(shard.disk).plays | shard.disk.merged | shard.disk.served;
      if ((has & OfCollection(collection)) != 0) return false;
    }
    return true;
  });
}

constexpr Invariant kInvariants[] = {
    {"Within the window an item that was played is never answered unseen", PlayedIsSeen},
    {"A play that was acknowledged is in history until it is deleted", ListedIsThere},
    {"What was erased, cleared or deleted is not answered", NothingForgottenIsAnswered},
    {"Sync(): everything acknowledged before the call is kept after power loss", DurableIsKept},
    {"Only the current slot takes plays; when none is left there is no current slot",
     OneCurrentSlot},
    {"A play leaves the ring only after it is in the family", JournalsAreUndrained},
    {"A play that enters is journalled once, for history and filter together", EntriesWerePlayed},
    {"A shard never knows an offset whose plays it has not got", OffsetsCoverPlays},
    {"The next collection of the name begins empty", FormerCollectionsAreEmpty},
};

}  // namespace

std::string_view ViolatedInvariant(const Scope& scope, const State& state) {
  const auto* const violated =
      std::find_if(std::begin(kInvariants), std::end(kInvariants),
                   [&](const Invariant& one) { return !one.Holds(scope, state); });
  return violated == std::end(kInvariants) ? std::string_view() : violated->sentence;
}

}  // namespace seendb::model
