// store/losses.h: what a collection has lost for good with a part of the log, as its marker in the
// family `default` says (format.md, "Names"). Nobody can tell whose plays those were: every answer
// that may lack some says so until the buckets of that time expire, so that going on without a part
// of the log makes no seen item silently unseen.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace seendb {

/// See the head of this file.
struct Losses {
  int64_t at_ms = 0;   ///< when they were noticed
  std::string reason;  ///< for people

  /// Takes in `other`.
  void Absorb(const Losses& other);
  /// As stored.
  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<Losses> FromJson(std::string_view json);
};

}  // namespace seendb
