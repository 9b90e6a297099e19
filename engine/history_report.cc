// What is stored of a user's history, for people.

#include <memory>

#include "engine_impl.h"
#include "format/history_codec.h"

namespace seendb {
namespace {

// Calls `row(key, value)` for each of the user's keys.
template <typename Row>
rocksdb::Status ForEachKey(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                           const std::string& user, const Row& row) {
  const std::string end = HistoryPrefixEnd(user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options, family));
  for (it->Seek(HistoryPrefix(user)); it->Valid(); it->Next()) {
    row(it->key().ToStringView(), it->value().ToStringView());
  }
  return it->status();
}

HistoryReport ReportOf(rocksdb::DB* db, const HistoryBucket& bucket, const std::string& user) {
  HistoryReport report;
  report.bucket = bucket.label;
  rocksdb::Status status =
      ForEachKey(db, bucket.states->get(), user, [&](std::string_view key, std::string_view value) {
        HistoryValue read;
        const bool sound = read.Parse(value) && !read.damaged && read.newer.empty();
        ++report.items;
        report.bytes += key.size() + value.size();
        report.deleted += sound && read.state.tombstone ? 1 : 0;
        report.damaged += sound ? 0 : 1;
      });
  if (status.ok()) {
    status = ForEachKey(db, bucket.timeline->get(), user,
                        [&](std::string_view key, std::string_view value) {
                          ++report.rows;
                          report.bytes += key.size() + value.size();
                        });
  }
  report.readable = status.ok();
  if (!status.ok()) report.error = status.ToString();
  return report;
}

}  // namespace

void EngineImpl::ReportHistory(const Shard& shard, const CollectionFamilies& collection,
                               UserReport* report) {
  for (const auto& [index, bucket] : collection.history) {
    HistoryReport row = ReportOf(shard.store->db(), *bucket, report->user);
    if (row.items == 0 && row.rows == 0 && row.readable) continue;
    row.collection = collection.name;
    report->history.push_back(std::move(row));
  }
}

}  // namespace seendb
