#include "items/dictionary.h"

#include <cstring>
#include <new>

#include "items/id_hash.h"

namespace seendb::items {
namespace {

constexpr size_t kFirstSlots = 64;  // per stripe; a power of two

}  // namespace

struct Dictionary::Entry {
  uint64_t hash;
  uint32_t uses;  ///< guarded by the stripe's mutex
  uint32_t length;

  static size_t Bytes(size_t length) { return sizeof(Entry) + length; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(this) + sizeof(Entry), length};
  }
};

Dictionary::Dictionary(Arena* arena, Epochs* epochs)
    : arena_(arena), epochs_(epochs), stripes_(new Stripe[kStripes]) {}

std::string_view Dictionary::Text(uint32_t number) const {
  return entries_.Find(number)->load()->text();
}

size_t Dictionary::Probe(const Stripe& stripe, uint64_t hash, std::string_view text) const {
  const size_t mask = stripe.slots.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    if (stripe.slots[slot] == 0) return slot;
    const Entry* entry = entries_.Find(stripe.slots[slot] - 1)->load();
    if (entry->hash == hash && entry->text() == text) return slot;
  }
}

void Dictionary::Grow(Stripe* stripe) {
  std::vector<uint32_t> old(stripe->slots.empty() ? kFirstSlots : stripe->slots.size() * 2);
  old.swap(stripe->slots);
  const size_t mask = stripe->slots.size() - 1;
  for (const uint32_t word : old) {
    if (word == 0) continue;
    size_t slot = entries_.Find(word - 1)->load()->hash & mask;
    while (stripe->slots[slot] != 0) slot = (slot + 1) & mask;
    stripe->slots[slot] = word;
  }
}

/// Moves those that lie behind it forward where their search would end at the gap.
void Dictionary::RemoveSlot(Stripe* stripe, size_t slot) {
  const size_t mask = stripe->slots.size() - 1;
  size_t gap = slot;
  for (size_t at = (gap + 1) & mask; stripe->slots[at] != 0; at = (at + 1) & mask) {
    const size_t home = entries_.Find(stripe->slots[at] - 1)->load()->hash & mask;
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    stripe->slots[gap] = stripe->slots[at];
    gap = at;
  }
  stripe->slots[gap] = 0;
  --stripe->used;
}

std::optional<uint32_t> Dictionary::FreeNumber() {
  const MutexLock lock(numbers_mutex_);
  if (!free_numbers_.empty()) {
    const uint32_t number = free_numbers_.back();
    free_numbers_.pop_back();
    return number;
  }
  if (next_number_ == kMostNumbers) return {};
  return next_number_++;
}

bool Dictionary::HardlyRepeats(uint16_t field) const {
  const uint32_t uses = fields_[field].uses.load(std::memory_order_relaxed);
  return uses >= kJudgeAfter && fields_[field].fresh.load(std::memory_order_relaxed) > uses / 2;
}

std::optional<uint32_t> Dictionary::Use(uint16_t field, std::string_view text, Sharing sharing) {
  const uint64_t hash = HashText(text);
  Stripe& stripe = StripeOf(hash);
  const MutexLock lock(stripe.mutex);
  if (stripe.used * 4 >= stripe.slots.size() * 3) Grow(&stripe);
  FieldUse& use = fields_[field];
  if (use.uses.load(std::memory_order_relaxed) < UINT32_MAX / 2) {
    use.uses.fetch_add(1, std::memory_order_relaxed);
  }
  const size_t slot = Probe(stripe, hash, text);
  if (stripe.slots[slot] != 0) {
    const uint32_t number = stripe.slots[slot] - 1;
    ++entries_.Find(number)->load()->uses;
    return number;
  }
  if (use.fresh.load(std::memory_order_relaxed) < UINT32_MAX / 2) {
    use.fresh.fetch_add(1, std::memory_order_relaxed);
  }
  if (sharing == Sharing::kIfItRepeats && HardlyRepeats(field)) return {};
  const std::optional<uint32_t> number = FreeNumber();
  if (!number) return {};
  auto* entry = ::new (arena_->Allocate(Entry::Bytes(text.size())))
      Entry{.hash = hash, .uses = 1, .length = static_cast<uint32_t>(text.size())};
  std::memcpy(reinterpret_cast<char*>(entry) + sizeof(Entry), text.data(), text.size());
  entries_.Make(*number).store(entry);
  stripe.slots[slot] = *number + 1;
  ++stripe.used;
  size_.fetch_add(1, std::memory_order_relaxed);
  return number;
}

void Dictionary::Release(uint32_t number) {
  Entry* entry = entries_.Find(number)->load();
  {
    Stripe& stripe = StripeOf(entry->hash);
    const MutexLock lock(stripe.mutex);
    if (--entry->uses > 0) return;
    RemoveSlot(&stripe, Probe(stripe, entry->hash, entry->text()));
  }
  size_.fetch_sub(1, std::memory_order_relaxed);
  epochs_->Retire([this, number] {
    Entry* gone = entries_.Find(number)->load();
    arena_->Free(gone, Entry::Bytes(gone->length));
    const MutexLock lock(numbers_mutex_);
    free_numbers_.push_back(number);
  });
}

std::optional<uint32_t> Dictionary::Find(std::string_view text) const {
  const uint64_t hash = HashText(text);
  const Stripe& stripe = StripeOf(hash);
  const MutexLock lock(stripe.mutex);
  if (stripe.slots.empty()) return {};
  const uint32_t word = stripe.slots[Probe(stripe, hash, text)];
  return word == 0 ? std::nullopt : std::optional(word - 1);
}

uint64_t Dictionary::table_bytes() const {
  uint64_t bytes = entries_.bytes() + sizeof(*this);
  for (uint32_t i = 0; i < kStripes; ++i) {
    const MutexLock lock(stripes_[i].mutex);
    bytes += stripes_[i].slots.capacity() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace seendb::items
