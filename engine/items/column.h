// items/column.h: one field of all items, in an array by the item's number: what a question about
// many items reads instead of their records.
//
// A word is the value's order (value.h), or a text's number in the dictionary and 1; 0: the item
// has no such field. One i64, the least there is, has the order 0 too: who reads 0 in a column of
// i64 asks the record.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "items/chunked.h"
#include "items/value.h"

namespace seendb::items {

/// See the head of this file. Threads: any. Words are sequentially consistent, as epochs.h asks: a
/// word may be the number of a text that goes when the word does.
class Column {
 public:
  /// Precondition: no list.
  explicit Column(ItemFieldType type);

  void Set(uint32_t item, uint64_t word);
  uint64_t Get(uint32_t item) const;
  /// For a batch: brings the word of an item into the cache.
  void Prefetch(uint32_t item) const;

  static uint64_t WordOfText(uint32_t number) { return uint64_t{number} + 1; }
  static uint32_t TextOfWord(uint64_t word) { return static_cast<uint32_t>(word - 1); }

  /// Whether every item's word is there.
  bool ready() const { return ready_.load(); }
  void SetReady() { ready_ = true; }

  uint64_t bytes() const;

 private:
  // One of them, by the width of a word.
  std::unique_ptr<Chunked<std::atomic<uint8_t>>> narrow_;
  std::unique_ptr<Chunked<std::atomic<uint32_t>>> middle_;
  std::unique_ptr<Chunked<std::atomic<uint64_t>>> wide_;
  std::atomic<bool> ready_{false};
};

}  // namespace seendb::items
