// items/column_rows.h: the fields of a schema that have a column, of all items: per item, by its
// number, a row with a word for each such field, and what is known of the item. A question about a
// few fields of many items reads these rows, one line of the cache each, instead of the records.
//
// A word is the value's order (value.h), of a bool that and 1, or a text's number in the dictionary
// and 1; 0: the item has no such field. One i64, the least there is, has the order 0 too: who reads
// 0 in a column of i64 asks the record.

#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "items/chunked.h"
#include "items/schema.h"
#include "items/value.h"

namespace seendb::items {

/// The place of a field's word in each row.
struct ColumnPlace {
  uint16_t field = 0;  ///< its number in the schema
  ItemFieldType type = ItemFieldType::kBool;
  uint32_t unit = 0;   ///< of 8 bytes, from the beginning of the row
  uint32_t shift = 0;  ///< in bits
  uint64_t mask = 0;

  friend bool operator==(const ColumnPlace&, const ColumnPlace&) = default;
};

/// See the head of this file. Threads: any may read; one at a time changes the row of an item.
/// Words are sequentially consistent, as epochs.h asks: a word may be the number of a text that
/// goes when the word does.
class ColumnRows {
 public:
  enum class Known : uint8_t { kNo = 0, kYes = 1, kExpires = 2 };  // the last: the record tells
  using Row = const std::atomic<uint64_t>*;

  /// Rows for the columns of this schema. A schema without columns has no rows: Find gives null.
  explicit ColumnRows(const Schema& schema);

  const std::vector<ColumnPlace>& places() const { return places_; }
  /// Null: the field has no column.
  const ColumnPlace* PlaceOf(uint16_t field) const;

  /// Null: no item of this number, nor of one near it, was ever set.
  Row Find(uint32_t item) const { return places_.empty() ? nullptr : rows_.Find(item); }
  /// For a batch: brings the row of an item into the cache.
  void Prefetch(uint32_t item) const;
  static Known KnownOf(Row row) { return static_cast<Known>(WordOf(row, kKnownPlace)); }
  static uint64_t WordOf(Row row, const ColumnPlace& place) {
    return row[place.unit].load() >> place.shift & place.mask;
  }
  static uint64_t WordOfText(uint32_t number) { return uint64_t{number} + 1; }
  static uint32_t TextOfWord(uint64_t word) { return static_cast<uint32_t>(word - 1); }

  void SetKnown(uint32_t item, Known known);
  void Set(uint32_t item, const ColumnPlace& place, uint64_t word);
  /// The item has nothing, and is not known.
  void Clear(uint32_t item);

  /// Whether there are columns, and every item's row is there.
  bool ready() const { return ready_.load(); }
  void SetReady() { ready_ = !places_.empty(); }

  uint64_t bytes() const { return rows_.bytes(); }

 private:
  static constexpr uint64_t kHalf = 0xffffffff;
  static constexpr ColumnPlace kKnownPlace{.mask = kHalf};

  static std::vector<ColumnPlace> PlacesFor(const Schema& schema);
  static uint32_t UnitsOf(const std::vector<ColumnPlace>& places);

  const std::vector<ColumnPlace> places_;
  const uint32_t units_;  // of a row
  Chunked<std::atomic<uint64_t>> rows_;
  std::atomic<bool> ready_{false};
};

}  // namespace seendb::items
