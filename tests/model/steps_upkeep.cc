#include <algorithm>
#include <cstring>
#include <utility>

#include "model/effects.h"
#include "model/steps.h"

namespace seendb::model {

// ---- The ring ----

namespace {

// Whether anything was staged in the slot, be it erased since.
bool WasUsed(const Shard& shard, int slot) { return (shard.disk.records >> slot & 1) != 0; }

}  // namespace

// The slot's hour has passed. A slot without plays stays the current one.
bool Rotate(Step* step) {
  Shard& shard = step->OfShard();
  if (shard.absent || shard.stopped) return false;
  const int slot = CurrentSlot(step->scope, shard);
  if (slot < 0) return false;
  if (!WasUsed(shard, slot)) {
    step->answer = Answer::kNothing;
    return true;
  }
  shard.phase[slot] = Phase::kClosed;
  shard.order[slot] =
      static_cast<uint8_t>(1 + *std::max_element(std::begin(shard.order), std::end(shard.order)));
  OpenNext(step->scope, &shard);
  return true;
}

// Steps 1 and 2 of a drain: what the slot holds is merged, and not synced yet.
bool BeginDrain(Step* step) {
  Shard& shard = step->OfShard();
  if (shard.absent || shard.stopped || Draining(step->scope, shard) >= 0) return false;
  const int slot = OldestClosed(step->scope, shard);
  if (slot < 0) return false;
  shard.phase[slot] = Phase::kDraining;
  Merge(step->state, shard.disk.journal[slot], shard.disk.journal_entries[slot], &shard);
  return true;
}

namespace {

void Renumber(Shard* shard, int slot) {
  const uint8_t gone = std::exchange(shard->order[slot], uint8_t{0});
  for (uint8_t& order : shard->order) order = static_cast<uint8_t>(order - (order > gone));
}

void Empty(Disk* disk, int slot) {
  disk->journal[slot] = disk->journal_entries[slot] = 0;
  disk->records = static_cast<uint8_t>(disk->records & ~(1 << slot));
}

}  // namespace

// Steps 3 to 5: the log is synced, then the journal goes, then the slot is drained.
bool EndDrain(Step* step) {
  Shard& shard = step->OfShard();
  const int slot = Draining(step->scope, shard);
  if (slot < 0 || shard.stopped || shard.absent) return false;
  Sync(&shard);
  Empty(&shard.disk, slot);
  Empty(&shard.safe, slot);
  shard.phase[slot] = Phase::kDrained;
  Renumber(&shard, slot);
  if (CurrentSlot(step->scope, shard) < 0) OpenNext(step->scope, &shard);
  return true;
}

// The disk fails in step 3: the slot is closed again, with everything it had. No sync is
// tried if nothing was written since the last one.
bool FailDrain(Step* step) {
  Shard& shard = step->OfShard();
  const int slot = Draining(step->scope, shard);
  if (slot < 0 || shard.stopped || shard.absent) return false;
  if (std::memcmp(&shard.disk, &shard.safe, sizeof shard.disk) == 0) return false;
  shard.phase[slot] = Phase::kClosed;
  shard.stopped = 1;
  step->answer = Answer::kIOError;
  return true;
}

// ---- Buckets ----

bool Seal(Step* step) {
  const int collection = step->action.collection, bucket = step->action.bucket;
  if (!step->state.exists[collection] || bucket >= step->state.now) return false;
  const auto bit = static_cast<uint8_t>(1 << bucket);
  bool any = false;
  for (int number = 0; number < step->scope.shards; ++number) {
    const Shard& shard = step->state.shards[number];
    if (shard.absent || shard.stopped) return false;
    any = any || (shard.disk.families[collection] & bit) != 0;
  }
  if (!any || step->state.in_doubt) return false;  // what is sealed by hand asks no clock
  for (int number = 0; number < step->scope.shards; ++number) {
    Shard& shard = step->state.shards[number];
    if ((shard.disk.families[collection] & bit) == 0) continue;
    shard.disk.sealed[collection] |= bit;
    Sync(&shard);
  }
  return true;
}

namespace {

// Before a bucket is dropped the shard notes that, synced, unless a clock that was ahead had it
// noted before. The families go in the MANIFEST, which is synced and syncs nothing else.
void DropOne(int collection, int bucket, Shard* shard) {
  const auto bit = static_cast<uint8_t>(1 << bucket);
  const Facts facts = OfCollection(collection) & From(bucket) & ~From(bucket + 1);
  const auto note = [bucket](uint8_t* newest) {
    const bool known = *newest > bucket;
    if (!known) *newest = static_cast<uint8_t>(bucket + 1);
    return !known;
  };
  bool written = (shard->disk.sealed[collection] & bit) != 0;  // the mark of a seal is taken away
  if (note(&shard->disk.dropped[collection])) written = true;
  if (collection == 0 && note(&shard->disk.unlisted[collection])) written = true;
  if (written) Sync(shard);
  for (Disk* disk : {&shard->disk, &shard->safe}) {
    disk->families[collection] &= static_cast<uint8_t>(~bit);
    disk->sealed[collection] &= static_cast<uint8_t>(~bit);
    disk->merged &= ~facts;
    disk->entries &= ~facts;
  }
}

}  // namespace

bool Drop(Step* step) {
  const int oldest = OldestKept(step->state.now);
  for (int number = 0; number < step->scope.shards; ++number) {
    const Shard& shard = step->state.shards[number];
    if (shard.absent || shard.stopped || Draining(step->scope, shard) >= 0) return false;
  }
  if (step->state.in_doubt) return step->answer = Answer::kUnavailable, true;
  step->answer = Answer::kNothing;
  for (int number = 0; number < step->scope.shards; ++number) {
    Shard& shard = step->state.shards[number];
    for (int collection = 0; collection < step->scope.collections; ++collection) {
      for (int bucket = 0; bucket < oldest; ++bucket) {
        if ((shard.disk.families[collection] >> bucket & 1) == 0) continue;
        step->answer = Answer::kOk;
        DropOne(collection, bucket, &shard);
      }
    }
  }
  return true;
}

// ---- The disk ----

bool SyncAll(Step* step) {
  for (int number = 0; number < step->scope.shards; ++number) {
    Shard& shard = step->state.shards[number];
    if (shard.absent) continue;
    if (shard.stopped)
      step->answer = Answer::kIOError;
    else
      Sync(&shard);
  }
  return true;
}

// After a sync that failed no later one of that log pretends to have worked.
bool FailSync(Step* step) {
  Shard& shard = step->OfShard();
  if (shard.absent || shard.stopped || shard.unsynced == 0) return false;
  shard.stopped = 1;
  step->answer = Answer::kIOError;
  return true;
}

namespace {

// The ring has every acknowledged play that is not drained: all of them go into tables.
void DrainAll(Step* step) {
  Shard& shard = step->OfShard();
  const Staged staged = StagedOf(shard.disk);
  Merge(step->state, staged.plays, staged.entries, &shard);
  for (int slot = 0; slot < step->scope.slots; ++slot) {
    const Phase phase = shard.phase[slot];
    const bool turned = phase == Phase::kCurrent && WasUsed(shard, slot);
    if (!turned && phase != Phase::kClosed && phase != Phase::kDraining) continue;
    shard.phase[slot] = Phase::kDrained;
    shard.order[slot] = 0;
    Empty(&shard.disk, slot);
  }
  if (CurrentSlot(step->scope, shard) < 0) OpenNext(step->scope, &shard);
  shard.stopped = shard.recovering = 0;
  Sync(&shard);
}

}  // namespace

bool Heal(Step* step) {
  if (!step->OfShard().stopped || step->OfShard().absent) return false;
  DrainAll(step);
  return true;
}

// It is opened anew, which syncs the logs, and stands still before it is drained: until then it
// takes plays, and nothing of a log. A drain that stood still has failed.
bool BeginHeal(Step* step) {
  Shard& shard = step->OfShard();
  if (!shard.stopped || shard.absent) return false;
  const int slot = Draining(step->scope, shard);
  if (slot >= 0) shard.phase[slot] = Phase::kClosed;
  shard.stopped = 0;
  shard.recovering = 1;
  Sync(&shard);
  return true;
}

bool EndHeal(Step* step) {
  if (!step->OfShard().recovering) return false;
  DrainAll(step);
  return true;
}

// ---- The clock ----

namespace {

bool MoveOn(Step* step) {
  if (step->state.now + 1 >= step->scope.buckets) return false;
  const auto bucket = ++step->state.now;
  for (Shard& shard : step->state.shards) {
    for (Disk* disk : {&shard.disk, &shard.safe}) {
      for (uint8_t& paused : disk->paused) {
        if ((paused & kPausedNow) != 0) paused = static_cast<uint8_t>(paused | 1 << bucket);
      }
    }
  }
  return true;
}

}  // namespace

bool Forward(Step* step) { return !step->state.in_doubt && MoveOn(step); }

// The clock goes further than the machine's: it is in doubt until it comes back or is confirmed.
bool Jump(Step* step) {
  if (step->state.in_doubt || !MoveOn(step)) return false;
  step->state.in_doubt = 1;
  return true;
}

// The present is noted, synced.
bool Confirm(Step* step) {
  if (!step->state.in_doubt) return false;
  step->state.in_doubt = 0;
  return SyncAll(step);
}

bool Back(Step* step) {
  if (step->state.now == 0) return false;
  const int now = step->state.now - 1;
  for (const Shard& shard : step->state.shards) {
    for (int user = 0; user < kUsers; ++user) {
      if (shard.disk.paused[user] != 0) return false;
    }
    for (int user = 0; user < kUsers; ++user) {
      for (const Moment lifted : shard.disk.lifted[0][user]) {
        if (lifted != 0) return false;
      }
    }
    // An erasure reaches ahead by max_future at most: further facts are not in this model.
    const Facts has = StagedOf(shard.disk).plays | shard.disk.merged | shard.disk.served;
    if ((has & From(now + 2)) != 0) return false;
  }
  step->state.now = static_cast<uint8_t>(now);
  step->state.in_doubt = 0;
  return true;
}

}  // namespace seendb::model
