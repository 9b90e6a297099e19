// What erasures left in tables: rows that a deletion hides, and the deletions themselves.
//
// RocksDB keeps both until a compaction meets them at the last level. A table that no erased user
// is in, nor a deletion above it, is not rewritten.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "format/history_codec.h"
#include "store/shard_families.h"
#include "store/status.h"

namespace seendb {
namespace {

// Keys from the first on, before the second.
using KeyRange = std::pair<std::string, std::string>;

// Where the rows of the users lie that an erasure deletes.
std::vector<KeyRange> RangesOf(const Table& kind, const std::vector<std::string>& users) {
  std::vector<KeyRange> ranges;
  ranges.reserve(users.size());
  for (const std::string& user : users) {
    if (kind.erase == Table::Erase::kRows) {
      ranges.emplace_back(HistoryPrefix(user), HistoryPrefixEnd(user));
    } else {
      ranges.emplace_back(user, user + '\0');
    }
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

// Joins ranges that lie in one table of the last level, or between the same two of them: each is
// compacted once.
std::vector<KeyRange> JoinByTable(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                                  std::vector<KeyRange> ranges) {
  rocksdb::ColumnFamilyMetaData data;
  db->GetColumnFamilyMetaData(family, &data);
  std::vector<std::string> first_keys;  // of the tables of the last level
  for (const rocksdb::LevelMetaData& level : data.levels) {
    if (level.level == 0 || level.files.empty()) continue;
    first_keys.clear();
    for (const rocksdb::SstFileMetaData& file : level.files) first_keys.push_back(file.smallestkey);
  }
  std::sort(first_keys.begin(), first_keys.end());
  const auto table_of = [&](const std::string& key) {
    return std::upper_bound(first_keys.begin(), first_keys.end(), key);
  };
  std::vector<KeyRange> joined;
  for (KeyRange& range : ranges) {
    if (!joined.empty() && table_of(joined.back().first) == table_of(range.first)) {
      joined.back().second = std::move(range.second);
    } else {
      joined.push_back(std::move(range));
    }
  }
  return joined;
}

// Whether a table has a deletion: without one nothing deleted is left below. Of a family with a
// table that can't be opened nothing can be compacted.
bool HasDeletions(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::TablePropertiesCollection tables;
  if (!db->GetPropertiesOfAllTables(family, &tables).ok()) return false;
  return std::any_of(tables.begin(), tables.end(),
                     [](const auto& table) { return table.second->num_deletions > 0; });
}

}  // namespace

// A compaction that meets a damaged block stops the shard's writes until it is opened anew: that
// family is not tried again.
Status ShardFamilies::RemoveDeleted(const std::vector<std::string>* users) {
  AssertMayBlock();
  const MutexLock one(seal_mutex_);
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  for (const auto& family : database_.OpenTables()) {
    if (database_.giving_up()) return Status::Unavailable("the shard is being closed");
    const Table& kind = family->kind();
    if (!kind.compacted || damaged_traces_.contains(family->name())) continue;
    const bool by_user =
        kind.erase == Table::Erase::kRows || kind.erase == Table::Erase::kDeleteUser;
    std::vector<KeyRange> ranges(1);  // all of the family
    if (by_user && users != nullptr) {
      ranges = JoinByTable(database_.db(), family->get(), RangesOf(kind, *users));
    }
    for (const auto& [begin, end] : ranges) {
      // Families of filters are compacted whole, whatever the range is: once is enough.
      if (!HasDeletions(database_.db(), family->get())) break;
      const rocksdb::Slice from(begin), to(end);
      const bool whole = end.empty();
      const rocksdb::Status status = database_.db()->CompactRange(
          options, family->get(), whole ? nullptr : &from, whole ? nullptr : &to);
      if (status.ok() || status.IsColumnFamilyDropped()) continue;
      if (!status.IsCorruption()) return FromRocks(status, "compact " + family->name());
      damaged_traces_.insert(family->name());
      database_.problems().Add("what erasures left in " + family->name() +
                               " can't be removed: " + status.ToString());
      break;
    }
  }
  return {};
}

}  // namespace seendb
