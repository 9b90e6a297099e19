// tables/data_loss.h: what a collection has lost for good with a part of the log, or a bucket or
// the impressions with a table, as its marker in the family `default` says (format.md, "Names").
// Whose plays those were is not known, or only between which users: every answer that may lack some
// says so until the buckets of that time expire, so that going on without a part makes no seen item
// silently unseen.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/policy.h"

namespace seendb {

/// What a lost part of a log may have held besides plays and impressions, for people.
inline constexpr char kForgottenWithLog[] =
    "; erasures, deletions, clears and pauses made in the lost part may be forgotten";

/// Users from `from` to before `to`, by their canonical text, byte by byte.
struct UserRange {
  std::string from, to;
};

/// See the head of this file.
struct DataLoss {
  int64_t at_ms = 0;               ///< when they were noticed
  std::string reason;              ///< for people
  std::vector<UserRange> users{};  ///< whose; empty: anybody's

  /// Whether they may concern `user`.
  bool MayConcern(std::string_view user) const;
  /// Takes in `other`.
  void Join(const DataLoss& other);
  /// As stored.
  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<DataLoss> FromJson(std::string_view json);
};

/// All data-loss markers of one collection in one shard. A read asks it whether a part that the
/// read needs may lack something of the user. A part is named as in the key of its marker, behind
/// the collection. Threads: as a value.
class DataLossSet {
 public:
  /// The part that a lost piece of the log concerns: everything.
  static constexpr std::string_view kLog{};

  /// Adds what the part has lost to what it had lost before. Returns all of it.
  const DataLoss& Add(std::string_view part, const DataLoss& losses);
  /// Removes the marker of a part that was dropped.
  void Forget(std::string_view part);
  bool empty() const { return losses_.empty(); }

  /// Whether the log, or the impressions, may have lost something of `user` in `oldest_bucket` or a
  /// newer one.
  bool CoversLog(std::string_view user, const Policy& policy, int64_t oldest_bucket) const;
  bool CoversImpressions(std::string_view user, const Policy& policy, int64_t oldest_bucket) const;
  /// Whether the seen filters, or the history, of the bucket of that label may have lost something
  /// of `user`.
  bool CoversFilters(std::string_view user, std::string_view bucket) const;
  bool CoversHistory(std::string_view user, std::string_view bucket) const;

 private:
  const DataLoss* Find(std::string_view user, std::string_view part) const;

  std::map<std::string, DataLoss, std::less<>> losses_;  // by part
};

}  // namespace seendb
