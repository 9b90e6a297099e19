#include "model/effects.h"
#include "model/steps.h"

namespace seendb::model {

// ---- Processes ----

bool Reopen(Step* step) {
  for (int number = 0; number < step->scope.shards; ++number) {
    Shard& shard = step->state.shards[number];
    if (shard.stopped || Draining(step->scope, shard) >= 0) return false;
    if (!shard.absent) Sync(&shard);
  }
  Die(step->scope, &step->state, false);
  return true;
}

bool Crash(Step* step) {
  if (step->state.in_doubt) return false;  // see README.md, "What is not there"
  Die(step->scope, &step->state, false);
  return true;
}

bool PowerCut(Step* step) {
  if (step->state.in_doubt) return false;  // see README.md, "What is not there"
  Die(step->scope, &step->state, true);
  return true;
}

// The process dies, a shard's MANIFEST is lost, and the shard is made anew of its tables and logs.
// Nothing is lost but what it knew of logs that are ingested; or it says that it may lack
// something, where its log has records of families that were dropped since. The model ends
// there.
bool Repair(Step* step) {
  Shard& shard = step->OfShard();
  if (shard.absent) return false;
  Die(step->scope, &step->state, false);
  shard.disk.offset = 0;
  for (uint8_t& sealed : shard.disk.sealed) sealed = 0;
  Sync(&shard);
  step->state.over = 1;
  return true;
}

// ---- Copies ----

bool Checkpoint(Step* step) {
  Shard& shard = step->OfShard();
  if (shard.absent || shard.stopped || step->state.has_copy != 0) return false;
  Sync(&shard);
  step->state.copy = shard.disk;
  step->state.copy_promise = shard.promise;
  step->state.has_copy = static_cast<uint8_t>(step->action.shard + 1);
  return true;
}

namespace {

// The copy is used up: a shard has it in its place.
void PutCopy(Step* step, Shard* shard) {
  shard->disk = step->state.copy;
  shard->promise = step->state.copy_promise;
  step->state.copy = {};
  step->state.copy_promise = {};
  step->state.has_copy = 0;
  for (int collection = 0; collection < kCollections; ++collection) {
    const bool same = shard->disk.made[collection] == step->state.made[collection];
    if (!same || !step->state.exists[collection]) {
      Release(&shard->promise, OfCollection(collection));
    }
  }
  BringInLine(step->state, shard);
}

}  // namespace

// The database is closed, and a copy of it opened in its place.
bool Restore(Step* step) {
  if (step->scope.shards != 1 || step->state.has_copy == 0) return false;
  Shard& shard = step->state.shards[0];
  for (int collection = 0; collection < kCollections; ++collection) {
    step->state.made[collection] = step->state.copy.made[collection];
    step->state.exists[collection] = step->state.copy.exists[collection];
  }
  PutCopy(step, &shard);
  Die(step->scope, &step->state, false);
  return true;
}

// ---- Shards that come and go ----

bool Detach(Step* step) {
  Shard& shard = step->OfShard();
  if (shard.absent) return false;
  if (shard.stopped) return step->answer = Answer::kIOError, true;
  if (Draining(step->scope, shard) >= 0) return false;
  Sync(&shard);
  shard.absent = 1;
  for (int slot = 0; slot < kSlots; ++slot) {
    shard.phase[slot] = Phase::kFree;
    shard.order[slot] = 0;
  }
  shard.turn = 0;
  return true;
}

bool Attach(Step* step) {
  Shard& shard = step->OfShard();
  if (!shard.absent || shard.removed) return false;
  shard.absent = 0;
  BringInLine(step->state, &shard);
  MakeFamilies(step->state, &shard);
  Sync(&shard);
  BeginRing(step->scope, &shard);
  return true;
}

bool Replace(Step* step) {
  Shard& shard = step->OfShard();
  if (shard.absent || step->state.has_copy != step->action.shard + 1) return false;
  if (shard.stopped) return step->answer = Answer::kIOError, true;
  if (Draining(step->scope, shard) >= 0) return false;
  PutCopy(step, &shard);
  MakeFamilies(step->state, &shard);
  Sync(&shard);
  BeginRing(step->scope, &shard);
  return true;
}

// A shard goes for good, and everything it has with it.
bool LetGo(Step* step) {
  Shard& shard = step->OfShard();
  if (shard.absent || shard.stopped || Draining(step->scope, shard) >= 0) return false;
  shard = {};
  shard.absent = shard.removed = 1;
  return true;
}

namespace {

// A shard that was made holds nothing.
bool TakeEmpty(Step* step) {
  Shard& shard = step->OfShard();
  if (!shard.removed) return false;
  shard.absent = shard.removed = 0;
  BringInLine(step->state, &shard);
  MakeFamilies(step->state, &shard);
  Sync(&shard);
  BeginRing(step->scope, &shard);
  return true;
}

}  // namespace

bool AttachEmpty(Step* step) { return TakeEmpty(step); }

// The power is cut as soon as it has its name: it is there.
bool AttachEmptyCut(Step* step) {
  if (!TakeEmpty(step)) return false;
  Die(step->scope, &step->state, true);
  return true;
}

}  // namespace seendb::model
