// format/marks_codec.h: what a user marked as seen (facts.md, "Marks"), as stored value and as
// merge operand: of a group everything up to a time, said at a time; and when a group's marks were
// deleted.
//
// A mark counts if it was said after the group's newest deletion. A union keeps the marks that
// count and that no other exceeds both in how far it reaches and in when it was said: any of these
// is the furthest that is left after some deletion still to come. So the union is associative,
// commutative and idempotent, which the furthest mark alone would not be.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/damage.h"

namespace seendb {

/// How far a mark reaches that takes in everything of its group.
inline constexpr int64_t kMarkedAlways = std::numeric_limits<int64_t>::max();
/// Most deletions kept a user: the latest ones.
inline constexpr size_t kMaxMarkDeletions = 10'000;

/// All of a group up to a time is seen.
struct StoredMark {
  std::string_view group;  ///< 1-kMaxGroupBytes bytes, borrowed
  int64_t said_ms = 0;
  int64_t until_ms = 0;  ///< or kMarkedAlways

  friend auto operator<=>(const StoredMark&, const StoredMark&) = default;
};

/// Marks of a group that were said up to a time do not count.
struct MarkDeletion {
  std::string_view group;  ///< as a mark's
  int64_t at_ms = 0;

  friend auto operator<=>(const MarkDeletion&, const MarkDeletion&) = default;
};

/// Marks of a user, as Normalize leaves them.
struct MarkList {
  std::vector<StoredMark> marks;        ///< by group; of one, the later said reaches less far
  std::vector<MarkDeletion> deletions;  ///< by group, each once
  DamageSet damage;

  bool empty() const { return marks.empty() && deletions.empty() && damage.empty(); }
  /// Reads a value, to whose bytes the groups point; false where it is damaged (the list is then
  /// unspecified).
  bool Parse(std::string_view value);
  /// Writes the value into `*out` (cleared first). Precondition: normalized.
  void Encode(std::string* out) const;
  /// Takes in all of `other`, whose bytes must stay. Normalize comes afterwards, once.
  void Add(const MarkList& other);
  /// See the head of this file; of the deletions the `deletions_most` latest stay.
  void Normalize(size_t deletions_most = kMaxMarkDeletions);

  /// The mark of a group that counts now: the one that reaches furthest. Null: none. Cost: a binary
  /// search.
  const StoredMark* Find(std::string_view group) const;
  /// When the group's marks were deleted, those of which the time is kept. Null: never.
  const MarkDeletion* FindDeletion(std::string_view group) const;
  /// How many groups have a mark that counts.
  size_t groups() const;
  /// Leaves out what was said, or deleted, up to a time.
  void ForgetUpTo(int64_t at_ms);
};

}  // namespace seendb
