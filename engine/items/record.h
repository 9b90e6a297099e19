// items/record.h: an item in memory: one block of bytes, in which reading a field is a count of
// bits and one load. engine/doc/item-format.md describes it.
//
//   header (24 bytes): tag, flags, which words of the bitmap there are, checksum, version, time,
//   size words of the bitmap of the fields that are set, 64 fields each a slot of 4 bytes for each
//   of them, in the order of their numbers id, floor, expiry, versions that differ data that slots
//   point to

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "items/state.h"
#include "seendb/id.h"

namespace seendb::items {

/// The types of all fields by number, of removed ones too; a type of 0 was never given.
using Types = std::array<ItemFieldType, kMaxItemFields>;

/// Texts kept elsewhere: how a record is given their numbers, and how it finds them again.
class Texts {
 public:
  virtual ~Texts() = default;
  /// A number below 2^31 for the text of a field; nothing: it stays in the record.
  virtual std::optional<uint32_t> NumberFor(uint16_t field, std::string_view text) = 0;
  virtual std::string_view TextOf(uint32_t number) const = 0;
};

/// Appends the record of a state; of texts only those stay in it that `texts` gives no number for.
/// False, with nothing appended, where it would be larger than kMaxItemBytes.
bool EncodeRecord(const IdRef& id, const State& state, Texts* texts, std::string* out);

/// The size that EncodeRecord gives where all texts stay in the record.
size_t RecordSize(const IdRef& id, const State& state);

/// Reads a record that EncodeRecord wrote or Check found sound. Borrows its bytes.
class Record {
 public:
  static constexpr size_t kHeader = 24;

  explicit Record(const uint8_t* bytes) : bytes_(bytes) {}

  size_t size() const { return size_t{Load<uint16_t>(22)} + 1; }
  uint64_t seen() const { return Load<uint64_t>(8); }
  uint64_t time_ms() const { return Load<uint64_t>(16) & ((uint64_t{1} << 48) - 1); }
  uint64_t floor() const { return (flags() & kHasFloor) != 0 ? Load<uint64_t>(IdEnd()) : 0; }
  uint64_t expires_ms() const;
  bool exists() const { return seen() != 0 && seen() >= floor(); }
  /// Whether the item is there, and has not expired.
  bool IsKnown(uint64_t now_ms) const {
    const uint64_t end_ms = expires_ms();
    return exists() && (end_ms == 0 || end_ms > now_ms);
  }
  bool has_versions() const { return (flags() & kHasVersions) != 0; }

  bool HasId(const IdRef& id) const;
  /// Borrows the record's bytes.
  IdRef Id() const;

  /// The place of a field's slot; 0: the item has no such field.
  uint32_t SlotOf(uint16_t field) const {
    const uint32_t mask = Load<uint16_t>(2), word = field / 64U;
    if ((mask >> word & 1) == 0) return 0;
    const auto before = static_cast<uint32_t>(std::popcount(mask & ((1U << word) - 1)));
    const uint64_t bits = Word(before);
    if ((bits >> (field % 64) & 1) == 0) return 0;
    auto rank = static_cast<uint32_t>(std::popcount(bits & ((uint64_t{1} << (field % 64)) - 1)));
    for (uint32_t i = 0; i < before; ++i) rank += static_cast<uint32_t>(std::popcount(Word(i)));
    return SlotsAt() + 4 * rank;
  }
  /// The value whose slot lies there.
  Value At(uint32_t slot, ItemFieldType type, const Texts& texts) const;
  /// The number of a text that is not in the record.
  std::optional<uint32_t> TextNumberAt(uint32_t slot) const {
    const auto word = Load<uint32_t>(slot);
    return (word & 1) != 0 ? std::nullopt : std::optional(word >> 1);
  }
  /// Calls `visit(field, slot)` for each field that is set.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    uint32_t slot = SlotsAt(), at = 0;
    for (uint32_t mask = Load<uint16_t>(2); mask != 0; mask &= mask - 1) {
      const auto word = static_cast<uint32_t>(std::countr_zero(mask));
      for (uint64_t bits = Word(at++); bits != 0; bits &= bits - 1, slot += 4) {
        visit(static_cast<uint16_t>(word * 64 + static_cast<uint32_t>(std::countr_zero(bits))),
              slot);
      }
    }
  }

  /// Everything that the record says. Borrows from it and from `texts`. False where its versions
  /// can't be read.
  bool ToState(const Types& types, const Texts& texts, State* state) const;

  /// Whether bytes of unknown origin are a sound record, with nothing after it: checksum,
  /// structure, values. `numbers`: texts have numbers below this.
  static bool Check(std::string_view bytes, const Types& types, uint32_t numbers);

 private:
  enum Flags : uint8_t {
    kHasExpiry = 1,
    kHasVersions = 2,
    kHasFloor = 4,
    kIdIsNumber = 8,
    kLost = 16,
    kFlags = 31,
  };
  friend bool EncodeRecord(const IdRef&, const State&, Texts*, std::string*);

  template <typename T>
  T Load(size_t at) const {
    T value;
    std::memcpy(&value, bytes_ + at, sizeof(T));
    return value;
  }
  uint8_t flags() const { return bytes_[1]; }
  uint64_t Word(uint32_t index) const { return Load<uint64_t>(kHeader + 8 * index); }
  uint32_t Words() const { return static_cast<uint32_t>(std::popcount(Load<uint16_t>(2))); }
  uint32_t SlotsAt() const { return static_cast<uint32_t>(kHeader) + 8 * Words(); }
  uint32_t IdAt() const {
    uint32_t fields = 0;
    for (uint32_t i = 0; i < Words(); ++i) fields += static_cast<uint32_t>(std::popcount(Word(i)));
    return SlotsAt() + 4 * fields;
  }
  uint32_t IdEnd() const {
    const uint32_t at = IdAt();
    return (flags() & kIdIsNumber) != 0 ? at + 8 : at + 1 + bytes_[at];
  }
  size_t ExpiryAt() const { return IdEnd() + ((flags() & kHasFloor) != 0 ? 8U : 0U); }
  size_t VersionsAt() const { return ExpiryAt() + ((flags() & kHasExpiry) != 0 ? 16U : 0U); }
  std::string_view DataAt(uint32_t offset) const;
  static bool CheckSlots(const Record& record, size_t data_at, const Types& types,
                         uint32_t numbers);

  const uint8_t* bytes_;
};

}  // namespace seendb::items
