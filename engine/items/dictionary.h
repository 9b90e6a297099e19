// items/dictionary.h: texts that many items share, kept once: records hold a number of 31 bits.
//
// Each record that holds a number counts as one use; a text without uses goes, and its number is
// given to another text once no reader can still hold it. A field whose texts hardly repeat is
// recognised, and its new texts stay in the records: an entry of its own costs about 40 bytes more
// than the text.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "items/arena.h"
#include "items/chunked.h"
#include "items/epochs.h"
#include "seendb/item_store.h"

namespace seendb::items {

/// Whether a text belongs into the dictionary.
enum class Sharing : uint8_t {
  kIfItRepeats,  ///< unless the field's texts hardly repeat
  kAlways,       ///< columns hold numbers alone
};

/// See the head of this file. Threads: any. Text and the like need a guard of `epochs` while a
/// record with the number can be reached.
class Dictionary {
 public:
  Dictionary(Arena* arena, Epochs* epochs);
  /// No reader is inside any more.
  ~Dictionary() { epochs_->Collect(); }
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  /// The number of a text, with one use more; nothing where the text is to stay in the record.
  std::optional<uint32_t> Use(uint16_t field, std::string_view text, Sharing sharing);
  /// Ends one use.
  void Release(uint32_t number);
  /// The text of a number that is in use. Cost: two loads.
  std::string_view Text(uint32_t number) const;
  /// The number of a text, while somebody uses it; for questions about columns.
  std::optional<uint32_t> Find(std::string_view text) const;

  /// Texts in use.
  uint64_t size() const { return size_.load(std::memory_order_relaxed); }
  /// The bytes of the tables; the texts are in the arena.
  uint64_t table_bytes() const;

 private:
  struct Entry;
  static constexpr uint32_t kStripes = 64;
  static constexpr uint32_t kMostNumbers = uint32_t{1} << 30;
  static constexpr uint32_t kJudgeAfter = 4096;  // uses of a field

  /// A table from texts to numbers: a part of them, by hash.
  struct Stripe {
    mutable Mutex mutex{LockRank::kStripe};
    std::vector<uint32_t> slots GUARDED_BY(mutex);  // number + 1; 0: empty
    size_t used GUARDED_BY(mutex) = 0;
  };
  /// How often a field's texts were asked for, and how often one was new.
  struct FieldUse {
    std::atomic<uint32_t> uses{0}, fresh{0};
  };

  Stripe& StripeOf(uint64_t hash) const { return stripes_[hash >> 58]; }
  /// The slot of the text, or the empty one where it would lie.
  size_t Probe(const Stripe& stripe, uint64_t hash, std::string_view text) const
      REQUIRES(stripe.mutex);
  void Grow(Stripe* stripe) REQUIRES(stripe->mutex);
  void RemoveSlot(Stripe* stripe, size_t slot) REQUIRES(stripe->mutex);
  std::optional<uint32_t> FreeNumber();
  bool HardlyRepeats(uint16_t field) const;

  Arena* const arena_;
  Epochs* const epochs_;
  Chunked<std::atomic<Entry*>> entries_;
  const std::unique_ptr<Stripe[]> stripes_;
  std::array<FieldUse, kMaxItemFields> fields_;
  std::atomic<uint64_t> size_{0};
  Mutex numbers_mutex_{LockRank::kLeaf};
  uint32_t next_number_ GUARDED_BY(numbers_mutex_) = 0;
  std::vector<uint32_t> free_numbers_ GUARDED_BY(numbers_mutex_);
};

}  // namespace seendb::items
