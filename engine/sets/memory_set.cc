#include "sets/memory_set.h"

#include <algorithm>

#include "format/bytes.h"
#include "seendb/set_store.h"

namespace seendb::sets {
namespace {

constexpr unsigned kPlaceBits = 26;
constexpr uint32_t kPlaceMask = (uint32_t{1} << kPlaceBits) - 1;
// A place takes a byte of memory at least, and its slot four.
static_assert(kMaxSetBytes <= uint64_t{1} << kPlaceBits);

// Three of four slots are taken.
uint64_t SlotsOf(uint64_t count) { return count + count / 3 + 1; }

size_t FirstSlot(uint64_t hash, size_t slots) {
  return static_cast<size_t>((hash >> 32) * slots >> 32);
}

uint32_t HashBits(uint64_t hash) { return static_cast<uint32_t>(hash) << kPlaceBits; }

}  // namespace

MemorySet::MemorySet(std::span<const std::string_view> ids, Version version, bool damaged)
    : count_(ids.size()), version_(version), damaged_(damaged), slots_(SlotsOf(ids.size())) {
  size_t text_bytes = 0;
  for (const std::string_view id : ids) text_bytes += id.size() + 1;
  texts_.reserve(text_bytes);
  for (const std::string_view id : ids) {
    const uint64_t hash = HashBytes(id);
    size_t slot = FirstSlot(hash, slots_.size());
    while (slots_[slot] != 0) slot = slot + 1 == slots_.size() ? 0 : slot + 1;
    slots_[slot] = HashBits(hash) | static_cast<uint32_t>(texts_.size() + 1);
    texts_.push_back(static_cast<char>(id.size()));
    texts_.append(id);
  }
}

uint64_t MemorySet::BytesOf(uint64_t count, uint64_t text_bytes) {
  return sizeof(MemorySet) + count + text_bytes + SlotsOf(count) * sizeof(uint32_t);
}

std::string_view MemorySet::TextAt(size_t offset) const {
  const size_t size = static_cast<uint8_t>(texts_[offset]);
  return std::string_view(texts_).substr(offset + 1, size);
}

bool MemorySet::Has(std::string_view id) const {
  const uint64_t hash = HashBytes(id);
  const uint32_t bits = HashBits(hash);
  for (size_t slot = FirstSlot(hash, slots_.size()); slots_[slot] != 0;) {
    const uint32_t place = slots_[slot] & kPlaceMask;
    if ((slots_[slot] & ~kPlaceMask) == bits && TextAt(place - 1) == id) return true;
    slot = slot + 1 == slots_.size() ? 0 : slot + 1;
  }
  return false;
}

void MemorySet::Find(std::span<const IdRef> items, uint8_t* hits) const {
  std::string digits;  // of numbers; short enough to need no memory
  for (size_t i = 0; i < items.size(); ++i) {
    std::string_view text = items[i].text();
    if (items[i].is_number()) {
      digits.clear();
      items[i].AppendTo(&digits);
      text = digits;
    }
    hits[i] = Has(text) ? 1 : 0;
  }
}

bool MemorySet::Read(std::string_view after, size_t limit, std::vector<std::string>* ids) const {
  for (size_t offset = 0; offset < texts_.size();) {
    const std::string_view id = TextAt(offset);
    offset += id.size() + 1;
    if (!after.empty() && id <= after) continue;
    if (ids->size() == limit) return true;
    ids->emplace_back(id);
  }
  return false;
}

}  // namespace seendb::sets
