#include "filter/item_hash.h"

#include <array>
#include <cassert>
#include <cstring>
#include <string_view>

#include "filter/xxh3_number.h"
#include "seendb/facts.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seendb {

ItemHash::ItemHash(const ItemHashId& id) noexcept : keyed_(id.version >= 2) {
  static_assert(sizeof(Secret) >= XXH3_SECRET_SIZE_MIN);
  if (!keyed_) return;
  for (uint64_t i = 0; i < secret_.size(); ++i) {
    secret_[i] = SipHash(id.key, {reinterpret_cast<const char*>(&i), sizeof(i)});
  }
}

// Of the secret a hash of 9 bytes takes the words 3 to 6 (its bytes 24-55).
inline Fingerprint ItemHash::Keyed(const IdRef& id) const noexcept {
  if (id.is_number()) {
    return Xxh3OfNumber(id.number(), secret_[3] ^ secret_[4], secret_[5] ^ secret_[6]) >>
           kDroppedHashBits;
  }
  const std::string_view text = id.text();
  return XXH3_64bits_withSecret(text.data(), text.size(), secret_.data(), sizeof(secret_)) >>
         kDroppedHashBits;
}

Fingerprint ItemHash::Of(const IdRef& id) const noexcept {
  return keyed_ ? Keyed(id) : FingerprintOf(id);
}

void ItemHash::OfMany(std::span<const IdRef> ids, Fingerprint* out) const noexcept {
  if (!keyed_) return FingerprintsOf(ids, out);
  for (size_t i = 0; i < ids.size(); ++i) out[i] = Keyed(ids[i]);
}

Fingerprint ItemHash::OfGroup(std::string_view group) const noexcept {
  std::array<char, 1 + kMaxGroupBytes> bytes;
  assert(group.size() < bytes.size());
  bytes[0] = '\xFE';
  std::memcpy(bytes.data() + 1, group.data(), group.size());
  return Of(IdRef(std::string_view(bytes.data(), 1 + group.size())));  // no decimal begins with it
}

}  // namespace seendb
