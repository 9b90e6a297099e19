// engine/filter/probe_set.h: which of thousands of candidates are in a sorted packed list?
//
// A list is `count` fingerprints of kFingerprintBytes each, ascending and unique, little-endian,
// at any alignment: probed in place. Fingerprints are uniform, so their top bits say where they
// must be. Each call builds, in the caller's scratch, a bitmap of the list's top bits (8-16 bits
// an entry: most absent candidates cost one load) and a directory of where each run of top bits
// begins (the others cost a look at a handful of entries).
//
// Safe on any bytes: a list that is not sorted gives wrong answers, never a read outside it, and
// a list whose entries crowd together costs a binary search a candidate.
// Threads: pure but for the scratch, which belongs to one call at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter/hash.h"

namespace seendb {

/// Memory of ProbeSortedList, kept between calls to save its allocations: about 3 bytes an entry
/// of the longest list so far.
class ProbeScratch {
 private:
  friend class ProbeSet;
  std::vector<uint64_t> bitmap_;
  std::vector<uint32_t> directory_;
};

/// A sorted packed list made ready for many probes. Borrows the list and the scratch, which must
/// stay unchanged while it is used.
class ProbeSet {
 public:
  /// Cost: about 2 ns an entry. Limits: count < 2^32.
  ProbeSet(const uint8_t* packed, size_t count, ProbeScratch* scratch);

  /// hits[i] becomes 1 where fps[i] is in the list, else 0. Cost: 1-2 ns an absent candidate,
  /// about 5 ns a present one.
  void Probe(const Fingerprint* fps, size_t n, uint8_t* hits) const noexcept;

 private:
  bool Find(Fingerprint fp) const noexcept;

  const uint8_t* packed_;
  size_t count_;
  const uint64_t* bitmap_ = nullptr;
  const uint32_t* directory_ = nullptr;
  unsigned bitmap_shift_ = 0;     // fingerprint -> bit of the bitmap
  unsigned directory_shift_ = 0;  // fingerprint -> entry of the directory
};

/// ProbeSet, or a search of the list for each of a few candidates, whichever is cheaper.
void ProbeSortedList(const uint8_t* packed, size_t count, const Fingerprint* fps, size_t n,
                     uint8_t* hits, ProbeScratch* scratch);

/// One candidate, by interpolation and then bisection: O(log count) whatever the bytes.
bool ContainsSorted(const uint8_t* packed, size_t count, Fingerprint fp) noexcept;

}  // namespace seendb
