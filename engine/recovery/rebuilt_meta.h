// recovery/rebuilt_meta.h: the records of the family `default` that a repair reads out of the
// tables and logs of a damaged shard, and which of them go into the new one.
//
// Tables and logs may hold several versions of a record, and an old version of one that was
// deleted. The table kMetaKeys says what becomes of each kind; of versions, RocksDB's sequence
// tells which is the newest.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace seendb {

/// See the head of this file. Threads: one.
class RebuiltMeta {
 public:
  /// A version that was read, and the deletion of a record. `sequence` 0: not known, older than any
  /// other; of two with the same sequence the one taken later counts.
  void Take(std::string_view key, std::string_view value, uint64_t sequence);
  void Delete(std::string_view key, uint64_t sequence);

  /// The records that go into the new shard. `now_ms` dates a marker of a loss that is damaged.
  std::map<std::string, std::string> Rows(int64_t now_ms) const;
  /// "topic/partition" of each offset that was met, or was lost before; none of them goes into the
  /// new shard, but that there was one.
  const std::set<std::string>& sources() const { return sources_; }

 private:
  struct Version {
    uint64_t sequence = 0;
    std::optional<std::string> value;  // nothing: the record was deleted
  };
  static const Version& Newest(const std::vector<Version>& versions);
  static std::optional<std::string> Join(const std::vector<Version>& versions, int64_t now_ms);

  std::map<std::string, std::vector<Version>, std::less<>> versions_;
  std::set<std::string> sources_;
};

}  // namespace seendb
