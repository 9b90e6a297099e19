#include "model/effects.h"

#include <algorithm>

namespace seendb::model {

// ---- The ring ----

namespace {

int Find(const Scope& scope, const Shard& shard, Phase phase) {
  int found = -1;
  for (int slot = 0; slot < scope.slots; ++slot) {
    if (shard.phase[slot] != phase) continue;
    if (found < 0 || shard.order[slot] < shard.order[found]) found = slot;
  }
  return found;
}

}  // namespace

int CurrentSlot(const Scope& scope, const Shard& shard) {
  return Find(scope, shard, Phase::kCurrent);
}
int OldestClosed(const Scope& scope, const Shard& shard) {
  return Find(scope, shard, Phase::kClosed);
}
int Draining(const Scope& scope, const Shard& shard) {
  return Find(scope, shard, Phase::kDraining);
}

void OpenNext(const Scope& scope, Shard* shard) {
  for (int tried = 0; tried < scope.slots; ++tried) {
    const int slot = (shard->turn + tried) % scope.slots;
    if (shard->phase[slot] != Phase::kFree && shard->phase[slot] != Phase::kDrained) continue;
    shard->phase[slot] = Phase::kCurrent;
    shard->turn = static_cast<uint8_t>((slot + 1) % scope.slots);
    return;
  }
}

void BeginRing(const Scope& scope, Shard* shard) {
  uint8_t closed = 0;
  for (int slot = 0; slot < scope.slots; ++slot) {
    const bool found = (shard->disk.records >> slot & 1) != 0;
    shard->phase[slot] = found ? Phase::kClosed : Phase::kFree;
    shard->order[slot] = found ? ++closed : 0;
  }
  shard->turn = 0;
  OpenNext(scope, shard);
}

Staged StagedOf(const Disk& disk) {
  Staged staged = {0, 0};
  for (int slot = 0; slot < kSlots; ++slot) {
    staged.plays |= disk.journal[slot];
    staged.entries |= disk.journal_entries[slot];
  }
  return staged;
}

// ---- Durability ----

bool Write(const Scope& scope, Shard* shard) {
  if (shard->unsynced >= scope.unsynced) return false;
  ++shard->unsynced;
  return true;
}

void Sync(Shard* shard) {
  shard->safe = shard->disk;
  shard->promise_safe = shard->promise;
  shard->unsynced = 0;
}

void Die(const Scope& scope, State* state, bool power) {
  for (int number = 0; number < scope.shards; ++number) {
    Shard& shard = state->shards[number];
    if (shard.absent) continue;
    if (power) {
      shard.disk = shard.safe;
      shard.promise = shard.promise_safe;
    }
    // An opening for writing syncs the logs that it finds.
    Sync(&shard);
    shard.stopped = shard.recovering = 0;
    MakeFamilies(*state, &shard);
    BeginRing(scope, &shard);
  }
}

// ---- Facts ----

void Forget(Disk* disk, Facts facts) {
  ForgetEntries(disk, facts);
  for (Facts& journal : disk->journal) journal &= ~facts;
  disk->merged &= ~facts;
  disk->served &= ~facts;
  disk->hidden &= ~facts;
}

void ForgetEntries(Disk* disk, Facts facts) {
  for (Facts& journal : disk->journal_entries) journal &= ~facts;
  disk->entries &= ~facts;
}

void ForgetCollection(Disk* disk, int collection) {
  Forget(disk, OfCollection(collection));
  disk->families[collection] = disk->sealed[collection] = disk->dropped[collection] = 0;
  disk->unlisted[collection] = 0;
  for (int user = 0; user < kUsers; ++user) {
    disk->cleared[collection][user] = disk->forgotten[collection][user] = 0;
    for (Moment& lifted : disk->lifted[collection][user]) lifted = 0;
    for (Moment& deleted : disk->deleted[user]) deleted = collection == 0 ? 0 : deleted;
  }
}

void Release(Promise* promise, Facts facts) {
  promise->played &= ~facts;
  promise->served &= ~facts;
  promise->hidden &= ~facts;
  promise->entries &= ~facts;
}

void Record(const Scope& scope, Shard* shard, Facts fact, bool enters) {
  const int slot = CurrentSlot(scope, *shard);
  shard->disk.journal[slot] |= fact;
  if (enters) shard->disk.journal_entries[slot] |= fact;
  shard->disk.records = static_cast<uint8_t>(shard->disk.records | 1 << slot);
}

void Serve(Facts* served, Facts* hidden, int collection, int user, int item, int bucket) {
  const Facts of_item = OfItem(collection, user, item);
  const int newest = std::max(bucket, NewestBucket(*served & of_item));
  *hidden &= ~of_item;
  *served = (*served & ~of_item) | Fact(collection, user, item, newest);
}

void BringInLine(const State& state, Shard* shard) {
  for (int collection = 0; collection < kCollections; ++collection) {
    if (shard->disk.made[collection] != state.made[collection] || !state.exists[collection]) {
      ForgetCollection(&shard->disk, collection);
    }
    shard->disk.made[collection] = state.made[collection];
    shard->disk.exists[collection] = state.exists[collection];
  }
}

// ---- Time ----

int OldestKept(int now) { return now - kRetention + 1; }
int OldestRead(int now) { return now - kWindow + 1; }

void MakeFamilies(const State& state, Shard* shard) {
  if (state.in_doubt) return;
  for (int collection = 0; collection < kCollections; ++collection) {
    if (shard->disk.exists[collection] == 0) continue;
    const auto made = static_cast<uint8_t>(1 << state.now);
    for (Disk* disk : {&shard->disk, &shard->safe}) disk->families[collection] |= made;
  }
}

namespace {

// Remembers a bucket, if there is one, as gone.
void Note(int bucket, uint8_t* newest, Shard* shard) {
  if (bucket < *newest) return;
  *newest = static_cast<uint8_t>(bucket + 1);
  Sync(shard);
}

}  // namespace

void Merge(const State& state, Facts plays, Facts entries, Shard* shard) {
  const Facts kept = state.in_doubt ? ~Facts{0} : From(OldestKept(state.now));
  // Plays that are left out as expired are remembered as dropped, synced.
  for (int collection = 0; collection < kCollections; ++collection) {
    Note(NewestBucket(plays & ~kept & OfCollection(collection)), &shard->disk.dropped[collection],
         shard);
  }
  plays &= kept;
  shard->disk.merged |= plays;
  // History notes its own after that. A slot has of each item the newest entry alone.
  for (int item = 0; item < kCollections * kUsers * kItems; ++item) {
    const Facts of_item = entries & OfItem(0, 0, item);
    if ((of_item & kept) != 0) continue;
    Note(NewestBucket(of_item), &shard->disk.unlisted[item / (kUsers * kItems)], shard);
  }
  entries &= kept;
  shard->disk.entries |= entries;
  for (int collection = 0; collection < kCollections; ++collection) {
    for (int bucket = 0; bucket < kBuckets; ++bucket) {
      if ((plays & OfCollection(collection) & From(bucket) & ~From(bucket + 1)) == 0) continue;
      const auto made = static_cast<uint8_t>(1 << bucket);
      // A family is made in the MANIFEST, which is synced.
      for (Disk* disk : {&shard->disk, &shard->safe}) disk->families[collection] |= made;
    }
  }
}

}  // namespace seendb::model
