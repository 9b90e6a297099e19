// server/api/item_door.h: the store of items as handlers see it: none until a schema was put, then
// in the folder items/ of the database.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "ops/items_state.h"
#include "seendb/item_store.h"
#include "wire/items_json.h"

namespace seendb::api {

/// See the head of this file. Threads: any, but for Configure, Open and Close.
class ItemDoor {
 public:
  /// Fields of the schema that stand for a candidate's own members of these names.
  static constexpr std::string_view kGroupsField = "of", kTimeField = "at", kSameField = "same_as";

  /// A store that is open, and the types of its fields.
  struct Opened {
    ItemStore* store = nullptr;  ///< borrowed; null: there is no schema yet
    std::shared_ptr<const wire::ItemTypes> types;
  };

  /// Names the place of the store and how it is opened; call it before Open. Without it there is no
  /// store.
  void Configure(std::string folder, ItemStoreOptions options);
  /// Opens the store if it is there. Takes seconds where it is large.
  Status Open();
  /// No call may be under way.
  Status Close();

  /// kIncompatible: no schema was put yet, or the settings want no store.
  Result<Opened> Use() const;
  /// Whether items may say which groups they are of: there is a field `of` or `same_as`, a list of
  /// texts.
  bool has_groups() const { return has_groups_.load(std::memory_order_acquire); }
  /// Makes the store at the first call. Cost: ItemStore::PutSchema.
  Status PutSchema(const std::vector<ItemField>& fields);
  /// Applies updates and counts what became of them.
  Result<ItemReport> Apply(ItemStore* store, std::span<const ItemUpdate> updates);
  /// The same of updates out of topics: ItemStore::ApplyFrom.
  Result<ItemReport> ApplyFrom(std::span<const ItemUpdate> updates,
                               std::span<const ItemSource> sources);
  /// How far topics were read; nothing where there is no store yet.
  Result<std::vector<ItemSource>> Sources() const;
  /// There are topics of updates: the store is behind them until it was current less than `lag_ms`
  /// ago. Call it before Open.
  void Follow(int64_t lag_ms) { lag_ms_ = lag_ms; }
  /// The store had at this time, in ms since 1970, what the topics said.
  void SetCurrent(int64_t current_ms) { current_ms_.store(current_ms, std::memory_order_relaxed); }
  /// Whether the store is further behind its topics than it may be. Cost: one atomic read.
  bool IsBehind(int64_t now_ms) const {
    return lag_ms_ && now_ms - current_ms_.load(std::memory_order_relaxed) > *lag_ms_;
  }
  /// Counts lines that were refused before they were updates.
  void CountMalformed(uint64_t lines) { refused_.fetch_add(lines, std::memory_order_relaxed); }
  /// Nothing where there is no store.
  std::optional<ops::ItemsState> State() const;
  /// Forgets what is older than `floor_days`; what fails is logged.
  void Trim();
  /// Writes a copy of the store into `folder`, which must not be there; false: there is no store.
  Result<bool> Checkpoint(const std::string& folder) const;

 private:
  void ReadTypes(const ItemStore& store);
  Result<ItemReport> Count(Result<ItemReport> report);

  std::string folder_;
  ItemStoreOptions options_;
  bool configured_ = false;
  Mutex putting_{LockRank::kServerCall};  // one schema at a time
  std::unique_ptr<ItemStore> owned_;      // set once, before store_ is
  std::atomic<ItemStore*> store_{nullptr};
  std::atomic<bool> has_groups_{false};
  mutable Mutex types_mutex_{LockRank::kLeaf};
  std::shared_ptr<const wire::ItemTypes> types_ GUARDED_BY(types_mutex_);
  std::optional<int64_t> lag_ms_;
  std::atomic<int64_t> current_ms_{0};
  std::atomic<uint64_t> accepted_{0}, refused_{0}, stale_{0};
};

}  // namespace seendb::api
