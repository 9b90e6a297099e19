// tables/data_loss.h: persistent markers of lost data, in the family `default` (format.md,
// "Names"): a part of the log, or a table of a bucket or of the impressions, could not be
// recovered. A marker names ranges of users, or any user. Until the buckets of that time are no
// longer read, answers for those users that may lack lost data say `degraded`. So no seen item is
// silently answered as unseen.

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
  int64_t at_ms = 0;               ///< when the loss was noticed
  std::string reason;              ///< for people
  std::vector<UserRange> users{};  ///< who may have lost data; empty: any user

  /// Whether data of `user` may be lost.
  bool MayConcern(std::string_view user) const;
  /// Takes in `other`.
  void Join(const DataLoss& other);
  /// As stored.
  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<DataLoss> FromJson(std::string_view json);
};

/// All data-loss markers of one collection in one shard. A read asks whether a part that it needs
/// may lack data of its user. The name of a part is what follows the collection in the key of its
/// marker. Threads: as a value.
class DataLossSet {
 public:
  /// The part that a lost piece of the log concerns: everything.
  static constexpr std::string_view kLog{};

  /// Joins `losses` with the earlier losses of the part. Returns all of them.
  const DataLoss& Add(std::string_view part, const DataLoss& losses);
  /// Removes the marker of a part that was dropped.
  void Forget(std::string_view part);
  bool empty() const { return losses_.empty(); }

  /// Whether the log, the impressions, the exposures or the counts may have lost something of
  /// `user` in `oldest_bucket` or a newer one.
  bool CoversLog(std::string_view user, const Policy& policy, int64_t oldest_bucket) const;
  bool CoversImpressions(std::string_view user, const Policy& policy, int64_t oldest_bucket) const;
  bool CoversExposures(std::string_view user, const Policy& policy, int64_t oldest_bucket) const;
  bool CoversCounts(std::string_view user, const Policy& policy, int64_t oldest_bucket) const;
  /// The same of what the user said, in the set of a shard.
  bool CoversOwn(std::string_view user, const Policy& policy, int64_t oldest_bucket) const;
  /// Whether the seen filters, or the history, of the bucket of that label may have lost something
  /// of `user`.
  bool CoversFilters(std::string_view user, std::string_view bucket) const;
  bool CoversHistory(std::string_view user, std::string_view bucket) const;

 private:
  const DataLoss* Find(std::string_view user, std::string_view part) const;

  std::map<std::string, DataLoss, std::less<>> losses_;  // by part
};

}  // namespace seendb
