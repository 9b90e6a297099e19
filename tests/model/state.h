// tests/model/state.h: one state of the engine, as a plain value: no pointer, no padding, so that
// bytes can be compared and hashed.
//
// A fact is (collection, user, item, bucket): a bit of a mask. A moment is when something happened,
// as coarsely as the rules need it: 2b+1 is in bucket b, after everything done before and before
// everything done later; 0 is never. The first millisecond of bucket b lies between 2b and 2b+1.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "model/scope.h"

namespace seendb::model {

using Facts = uint32_t;
using Moment = uint8_t;

inline constexpr int kFacts = kCollections * kUsers * kItems * kBuckets;
static_assert(kFacts <= 32);

constexpr int FactNumber(int collection, int user, int item, int bucket) {
  return ((collection * kUsers + user) * kItems + item) * kBuckets + bucket;
}
constexpr Facts Fact(int collection, int user, int item, int bucket) {
  return Facts{1} << FactNumber(collection, user, item, bucket);
}
/// All facts of an item, of a user in a collection, of a collection, of a user.
Facts OfItem(int collection, int user, int item);
Facts OfUserIn(int collection, int user);
Facts OfCollection(int collection);
Facts OfUser(int user);
/// All facts of buckets from `bucket` on.
Facts From(int bucket);
/// The newest bucket of any of these facts; -1: no facts.
int NewestBucket(Facts facts);

/// The moment of something that is done now, in bucket `now`.
constexpr Moment InBucket(int now) { return static_cast<Moment>(2 * now + 1); }
/// Whether the first millisecond of a bucket is not after a moment.
constexpr bool StartIsCovered(int bucket, Moment moment) { return moment > 2 * bucket; }

/// The contents of one shard's disk. Twice in a shard: as the next opening after a killed process
/// finds it, and as it is after a power cut.
struct Disk {
  Facts journal[kSlots];          ///< plays, by the family of the slot
  Facts journal_entries[kSlots];  ///< those of them that enter history
  Facts merged;                   ///< in the seen filters
  Facts entries;                  ///< in history
  Facts served;                   ///< impressions; of an item the newest alone
  Facts hidden;                   ///< those of them that a deletion hides, until a play ends it
  Moment erased[kUsers];
  Moment cleared[kCollections][kUsers];
  Moment forgotten[kCollections][kUsers];
  Moment lifted[kCollections][kUsers][kItems];  ///< deleted, recommended again; ended by a play
  Moment deleted[kUsers][kItems];               ///< from history; outlasts that
  uint8_t paused[kUsers];          ///< bit b: recording was paused when bucket b began; kPausedNow
  uint8_t record[kUsers];          ///< whether there is a user record
  uint8_t families[kCollections];  ///< bit b: bucket b has families
  uint8_t sealed[kCollections];    ///< bit b: bucket b is sealed
  uint8_t dropped[kCollections];   ///< 1 + the newest bucket that was dropped; 0: none
  uint8_t made[kCollections];      ///< how often it was made, as this shard knows
  uint8_t exists[kCollections];    ///< whether it is there, as this shard knows
  uint8_t offset;                  ///< 1 + the offset of the log to read next; 0: not known
  uint8_t records;  ///< bit s: the journal of slot s has records, if only of what was erased
  uint8_t unlisted[kCollections];  ///< as `dropped`, of history
};
inline constexpr uint8_t kPausedNow = 0x80;

/// The facts that are owed to callers. Actions keep it by the documents' words, beside what the
/// engine does.
struct Promise {
  Facts played, served, entries, hidden;
};

enum class Phase : uint8_t { kFree, kCurrent, kClosed, kDraining, kDrained };

/// One shard.
struct Shard {
  Disk disk, safe;  ///< `safe` is left after a power cut
  Promise promise, promise_safe;
  Phase phase[kSlots];
  uint8_t order[kSlots];  ///< of closed and draining slots: 1 is the oldest; else 0
  uint8_t turn;           ///< the position that is tried next
  uint8_t stopped;        ///< its disk failed: it takes no writes
  uint8_t absent;         ///< detached
  uint8_t unsynced;       ///< writes since the last sync, up to the scope's bound
  uint8_t recovering;     ///< it was opened anew after that, and what memory has is not drained yet
  uint8_t removed;        ///< absent, and its folder was deleted
};

/// See the head of this file.
struct State {
  Shard shards[kShards];
  Disk copy;  ///< a checkpoint, if has_copy
  Promise copy_promise;
  uint8_t has_copy;            ///< 1 + the shard that was copied
  uint8_t now;                 ///< the bucket that the clock shows
  uint8_t in_doubt;            ///< the clock is
  uint8_t made[kCollections];  ///< as the file COLLECTIONS says
  uint8_t exists[kCollections];
  uint8_t over;  ///< nothing happens any more
};
static_assert(std::has_unique_object_representations_v<State>);

constexpr int ShardOf(const Scope& scope, int user) { return scope.shards == 1 ? 0 : user; }

/// A database that was just made, with its collections.
State Initial(const Scope& scope);
/// Which names are exchanged. To exchange them again undoes it.
struct Names {
  bool users = false, items = false;
};
/// The same state with other names.
State Renamed(const Scope& scope, const State& state, const Names& names);
/// The one that stands for all states that differ in names alone. `*names` leads to it.
State Canonical(const Scope& scope, const State& state, Names* names = nullptr);
/// For people.
std::string Text(const Scope& scope, const State& state);

}  // namespace seendb::model
