// store/losses.h: what a collection has lost for good with a part of the log, or a bucket or the
// impressions with a table, as its marker in the family `default` says (format.md, "Names"). Whose
// plays those were is not known, or only between which users: every answer that may lack some says
// so until the buckets of that time expire, so that going on without a part makes no seen item
// silently unseen.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace seendb {

/// Users from `from` to before `to`, by their canonical text, byte by byte.
struct UserRange {
  std::string from, to;
};

/// See the head of this file.
struct Losses {
  int64_t at_ms = 0;               ///< when they were noticed
  std::string reason;              ///< for people
  std::vector<UserRange> users{};  ///< whose; empty: anybody's

  /// Whether they may concern `user`.
  bool MayConcern(std::string_view user) const;
  /// Takes in `other`.
  void Absorb(const Losses& other);
  /// As stored.
  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<Losses> FromJson(std::string_view json);
};

}  // namespace seendb
