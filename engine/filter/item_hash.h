// filter/item_hash.h: the fingerprints of a database's items, by the version and the key in its
// identity.
//
// Version 1 is the same everywhere (FingerprintOf): whoever likes can make an item that has the
// fingerprint of another. Version 2 goes by a secret key: the top 48 bits of XXH3-64 of the
// canonical id with a secret of 192 bytes, the 24 words SipHash-2-4(key, i), i = 0..23 as 8 bytes
// little-endian, each word little-endian.
//
// Source: XXH3-64 with a secret (xxHash specification 0.1.1). Threads: plain values, any.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/siphash.h"
#include "filter/hash.h"
#include "seendb/id.h"

namespace seendb {

/// Which function a database has.
struct ItemHashId {
  uint32_t version = kNewestHashVersion;  ///< 1 or 2
  HashKey key = {};                       ///< of version 2; version 1 has none
  bool operator==(const ItemHashId&) const = default;
};

/// See the head of this file. Cost: as FingerprintOf.
class ItemHash {
 public:
  using Secret = std::array<uint64_t, 24>;  ///< as large as XXH3's own

  explicit ItemHash(const ItemHashId& id) noexcept;

  Fingerprint Of(const IdRef& id) const noexcept;
  /// The same for many; `out` holds ids.size().
  void OfMany(std::span<const IdRef> ids, Fingerprint* out) const noexcept;
  /// The fingerprint of a group of items that are the same (seendb/facts.h): of the byte 0xFE,
  /// which no UTF-8 holds, so that no item's bytes equal it, and its text. Precondition: it has at
  /// most kMaxGroupBytes bytes.
  Fingerprint OfGroup(std::string_view group) const noexcept;

  /// 1 or 2.
  uint32_t version() const noexcept { return keyed_ ? 2 : 1; }
  /// XXH3's secret, of version 2.
  const Secret& secret() const noexcept { return secret_; }

 private:
  Fingerprint Keyed(const IdRef& id) const noexcept;

  bool keyed_;
  Secret secret_{};
};

}  // namespace seendb
