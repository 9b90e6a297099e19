#include "ring/staging.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "format/bytes.h"

namespace seendb {
namespace {

constexpr size_t kFirstBlockBytes = 4 << 10;
constexpr size_t kBlockBytesMax = 1 << 20;
constexpr uint32_t kFirstCapacity = 4;
/// Fewer plays are added one by one; more than the most in several groups, so that readers of a
/// stripe wait for some microseconds at most.
constexpr size_t kGroupLeast = 32, kGroupMost = 1'024;
/// How many plays lie between the look at the table, at the entry, at its items, and the addition.
constexpr size_t kAheadEntry = 4, kAheadItems = 8, kAheadPlace = 12;

}  // namespace

Staging::Staging() = default;

char* Staging::Stripe::Allocate(size_t bytes, size_t alignment) {
  size_t skip = (alignment - reinterpret_cast<uintptr_t>(free) % alignment) % alignment;
  if (free == nullptr || skip + bytes > free_bytes) {
    size_t block = kFirstBlockBytes;
    while (block < kBlockBytesMax && block < arena_bytes / 2) block *= 2;
    block = std::max(block, bytes);
    blocks.push_back(std::make_unique_for_overwrite<char[]>(block));
    free = blocks.back().get();
    free_bytes = block;
    arena_bytes += block;
    skip = 0;
  }
  char* at = free + skip;
  free += skip + bytes;
  free_bytes -= skip + bytes;
  return at;
}

Fingerprint* Staging::Stripe::AllocateItems(uint32_t capacity) {
  Fingerprint*& head = reusable[static_cast<size_t>(std::countr_zero(capacity))];
  if (head != nullptr) {
    Fingerprint* items = head;
    std::memcpy(&head, items, sizeof(head));
    return items;
  }
  return reinterpret_cast<Fingerprint*>(
      Allocate(capacity * sizeof(Fingerprint), alignof(Fingerprint)));
}

void Staging::Stripe::Recycle(Fingerprint* items, uint32_t capacity) {
  Fingerprint*& head = reusable[static_cast<size_t>(std::countr_zero(capacity))];
  std::memcpy(items, &head, sizeof(head));
  head = items;
}

const Staging::Entry* Staging::Stripe::Find(uint64_t hash, uint16_t collection,
                                            std::string_view user) const {
  if (table.empty()) return nullptr;
  const size_t mask = table.size() - 1;
  const auto low = static_cast<uint32_t>(hash);
  for (size_t at = low & mask; table[at].index != 0; at = (at + 1) & mask) {
    if (table[at].hash != low) continue;
    const Entry& entry = entries[table[at].index - 1];
    if (entry.hash == hash && entry.collection == collection && entry.user() == user) {
      return &entry;
    }
  }
  return nullptr;
}

Staging::Entry* Staging::Stripe::Find(uint64_t hash, uint16_t collection, std::string_view user) {
  return const_cast<Entry*>(static_cast<const Stripe*>(this)->Find(hash, collection, user));
}

void Staging::Stripe::Rehash() {
  std::vector<Place> larger(std::max<size_t>(table.size() * 2, 64));
  const size_t mask = larger.size() - 1;
  for (const Place& place : table) {
    if (place.index == 0) continue;
    size_t at = place.hash & mask;
    while (larger[at].index != 0) at = (at + 1) & mask;
    larger[at] = place;
  }
  table = std::move(larger);
}

// A new entry for the play's bucket: in the table, or behind the user's other buckets.
Staging::Entry* Staging::Stripe::Insert(uint64_t hash, uint16_t collection,
                                        const StagedPlay& play) {
  Entry* head = Find(hash, collection, play.user);
  Entry& entry = entries.emplace_back();
  const auto index = static_cast<uint32_t>(entries.size());
  entry.hash = hash;
  entry.collection = collection;
  entry.bucket = play.bucket;
  entry.user_size = static_cast<uint8_t>(play.user.size());
  entry.capacity = kFirstCapacity;
  entry.items = AllocateItems(kFirstCapacity);
  if (head != nullptr) {
    entry.user_bytes = head->user_bytes;
    entry.next = head->next;
    head->next = index;
    return &entry;
  }
  char* name = Allocate(play.user.size(), 1);
  std::memcpy(name, play.user.data(), play.user.size());
  entry.user_bytes = name;
  if ((heads + 1) * 4 > table.size() * 3) Rehash();
  ++heads;
  const size_t mask = table.size() - 1;
  const auto low = static_cast<uint32_t>(hash);
  size_t at = low & mask;
  while (table[at].index != 0) at = (at + 1) & mask;
  table[at] = {low, index};
  return &entry;
}

// Collapses repeats; only where that frees too little, doubles.
void Staging::Stripe::Grow(Entry* entry) {
  if (entry->capacity >= 16) {
    std::sort(entry->items, entry->items + entry->count);
    Fingerprint* end = std::unique(entry->items, entry->items + entry->count);
    entry->count = static_cast<uint32_t>(end - entry->items);
    if (entry->count <= entry->capacity / 4 * 3) return;
  }
  Fingerprint* larger = AllocateItems(entry->capacity * 2);
  std::memcpy(larger, entry->items, entry->count * sizeof(Fingerprint));
  Recycle(entry->items, entry->capacity);
  entry->items = larger;
  entry->capacity *= 2;
  largest = std::max(largest, entry->capacity);
}

void Staging::Stripe::Add(uint64_t hash, uint16_t collection, const StagedPlay& play) {
  Entry* entry = Find(hash, collection, play.user);
  while (entry != nullptr && entry->bucket != play.bucket) {
    entry = entry->next == 0 ? nullptr : &entries[entry->next - 1];
  }
  if (entry == nullptr) entry = Insert(hash, collection, play);
  if (entry->count == entry->capacity) Grow(entry);
  entry->items[entry->count++] = play.item;
  ++plays;
}

void Staging::Add(uint16_t collection, const StagedPlay& play) {
  const uint64_t hash = HashOfUser(collection, play.user);
  Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  stripe.Add(hash, collection, play);
  NoteCrowd(stripe);
}

const Staging::Entry* Staging::Stripe::Guess(uint64_t hash) const {
  if (table.empty()) return nullptr;
  const auto low = static_cast<uint32_t>(hash);
  const Place& place = table[low & (table.size() - 1)];
  return place.index != 0 && place.hash == low ? &entries[place.index - 1] : nullptr;
}

void Staging::AddAll(uint16_t collection, std::span<const StagedPlay> plays) {
  while (plays.size() >= kGroupLeast) {
    const size_t size = std::min(plays.size(), kGroupMost);
    AddGrouped(collection, plays.first(size));
    plays = plays.subspan(size);
  }
  for (const StagedPlay& play : plays) Add(collection, play);
}

// Sorts by stripe as EventsByShard does by shard, then works on one stripe after the other. What a
// play touches lies in three places that are seldom cached: a place of the table, the entry it
// names, the user's name and the items that the entry points to. They are fetched in turn, while
// the plays before are added.
void Staging::AddGrouped(uint16_t collection, std::span<const StagedPlay> plays) {
  std::array<uint64_t, kGroupMost> hashes;
  std::array<uint16_t, kGroupMost> order;
  std::array<uint16_t, kUserStripes + 1> ends{};
  for (size_t i = 0; i < plays.size(); ++i) {
    hashes[i] = HashOfUser(collection, plays[i].user);
    ++ends[UserStripeOf(hashes[i]) + 1];
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  for (size_t i = 0; i < plays.size(); ++i) {
    order[ends[UserStripeOf(hashes[i])]++] = static_cast<uint16_t>(i);
  }
  size_t begin = 0;
  for (size_t s = 0; s < kUserStripes; ++s) {  // ends[s] has become the end of stripe s
    const std::span<const uint16_t> mine(order.data() + begin, ends[s] - begin);
    begin = ends[s];
    if (mine.empty()) continue;
    Stripe& stripe = stripes_[s];
    const MutexLock lock(stripe.mutex);
    for (size_t i = 0; i < mine.size() + kAheadPlace; ++i) {
      if (i < mine.size() && !stripe.table.empty()) {
        __builtin_prefetch(&stripe.table[hashes[mine[i]] & (stripe.table.size() - 1)]);
      }
      if (const size_t at = i - kAheadEntry; i >= kAheadEntry && at < mine.size()) {
        if (const Entry* entry = stripe.Guess(hashes[mine[at]])) __builtin_prefetch(entry, 1);
      }
      if (const size_t at = i - kAheadItems; i >= kAheadItems && at < mine.size()) {
        if (const Entry* entry = stripe.Guess(hashes[mine[at]])) {
          __builtin_prefetch(entry->user_bytes);
          __builtin_prefetch(entry->items + entry->count, 1);
        }
      }
      if (i < kAheadPlace) continue;
      const uint16_t at = mine[i - kAheadPlace];
      stripe.Add(hashes[at], collection, plays[at]);
    }
    NoteCrowd(stripe);
  }
}

void Staging::Collect(uint16_t collection, std::string_view user, int64_t oldest_bucket,
                      std::vector<Fingerprint>* items, BucketSpan* buckets) const {
  const uint64_t hash = HashOfUser(collection, user);
  const Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  const Entry* entry = stripe.Find(hash, collection, user);
  while (entry != nullptr) {
    if (entry->bucket >= oldest_bucket && entry->count > 0) {
      buckets->Meet(entry->bucket);
      items->insert(items->end(), entry->items, entry->items + entry->count);
      if (buckets->runs != nullptr) buckets->runs->push_back({entry->bucket, items->size()});
    }
    entry = entry->next == 0 ? nullptr : &stripe.entries[entry->next - 1];
  }
}

std::optional<int64_t> Staging::NewestBucket(uint16_t collection) const {
  std::optional<int64_t> newest;
  for (const Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    for (const Entry& entry : stripe.entries) {
      if (entry.collection != collection || entry.count == 0) continue;
      newest = std::max(newest.value_or(entry.bucket), entry.bucket);
    }
  }
  return newest;
}

void Staging::Erase(uint16_t collection, std::string_view user) {
  const uint64_t hash = HashOfUser(collection, user);
  Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  Entry* entry = stripe.Find(hash, collection, user);
  while (entry != nullptr) {
    stripe.plays -= std::min<uint64_t>(stripe.plays, entry->count);
    entry->count = 0;
    entry = entry->next == 0 ? nullptr : &stripe.entries[entry->next - 1];
  }
}

std::vector<const Staging::Entry*> Staging::Entries() const {
  std::vector<const Entry*> all;
  all.reserve(entries());
  for (const Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    for (const Entry& entry : stripe.entries) {
      if (entry.count > 0) all.push_back(&entry);
    }
  }
  std::sort(all.begin(), all.end(), [](const Entry* a, const Entry* b) {
    if (a->collection != b->collection) return a->collection < b->collection;
    if (a->bucket != b->bucket) return a->bucket < b->bucket;
    return a->user() < b->user();
  });
  return all;
}

uint64_t Staging::plays() const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    sum += stripe.plays;
  }
  return sum;
}

uint64_t Staging::entries() const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    sum += stripe.entries.size();
  }
  return sum;
}

uint64_t Staging::bytes() const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    sum += stripe.arena_bytes + stripe.table.size() * sizeof(Place) +
           stripe.entries.size() * sizeof(Entry);
  }
  return sum;
}

}  // namespace seendb
