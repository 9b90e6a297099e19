#include <algorithm>

#include "model/effects.h"
#include "model/steps.h"

namespace seendb::model {
namespace {

// Whether a call about a user can be made at all; else its answer is set.
bool Reaches(Step* step, const Shard& shard) {
  if (shard.absent)
    step->answer = Answer::kUnavailable;
  else if (shard.stopped)
    step->answer = Answer::kIOError;
  else
    return true;
  return false;
}

// A deletion, a clear or a pause beside plays that lie ahead of the clock has rules of its own,
// which this model does not have.
bool HasPlaysAhead(const Step& step, const Shard& shard) {
  const Facts ahead = OfUser(step.action.user) & From(step.state.now + 1);
  const Facts has = shard.promise.played | shard.promise.served | shard.promise.entries;
  return (has & ahead) != 0;
}

bool Paused(Step* step, bool paused) {
  Shard& shard = step->OfUser();
  if (HasPlaysAhead(*step, shard)) return false;
  if (!Reaches(step, shard)) return true;
  uint8_t& bits = shard.disk.paused[step->action.user];
  if (((bits & kPausedNow) != 0) == paused) {
    step->answer = Answer::kNothing;
    Sync(&shard);  // what paused it before may not be on the disk yet
    return true;
  }
  bits = static_cast<uint8_t>(paused ? bits | kPausedNow : bits & ~kPausedNow);
  shard.disk.record[step->action.user] = 1;
  Sync(&shard);
  return true;
}

bool ClearOf(Step* step, bool filter) {
  Shard& shard = step->OfUser();
  const int collection = step->action.collection, user = step->action.user;
  if (!step->state.exists[collection] || HasPlaysAhead(*step, shard)) return false;
  if (!Reaches(step, shard)) return true;
  const Facts facts = OfUserIn(collection, user);
  const Moment now = InBucket(step->state.now);
  ForgetEntries(&shard.disk, facts);
  shard.promise.entries &= ~facts;
  for (Moment& deleted : shard.disk.deleted[user]) deleted = collection == 0 ? 0 : deleted;
  shard.disk.cleared[collection][user] = std::max(shard.disk.cleared[collection][user], now);
  if (filter) {
    Forget(&shard.disk, facts);
    Release(&shard.promise, facts);
    shard.disk.forgotten[collection][user] = std::max(shard.disk.forgotten[collection][user], now);
    for (Moment& lifted : shard.disk.lifted[collection][user]) lifted = 0;
  }
  shard.disk.record[user] = 1;
  Sync(&shard);
  return true;
}

// Whether a shard may hold anything of a user. With stored offsets, plays may be in the log.
bool MayHold(const Shard& shard, int user) {
  const Staged staged = StagedOf(shard.disk);
  const Facts held = staged.plays | shard.disk.merged | shard.disk.served | shard.disk.entries;
  return (held & OfUser(user)) != 0 || shard.disk.record[user] != 0 || shard.disk.offset != 0;
}

// A known time ahead of the clock counts, up to max_future, which is one bucket. Plays without
// history have a bucket only, and count up to its end.
Moment ErasedAt(const Step& step, const Shard& shard) {
  const int now = step.state.now, user = step.action.user;
  const Staged staged = StagedOf(shard.disk);
  Facts known = shard.disk.entries | staged.entries | shard.disk.served;
  known |= (shard.disk.merged | staged.plays) & OfCollection(1);
  Moment newest = InBucket(now);
  if ((known & OfUser(user) & From(now + 1)) != 0) newest = InBucket(now + 1);
  for (int collection = 0; collection < kCollections; ++collection) {
    newest = std::max(newest, std::min(shard.disk.cleared[collection][user], InBucket(now + 1)));
  }
  return newest;
}

}  // namespace

bool Delete(Step* step) {
  Shard& shard = step->OfUser();
  const Action& action = step->action;
  if (action.collection != 0 || !step->state.exists[0] || HasPlaysAhead(*step, shard)) return false;
  if (!Reaches(step, shard)) return true;
  const Facts facts = OfItem(0, action.user, action.item);
  ForgetEntries(&shard.disk, facts);
  shard.promise.entries &= ~facts;
  shard.disk.hidden |= shard.disk.served & facts;
  shard.promise.hidden |= shard.promise.served & facts;
  shard.disk.lifted[0][action.user][action.item] = InBucket(step->state.now);
  shard.disk.deleted[action.user][action.item] = InBucket(step->state.now);
  shard.disk.record[action.user] = 1;
  Sync(&shard);
  return true;
}

bool Clear(Step* step) { return ClearOf(step, false); }
bool ClearWithFilter(Step* step) { return ClearOf(step, true); }
bool Pause(Step* step) { return Paused(step, true); }
bool Resume(Step* step) { return Paused(step, false); }

bool Erase(Step* step) {
  Shard& shard = step->OfUser();
  const int user = step->action.user;
  if (!Reaches(step, shard)) return true;
  if (!MayHold(shard, user)) {
    step->answer = Answer::kNothing;
    return true;
  }
  Moment& erased = shard.disk.erased[user];
  erased = std::max(erased, ErasedAt(*step, shard));
  Forget(&shard.disk, OfUser(user));
  Release(&shard.promise, OfUser(user));
  for (int collection = 0; collection < kCollections; ++collection) {
    for (Moment& lifted : shard.disk.lifted[collection][user]) lifted = 0;
  }
  for (Moment& deleted : shard.disk.deleted[user]) deleted = 0;
  shard.disk.paused[user] = 0;
  shard.disk.record[user] = 1;
  Sync(&shard);
  return true;
}

// Somebody whom nobody knows takes the place of a user of whom nothing is left but a record: to the
// engine it is another user. So paths go on after an erasure instead of beginning anew.
bool Newcomer(Step* step) {
  Shard& shard = step->OfUser();
  const int user = step->action.user;
  const Facts facts = OfUser(user);
  bool known = false;
  if (shard.absent || step->state.has_copy != 0) return false;
  for (Disk* disk : {&shard.disk, &shard.safe}) {
    const Staged staged = StagedOf(*disk);
    const Facts has = staged.plays | disk->merged | disk->served | disk->entries;
    if ((has & facts) != 0) return false;
    known = known || disk->record[user] != 0;
    disk->erased[user] = disk->paused[user] = disk->record[user] = 0;
    for (int collection = 0; collection < kCollections; ++collection) {
      disk->cleared[collection][user] = disk->forgotten[collection][user] = 0;
      for (Moment& lifted : disk->lifted[collection][user]) lifted = 0;
    }
    for (Moment& deleted : disk->deleted[user]) deleted = 0;
  }
  return known;
}

// A change of collections goes to the shards that are attached, each synced, and into the file. A
// shard that is absent hears of it when it comes.
namespace {

bool Change(Step* step, bool exists) {
  const int collection = step->action.collection;
  if ((step->state.exists[collection] != 0) == exists) return false;
  if (exists && step->state.made[collection] >= step->scope.makings) return false;
  for (int number = 0; number < step->scope.shards; ++number) {
    if (step->state.shards[number].stopped) return false;  // see README.md, "What is not there"
  }
  step->state.exists[collection] = exists;
  if (exists) ++step->state.made[collection];
  for (int number = 0; number < step->scope.shards; ++number) {
    Shard& shard = step->state.shards[number];
    // A former collection owes nothing, in absent shards too.
    if (!exists) Release(&shard.promise, OfCollection(collection));
    if (!exists) Release(&shard.promise_safe, OfCollection(collection));
    if (shard.absent) continue;
    BringInLine(step->state, &shard);
    Sync(&shard);
  }
  return true;
}

}  // namespace

bool Make(Step* step) { return Change(step, true); }
bool Remove(Step* step) { return Change(step, false); }

}  // namespace seendb::model
