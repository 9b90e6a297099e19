// sets/memory_set.h: one set in memory: the ids themselves, in the order of their bytes, and a
// table that finds one by its hash.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/item_set.h"

namespace seendb::sets {

/// When a set was put.
struct Version {
  int64_t begun_ms = 0;
  uint64_t nonce = 0;  ///< tells two of one time apart
};

/// See the head of this file. Exact: a hash that agrees is not believed. Threads: any.
class MemorySet final : public ItemSet {
 public:
  /// `ids` are distinct canonical texts, ascending; together less than kMaxSetBytes.
  MemorySet(std::span<const std::string_view> ids, Version version, bool damaged);

  /// The memory that a set of so many ids with so many bytes of text takes.
  static uint64_t BytesOf(uint64_t count, uint64_t text_bytes);

  void Find(std::span<const IdRef> items, uint8_t* hits) const override;
  bool damaged() const override { return damaged_; }

  /// Up to `limit` ids behind `after`, ascending; true: there are more.
  bool Read(std::string_view after, size_t limit, std::vector<std::string>* ids) const;
  uint64_t count() const { return count_; }
  uint64_t bytes() const { return BytesOf(count_, texts_.size() - count_); }
  const Version& version() const { return version_; }

 private:
  bool Has(std::string_view id) const;
  std::string_view TextAt(size_t offset) const;

  const uint64_t count_;
  const Version version_;
  const bool damaged_;
  std::string texts_;            // of each id: a byte with its size, its text
  std::vector<uint32_t> slots_;  // 1 + the place in texts_, below 6 bits of the hash; 0: empty
};

}  // namespace seendb::sets
