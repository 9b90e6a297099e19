// Arbitrary bytes as a record of an item in memory: refused, or every field is found and read
// inside the bytes, and the state that it says is written as a record that says the same.

#include <cstdint>
#include <cstring>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fuzz/input.h"
#include "items/record.h"

namespace {

using seendb::fuzz::Check;
using namespace seendb::items;  // NOLINT(google-build-using-namespace)

/// The text of a number is one byte, the number.
class Numbers final : public Texts {
 public:
  std::optional<uint32_t> NumberFor(uint16_t, std::string_view text) override {
    const bool known = text.size() == 1 && static_cast<uint8_t>(text[0]) < kCount;
    return known ? std::optional<uint32_t>(static_cast<uint8_t>(text[0])) : std::nullopt;
  }
  std::string_view TextOf(uint32_t number) const override { return {kLetters + number, 1}; }

  static constexpr uint32_t kCount = 4;

 private:
  static constexpr char kLetters[] = "\0\1\2\3";
};

/// Types by turns, so that any field may be of any.
Types TypesByTurns(uint8_t first) {
  Types types = {};
  for (size_t i = 0; i < types.size(); ++i) {
    types[i] = static_cast<seendb::ItemFieldType>(1 + (i + first) % 6);
  }
  return types;
}

/// The bytes with a size and a checksum that fit.
std::string SealedRecord(std::string_view bytes) {
  std::string record(bytes);
  if (record.size() < Record::kHeader || record.size() > seendb::kMaxItemBytes) return record;
  const auto size = static_cast<uint16_t>(record.size() - 1);
  std::memcpy(record.data() + 22, &size, sizeof(size));
  uint32_t head = 0;
  std::memcpy(&head, record.data(), sizeof(head));
  const auto sum =
      static_cast<uint32_t>(XXH3_64bits_withSeed(record.data() + 8, record.size() - 8, head));
  std::memcpy(record.data() + 4, &sum, sizeof(sum));
  return record;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  seendb::fuzz::Input input(data, size);
  const Types types = TypesByTurns(input.Byte());
  Record::Check(input.Rest(), types, Numbers::kCount);
  const std::string bytes = SealedRecord(input.Rest());
  if (!Record::Check(bytes, types, Numbers::kCount)) return 0;
  const Record record(reinterpret_cast<const uint8_t*>(bytes.data()));
  Numbers texts;
  State state;
  Check(record.ToState(types, texts, &state));
  for (const Cell& cell : state.cells) {
    const uint32_t slot = record.SlotOf(cell.field);
    Check((slot != 0) != cell.unset);
    Check(slot == 0 || record.At(slot, types[cell.field], texts) == cell.value);
  }
  std::string again;
  if (!EncodeRecord(record.Id(), state, &texts, &again)) return 0;
  State read;
  Check(Record(reinterpret_cast<const uint8_t*>(again.data())).ToState(types, texts, &read));
  Check(read == state);
  return 0;
}
