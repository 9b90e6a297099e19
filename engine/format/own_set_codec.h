// format/own_set_codec.h: a user's own set of items (facts.md, "Own sets"), as stored value and as
// merge operand, and the keys of such sets in the family `own`.
//
// A set is said at a time and ends at another; a deletion is a set without items that says so. Of
// two the one said last counts, of one time the greater bytes: so a union is associative,
// commutative and idempotent.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/damage.h"

namespace seendb {

/// First byte of the key of a set. No user's text has it, so it follows the keys of all marks.
inline constexpr char kOwnSetKeys = '\xff';

/// A set of a user. Views borrow the bytes they were read from.
struct StoredOwnSet {
  bool said = false;     ///< false: nothing was said, or none of it can be read
  bool deleted = false;  ///< it has no items then
  int64_t said_ms = 0;
  int64_t lasts_ms = 0;                 ///< it ends so long after it was said; not negative
  std::vector<std::string_view> items;  ///< canonical texts, ascending, each once
  DamageSet damage;

  /// Whether it is there at a time.
  bool CountsAt(int64_t now_ms) const { return said && !deleted && now_ms < ends_ms(); }
  /// When it ends; the last time where that is beyond.
  int64_t ends_ms() const;
  /// Reads a value; false where it is damaged (the set is then unspecified).
  bool Parse(std::string_view value);
  /// Writes the value into `*out` (cleared first). Precondition: items are ascending.
  void Encode(std::string* out) const;
};

/// The key of a user's set; what all keys of a user's sets begin with, and what they are below.
std::string OwnSetKey(std::string_view user, std::string_view name);
std::string OwnSetPrefix(std::string_view user);
std::string OwnSetEnd(std::string_view user);
/// Whether a key of the family `own` is of a set.
inline bool IsOwnSetKey(std::string_view key) { return !key.empty() && key.front() == kOwnSetKeys; }
/// Reads a set's key; false where it is malformed.
bool ParseOwnSetKey(std::string_view key, std::string_view* user, std::string_view* name);

/// Takes in the values of one set in `*out` (cleared first): see the head of this file.
/// `damaged` counts those that can't be read.
class OwnSetUnion {
 public:
  /// The bytes must stay until Encode. False where they are damaged.
  bool Add(std::string_view value);
  /// Writes what counts, and the damage of all.
  void Encode(std::string* out) const;

 private:
  StoredOwnSet newest_;
  std::string bytes_;  // of the newest, without damage
  DamageSet damage_;
};

}  // namespace seendb
