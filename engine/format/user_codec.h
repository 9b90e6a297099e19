// format/user_codec.h: what the family `users` keeps of a user (format.md, "User record"), as
// stored value and as merge operand. Every field merges by maximum.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes.h"

namespace seendb {

/// See the head of this file.
struct UserRecord {
  uint64_t erased_seq = 0;   ///< journal records at or below it no longer count for the user
  int64_t erased_at_ms = 0;  ///< plays not after it are refused
  bool damaged = false;      ///< a damaged operand or value was met
  /// Values of newer versions that were met, whole; ascending, each once.
  std::vector<std::string> newer{};

  /// Reads a value; false where it is damaged.
  bool Parse(std::string_view value);
  /// Writes the value into `*out` (cleared first).
  void Encode(std::string* out) const;
  /// Takes the maximum of every field, and all newer values.
  void Absorb(const UserRecord& other);
  /// Takes in a value that Parse refuses.
  void AbsorbUnread(std::string_view value);
};

}  // namespace seendb
