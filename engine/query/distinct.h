// query/distinct.h: which candidates of a request came before in it. Several sources of candidates
// often name one item; it is one candidate, at its first place.
//
// An open-addressing hash table of positions, probed linearly, at most half full, keyed by the
// candidates' fingerprints: they are hashes already. Where two fingerprints are equal the ids
// decide. Cost: 1.4-4 ns per candidate (perf/README.md), and 8-16 bytes of memory that the object
// keeps.
//
// Threads: one.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "filter/hash.h"
#include "seendb/id.h"

namespace seendb {

class Distinct {
 public:
  /// Begins a request of `count` items.
  void Begin(size_t count) {
    const size_t slots = std::bit_ceil(2 * count + 2);
    slots_.assign(slots, 0);
    mask_ = slots - 1;
  }

  /// Whether an item before `position` is the same; to be asked of each position once, ascending.
  bool IsRepeat(std::span<const IdRef> items, std::span<const Fingerprint> fingerprints,
                size_t position) {
    const Fingerprint own = fingerprints[position];
    for (size_t at = own & mask_;; at = (at + 1) & mask_) {
      const uint32_t other = slots_[at];
      if (other == 0) {
        slots_[at] = static_cast<uint32_t>(position + 1);
        return false;
      }
      if (fingerprints[other - 1] == own && items[other - 1] == items[position]) return true;
    }
  }

  /// The position of the first item that is the same, where IsRepeat was asked of `position`.
  size_t FirstOf(std::span<const IdRef> items, std::span<const Fingerprint> fingerprints,
                 size_t position) const {
    const Fingerprint own = fingerprints[position];
    for (size_t at = own & mask_;; at = (at + 1) & mask_) {
      const uint32_t other = slots_[at];
      if (other == 0) return position;
      if (fingerprints[other - 1] == own && items[other - 1] == items[position]) return other - 1;
    }
  }

 private:
  std::vector<uint32_t> slots_;  ///< 1 + a position, 0: free
  size_t mask_ = 0;
};

}  // namespace seendb
