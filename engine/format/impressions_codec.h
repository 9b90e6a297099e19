// format/impressions_codec.h: the last served, or exposed, items of a user (format.md,
// "Impressions"), as stored value and as merge operand.
//
// Entries of one call share its time and arrival stamp; among them a higher position is newer.
// A union keeps the newest entry of each item and surface, then the newest `limit`: associative,
// commutative, idempotent. Where the policy asks for it (Policy::impression_ids), an entry has the
// item's id as well. A value with surfaces is of version 3, one with ids alone of version 2, any
// other of version 1.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/hash.h"
#include "format/damage.h"

namespace seendb {

/// One served item.
struct ImpressionEntry {
  int64_t at_ms = 0;      ///< when it was served
  uint64_t stamp = 0;     ///< arrival: the shard's sequence of the call
  uint32_t position = 0;  ///< in the call
  Fingerprint item = 0;
  std::string_view id = {};       ///< canonical text, borrowed; empty: not kept
  std::string_view surface = {};  ///< where it was served, borrowed; empty: nowhere in particular

  /// Older to newer; ties by item, so that the order is total. Of two alike but for the id, the one
  /// that has it is the newer.
  friend auto operator<=>(const ImpressionEntry&, const ImpressionEntry&) = default;
};

/// Impressions of a user, newest first.
struct ImpressionList {
  std::vector<ImpressionEntry> entries;
  DamageSet damage;

  /// Reads a value, to whose bytes ids and surfaces point; false where it is damaged (the list is
  /// then unspecified).
  bool Parse(std::string_view value);
  /// Writes the value into `*out` (cleared first).
  void Encode(std::string* out) const;
  /// Sorts newest first, keeps the newest entry of each item and surface and the newest `limit`.
  void Normalize(size_t limit);
  /// Takes the ids from all entries.
  void DropIds();
  /// Leaves out what was served before a time.
  void DropBefore(int64_t at_ms);
  /// Leaves out what had arrived up to the stamp `seq`; how many entries that were.
  size_t ForgetUpTo(uint64_t seq);
};

}  // namespace seendb
