// items/store.h: ItemStore over a database and the items in memory: what is written goes to the
// database first and to memory then; what is read comes from memory alone.
//
// One file per call: load.cc, update.cc, read.cc, trim.cc; store.cc has the rest.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/sync.h"
#include "items/item_database.h"
#include "items/memory_items.h"
#include "seendb/item_store.h"

namespace seendb::items {

/// The outcome of an opening.
struct Loaded {
  std::vector<std::string> damaged_ids;  ///< the first kMaxDamagedIds
  uint64_t damaged = 0;
};
inline constexpr size_t kMaxDamagedIds = 100;

/// Reads all rows into memory, with all processors. kBusy where they take more than `bytes`.
Result<Loaded> LoadItems(const ItemDatabase& database, uint64_t bytes, MemoryItems* memory);

/// See the head of this file.
class Store final : public ItemStore {
 public:
  Store(std::unique_ptr<ItemDatabase> database, const Schema& schema,
        const ItemStoreOptions& options);
  Status Load();

  Status PutSchema(const std::vector<ItemField>& fields) override;
  std::vector<ItemField> Fields() const override;
  std::optional<ItemFieldType> TypeOf(std::string_view name) const override;
  Result<ItemReport> Apply(std::span<const ItemUpdate> updates) override;
  Result<ItemReport> ApplyFrom(std::span<const ItemUpdate> updates,
                               std::span<const ItemSource> sources) override;
  Result<std::vector<ItemSource>> Sources() const override;
  Result<std::vector<Item>> Get(std::span<const IdRef> ids,
                                std::span<const std::string> fields) const override;
  Status Visit(std::span<const IdRef> ids, std::span<const std::string> fields,
               const std::function<void(size_t, const ItemView&)>& visit) const override;
  Status Trim() override;
  Result<std::vector<std::string>> Verify() const override;
  Status Checkpoint(const std::string& path) override;
  ItemStoreStats Stats() const override;
  Status Close() override;

  /// For judges: see column_judge.h.
  const MemoryItems& memory() const { return memory_; }
  bool closed() const { return closed_; }
  uint64_t NowMs() const;

 private:
  Status TrimSome(const std::vector<std::string>& ids, uint64_t now_ms);

  const uint64_t bytes_;
  const uint64_t floor_ms_;
  const std::function<int64_t()> now_ms_;
  // Calls that change something go one after the other, so that the database's order and memory's
  // are one.
  Mutex write_mutex_{LockRank::kMaintenance};
  const std::unique_ptr<ItemDatabase> database_;
  MemoryItems memory_;
  Loaded loaded_;
  uint64_t load_ms_ = 0;
  std::atomic<bool> closed_{false};
};

}  // namespace seendb::items
