// items/memory_items.h: all items in memory: the records, the map that finds them, the texts that
// they share and the columns. Knows nothing of the database.
//
// Readers hold a guard and take no lock. They see each record either as it was or as it is; a
// column may be ahead of the record of the same item or behind it for a moment.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "items/arena.h"
#include "items/chunked.h"
#include "items/column_rows.h"
#include "items/dictionary.h"
#include "items/epochs.h"
#include "items/item_map.h"
#include "items/record.h"
#include "items/schema.h"

namespace seendb::items {

/// A schema with its columns, as readers see it.
struct Layout {
  Schema schema;
  std::shared_ptr<ColumnRows> rows;
};

/// The place of an item: its number, for columns, and its record as it is now. A number of 0:
/// nowhere.
struct Found {
  uint32_t number = 0;
  const uint8_t* record = nullptr;
};

/// See the head of this file. Threads: reads on any thread, under a guard of `epochs()`; of the
/// other calls those that are for one item may run at once for distinct items.
class MemoryItems {
 public:
  explicit MemoryItems(const Schema& schema);
  ~MemoryItems();
  MemoryItems(const MemoryItems&) = delete;
  MemoryItems& operator=(const MemoryItems&) = delete;

  Epochs& epochs() const { return *epochs_; }
  const Layout& layout() const { return *layout_.load(); }
  const Dictionary& dictionary() const { return dictionary_; }

  Found Find(const IdRef& id) const;
  /// Finds many, in batches with prefetch; `found` is as long as `ids`.
  void FindMany(std::span<const IdRef> ids, Found* found) const;
  /// For who reads columns: the numbers under the ids' hashes, most likely the items' own (all but
  /// one in 10^9), at most kNumbersAtOnce of them; 0: none.
  static constexpr size_t kNumbersAtOnce = 64;
  void FindNumbers(std::span<const IdRef> ids, uint32_t* numbers) const;
  /// Whether the item of this row and number is there and has not expired. Reads the record only of
  /// an item that expires.
  bool IsKnown(ColumnRows::Row row, uint32_t number, uint64_t now_ms) const;
  /// Null: its item went.
  const uint8_t* RecordAt(uint32_t number) const { return records_.Find(number)->load(); }
  Value ValueAt(const Record& record, uint32_t slot, ItemFieldType type) const;
  /// All that is known of the item, borrowed from its record; fields that the schema no longer has
  /// are left out. An item that has no record gives an empty state.
  State StateOf(const Found& found) const;
  /// Calls `visit` for each record, under a guard.
  void ForEach(const std::function<void(const Found&)>& visit) const;

  /// Makes this the state of the item. Precondition: RecordSize is at most kMaxItemBytes. The state
  /// may borrow from the item's present record.
  void Publish(const IdRef& id, const State& state);
  /// The item has no record any more.
  void Erase(const Found& found);
  /// Makes this the schema. Every record is made anew if a column came or a field went.
  void PutSchema(const Schema& schema);

  /// The bytes that a record of this size takes, about, with its share of the tables.
  static uint64_t BytesFor(size_t record_size);
  /// The bytes of everything that is in use; the same with what the arena holds beyond that.
  uint64_t used_bytes() const;
  uint64_t reserved_bytes() const;
  uint64_t records() const { return records_count_.load(std::memory_order_relaxed); }
  uint64_t existing() const { return existing_.load(std::memory_order_relaxed); }
  uint64_t record_bytes() const { return record_bytes_.load(std::memory_order_relaxed); }

  /// Whether a record is sound in all its bytes.
  bool Check(const Found& found) const;

 private:
  class DictionaryTexts;

  uint32_t NewNumber();
  void SetRow(uint32_t number, const Record& record);
  void Count(const Record& record, int64_t sign);
  void ReleaseTexts(const Record& record);
  void RetireRecord(const uint8_t* record);
  uint64_t TableBytes() const;

  // Outlives the rest but the arena: what is retired goes back there.
  Arena arena_;
  std::unique_ptr<Epochs> epochs_ = std::make_unique<Epochs>();
  Dictionary dictionary_{&arena_, epochs_.get()};
  Chunked<std::atomic<const uint8_t*>> records_;
  ItemMap map_;
  std::atomic<const Layout*> layout_;
  std::atomic<uint64_t> records_count_{0}, existing_{0}, record_bytes_{0};
  mutable Mutex numbers_mutex_{LockRank::kLeaf};
  uint32_t next_number_ GUARDED_BY(numbers_mutex_) = 1;
  std::vector<uint32_t> free_numbers_ GUARDED_BY(numbers_mutex_);
};

}  // namespace seendb::items
