#include "model/state.h"

#include <bit>
#include <cstring>
#include <utility>

namespace seendb::model {
namespace {

constexpr Facts kOfItem = (Facts{1} << kBuckets) - 1;
constexpr int kItemBits = kBuckets, kUserBits = kItemBits * kItems;
constexpr Facts kOfUser = (Facts{1} << kUserBits) - 1;
constexpr Facts kOfCollection = (Facts{1} << (kUserBits * kUsers)) - 1;

// The facts at every second group of `bits`, beginning with the first.
constexpr Facts Alternate(int bits) {
  Facts mask = 0;
  for (int at = 0; at < kFacts; ++at) mask |= Facts{(at / bits) % 2 == 0} << at;
  return mask;
}

void Exchange(Facts* facts, int bits) {
  static_assert(kUsers == 2 && kItems == 2);
  const Facts lower = Alternate(bits);
  *facts = ((*facts & lower) << bits) | ((*facts >> bits) & lower);
}

void RenameFacts(Facts* facts, const Names& names) {
  if (names.users) Exchange(facts, kUserBits);
  if (names.items) Exchange(facts, kItemBits);
}

void Rename(Promise* promise, const Names& names) {
  RenameFacts(&promise->played, names);
  RenameFacts(&promise->served, names);
  RenameFacts(&promise->entries, names);
  RenameFacts(&promise->hidden, names);
}

void Rename(Disk* disk, const Names& names) {
  for (int slot = 0; slot < kSlots; ++slot) {
    RenameFacts(&disk->journal[slot], names);
    RenameFacts(&disk->journal_entries[slot], names);
  }
  RenameFacts(&disk->merged, names);
  RenameFacts(&disk->entries, names);
  RenameFacts(&disk->served, names);
  RenameFacts(&disk->hidden, names);
  for (int collection = 0; collection < kCollections; ++collection) {
    auto& lifted = disk->lifted[collection];
    if (names.users) {
      std::swap(disk->cleared[collection][0], disk->cleared[collection][1]);
      std::swap(disk->forgotten[collection][0], disk->forgotten[collection][1]);
      std::swap(lifted[0], lifted[1]);
    }
    if (!names.items) continue;
    for (auto& of_user : lifted) std::swap(of_user[0], of_user[1]);
  }
  if (names.items) {
    for (auto& of_user : disk->deleted) std::swap(of_user[0], of_user[1]);
  }
  if (!names.users) return;
  std::swap(disk->erased[0], disk->erased[1]);
  std::swap(disk->paused[0], disk->paused[1]);
  std::swap(disk->record[0], disk->record[1]);
  std::swap(disk->deleted[0], disk->deleted[1]);
}

std::string FactsText(Facts facts) {
  std::string text;
  for (int at = 0; at < kFacts; ++at) {
    if ((facts >> at & 1) == 0) continue;
    const int bucket = at % kBuckets, item = at / kItemBits % kItems;
    const int user = at / kUserBits % kUsers, collection = at / (kUserBits * kUsers);
    text += (text.empty() ? "c" : " c") + std::to_string(collection) + ":u" + std::to_string(user) +
            ":i" + std::to_string(item) + "@" + std::to_string(bucket);
  }
  return text.empty() ? "-" : text;
}

std::string DiskText(const Disk& disk) {
  std::string text = "merged " + FactsText(disk.merged) + "; served " + FactsText(disk.served) +
                     "; entries " + FactsText(disk.entries);
  for (int slot = 0; slot < kSlots; ++slot) {
    if (disk.journal[slot] == 0) continue;
    text += "; journal " + std::to_string(slot) + " " + FactsText(disk.journal[slot]);
  }
  return text;
}

}  // namespace

Facts OfItem(int collection, int user, int item) {
  return kOfItem << FactNumber(collection, user, item, 0);
}
Facts OfUserIn(int collection, int user) { return kOfUser << FactNumber(collection, user, 0, 0); }
Facts OfCollection(int collection) { return kOfCollection << FactNumber(collection, 0, 0, 0); }

Facts OfUser(int user) {
  Facts facts = 0;
  for (int collection = 0; collection < kCollections; ++collection) {
    facts |= OfUserIn(collection, user);
  }
  return facts;
}

Facts From(int bucket) {
  Facts facts = 0;
  for (int at = 0; at < kFacts; ++at) facts |= Facts{at % kBuckets >= bucket} << at;
  return facts;
}

int NewestBucket(Facts facts) {
  for (int bucket = kBuckets - 1; bucket >= 0; --bucket) {
    if ((facts & From(bucket)) != 0) return bucket;
  }
  return -1;
}

State Initial(const Scope& scope) {
  State state;
  std::memset(&state, 0, sizeof state);
  for (int collection = 0; collection < scope.collections; ++collection) {
    state.made[collection] = state.exists[collection] = 1;
  }
  for (int number = 0; number < scope.shards; ++number) {
    Shard& shard = state.shards[number];
    for (int collection = 0; collection < scope.collections; ++collection) {
      shard.disk.made[collection] = shard.disk.exists[collection] = 1;
      shard.disk.families[collection] = 1;
    }
    shard.safe = shard.disk;
    shard.phase[0] = Phase::kCurrent;
    shard.turn = static_cast<uint8_t>(1 % scope.slots);
  }
  return state;
}

State Renamed(const Scope& scope, const State& state, const Names& names) {
  State renamed = state;
  for (Shard& shard : renamed.shards) {
    Rename(&shard.disk, names);
    Rename(&shard.safe, names);
    Rename(&shard.promise, names);
    Rename(&shard.promise_safe, names);
  }
  Rename(&renamed.copy, names);
  Rename(&renamed.copy_promise, names);
  if (names.users && scope.shards == 2) {
    std::swap(renamed.shards[0], renamed.shards[1]);
    if (renamed.has_copy != 0) renamed.has_copy = static_cast<uint8_t>(3 - renamed.has_copy);
  }
  return renamed;
}

State Canonical(const Scope& scope, const State& state, Names* names) {
  if (names != nullptr) *names = {};
  State least = state;
  if (!HasSymmetry(scope)) return least;
  for (const Names exchanged : {Names{true, false}, Names{false, true}, Names{true, true}}) {
    if ((exchanged.users && scope.users < 2) || (exchanged.items && scope.items < 2)) continue;
    const State other = Renamed(scope, state, exchanged);
    if (std::memcmp(&other, &least, sizeof least) >= 0) continue;
    least = other;
    if (names != nullptr) *names = exchanged;
  }
  return least;
}

std::string Text(const Scope& scope, const State& state) {
  static constexpr const char* kPhases[] = {"free", "current", "closed", "draining", "drained"};
  std::string text = "bucket " + std::to_string(state.now) + (state.in_doubt ? ", in doubt" : "");
  for (int number = 0; number < scope.shards; ++number) {
    const Shard& shard = state.shards[number];
    text += "\n  shard " + std::to_string(number) + (shard.stopped ? " stopped" : "") +
            (shard.absent ? " absent" : "") + ":";
    for (int slot = 0; slot < scope.slots; ++slot) {
      text += std::string(" ") + kPhases[static_cast<size_t>(shard.phase[slot])];
    }
    text += "\n    disk: " + DiskText(shard.disk) + "\n    safe: " + DiskText(shard.safe) +
            "\n    owed: played " + FactsText(shard.promise.played) + "; served " +
            FactsText(shard.promise.served) + "; entries " + FactsText(shard.promise.entries);
  }
  return text;
}

}  // namespace seendb::model
