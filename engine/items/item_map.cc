#include "items/item_map.h"

#include <algorithm>
#include <utility>

namespace seendb::items {
namespace {

constexpr size_t kFirstMapSlots = 64;

}  // namespace

ItemMap::ItemMap(Epochs* epochs, std::function<uint64_t(uint32_t)> hash_of)
    : epochs_(epochs), hash_of_(std::move(hash_of)) {
  for (Shard& shard : shards_) shard.table = new Table(kFirstMapSlots);
  bytes_ = kShards * kFirstMapSlots * sizeof(uint64_t);
}

ItemMap::~ItemMap() {
  epochs_->Collect();
  for (Shard& shard : shards_) delete shard.table.load();
}

void ItemMap::Put(Table* table, uint64_t hash, uint32_t number) {
  size_t at = StartOf(hash, table->size);
  while (table->slots[at].load(std::memory_order_relaxed) != 0) {
    if (++at == table->size) at = 0;
  }
  table->slots[at] = hash << 32 | number;
  ++table->used;
  ++table->live;
}

ItemMap::Table* ItemMap::Rebuild(Shard* shard) {
  Table* old = shard->table.load();
  const bool grows = old->live * 4 > old->size * 3;  // or removed ones fill it
  auto* fresh = new Table(grows ? old->size + old->size / 2 : old->size);
  for (size_t i = 0; i < old->size; ++i) {
    const auto number = static_cast<uint32_t>(old->slots[i].load(std::memory_order_relaxed));
    if (number != 0) Put(fresh, hash_of_(number), number);
  }
  shard->table = fresh;
  bytes_ += fresh->size * sizeof(uint64_t);
  return old;
}

void ItemMap::Insert(uint64_t hash, uint32_t number) {
  Shard& shard = shards_[hash >> 58];
  Table* old = nullptr;
  {
    const MutexLock lock(shard.mutex);
    const Table* table = shard.table.load();
    if (table->used * 8 >= table->size * 7) old = Rebuild(&shard);
    Put(shard.table.load(), hash, number);
  }
  if (old == nullptr) return;
  epochs_->Retire([this, old] {
    bytes_ -= old->size * sizeof(uint64_t);
    delete old;
  });
}

void ItemMap::Remove(uint64_t hash, uint32_t number) {
  Shard& shard = shards_[hash >> 58];
  const MutexLock lock(shard.mutex);
  Table* table = shard.table.load();
  const uint64_t word = hash << 32 | number;
  for (size_t at = StartOf(hash, table->size);; at = at + 1 == table->size ? 0 : at + 1) {
    const uint64_t there = table->slots[at].load(std::memory_order_relaxed);
    if (there == 0) return;
    if (there != word) continue;
    table->slots[at] = kRemoved;
    --table->live;
    return;
  }
}

}  // namespace seendb::items
