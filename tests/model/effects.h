// tests/model/effects.h: what several actions do.

#pragma once

#include "model/state.h"

namespace seendb::model {

// ---- The ring ----

/// The position of the current slot; -1: none.
int CurrentSlot(const Scope& scope, const Shard& shard);
/// The oldest closed slot, the draining slot; -1: none.
int OldestClosed(const Scope& scope, const Shard& shard);
int Draining(const Scope& scope, const Shard& shard);
/// Makes the next free or drained position the current one.
void OpenNext(const Scope& scope, Shard* shard);
/// An opening makes closed slots of the journals that it finds, whatever they were.
void BeginRing(const Scope& scope, Shard* shard);
/// The contents of undrained slots.
struct Staged {
  Facts plays, entries;
};
Staged StagedOf(const Disk& disk);

// ---- Durability ----

/// A write of the shard that is not synced. False: it leads out of the scope.
bool Write(const Scope& scope, Shard* shard);
/// Everything up to now is on the disk.
void Sync(Shard* shard);
/// The process dies; with `power`, what was not synced is lost. All attached shards are opened
/// anew.
void Die(const Scope& scope, State* state, bool power);

// ---- Facts ----

/// Takes plays, entries and impressions of these facts out of everything.
void Forget(Disk* disk, Facts facts);
void ForgetEntries(Disk* disk, Facts facts);
/// Everything a shard has of a collection goes, and what its users' records say of it.
void ForgetCollection(Disk* disk, int collection);
/// No longer owed.
void Release(Promise* promise, Facts facts);
/// A play is journalled and staged in the current slot. Precondition: there is one.
void Record(const Scope& scope, Shard* shard, Facts fact, bool enters);
/// An item is served: the newest bucket counts.
void Serve(Facts* served, Facts* hidden, int collection, int user, int item, int bucket);
/// A shard that comes is brought in line with the file COLLECTIONS: what it has of a former
/// collection goes.
void BringInLine(const State& state, Shard* shard);

// ---- Time ----

int OldestKept(int now);
int OldestRead(int now);
/// An opening makes the families of the present bucket.
void MakeFamilies(const State& state, Shard* shard);
/// Merges staged facts, but those that have expired, and makes the families of their buckets.
void Merge(const State& state, Facts plays, Facts entries, Shard* shard);

}  // namespace seendb::model
