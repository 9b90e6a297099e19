// items/item_map.h: from the hash of an id to the item's number, in words of 8 bytes: 32 bits of
// the hash and the number. Readers take no lock.
//
// 64 tables, probed one slot after the other. A table that is seven eighths full is copied into one
// half as large again, and goes once its readers have left. engine/doc/items.md says why no
// library's map.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/sync.h"
#include "items/epochs.h"

namespace seendb::items {

/// See the head of this file. Threads: any; readers under a guard of `epochs`. Numbers are from 1.
class ItemMap {
 public:
  /// The beginning of a search, for a batch that fetches all its slots into the cache first.
  struct Place {
    const std::atomic<uint64_t>* slots;
    size_t size;
    size_t at;
    uint32_t tag;
  };

  /// `hash_of`: the hash of an item that is in the map, for copies of tables.
  ItemMap(Epochs* epochs, std::function<uint64_t(uint32_t)> hash_of);
  /// No reader is inside any more.
  ~ItemMap();
  ItemMap(const ItemMap&) = delete;
  ItemMap& operator=(const ItemMap&) = delete;

  Place Begin(uint64_t hash) const {
    const Table* table = shards_[hash >> 58].table.load();
    return {table->slots.get(), table->size, StartOf(hash, table->size),
            static_cast<uint32_t>(hash)};
  }
  /// The next number under this hash, most likely the item's; 0: there are no more.
  static uint32_t Next(Place* place) {
    for (;;) {
      const uint64_t word = place->slots[place->at].load();
      if (word == 0) return 0;
      if (++place->at == place->size) place->at = 0;
      const auto number = static_cast<uint32_t>(word);
      if (static_cast<uint32_t>(word >> 32) == place->tag && number != 0) return number;
    }
  }

  /// Precondition: the map has no such item yet, and `hash_of` knows it.
  void Insert(uint64_t hash, uint32_t number);
  void Remove(uint64_t hash, uint32_t number);

  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kShards = 64;
  static constexpr uint64_t kRemoved = uint64_t{1} << 32;  // number 0

  struct Table {
    explicit Table(size_t slot_count)
        : size(slot_count), slots(new std::atomic<uint64_t>[slot_count]()) {}
    const size_t size;
    size_t used = 0;  // slots that are not 0
    size_t live = 0;
    const std::unique_ptr<std::atomic<uint64_t>[]> slots;
  };
  struct Shard {
    Mutex mutex{LockRank::kStripe};  // of those that write
    std::atomic<Table*> table{nullptr};
  };

  static size_t StartOf(uint64_t hash, size_t size) {
    return static_cast<size_t>(static_cast<unsigned __int128>(hash << 6) * size >> 64);
  }
  static void Put(Table* table, uint64_t hash, uint32_t number);
  Table* Rebuild(Shard* shard) REQUIRES(shard->mutex);

  Epochs* const epochs_;
  const std::function<uint64_t(uint32_t)> hash_of_;
  std::array<Shard, kShards> shards_;
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace seendb::items
