// store/losses.h: what a bucket has lost for good, as its marker in the family `default` says
// (format.md, "Names"). A filter answer that may lack such plays says so until the bucket expires,
// so that a repair, or going on without a part of the log, makes no seen item silently unseen.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seendb {

/// See the head of this file.
struct Losses {
  int64_t at_ms = 0;                                        ///< when they were noticed; for people
  std::string reason;                                       ///< for people
  bool all = false;                                         ///< any user may be concerned
  std::vector<std::pair<std::string, std::string>> ranges;  ///< of users, ends included

  /// Whether plays of this user may be lost.
  bool Cover(std::string_view user) const;
  /// Adds a range; of more than kRangesKept neighbours become one.
  void Add(std::string_view first, std::string_view last);
  /// Takes in all of `other`.
  void Absorb(const Losses& other);
  bool empty() const { return !all && ranges.empty(); }

  /// As stored.
  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<Losses> FromJson(std::string_view json);
};

/// Ranges a marker holds at most.
inline constexpr size_t kRangesKept = 256;

}  // namespace seendb
