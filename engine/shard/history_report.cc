#include "format/history_codec.h"
#include "shard/report.h"
#include "store/history_rows.h"

namespace seendb {
namespace {

HistoryReport ReportOf(rocksdb::DB* db, const HistoryBucket& bucket, const std::string& user) {
  HistoryReport report;
  report.bucket = bucket.label;
  const auto state = [&](std::string_view key, std::string_view value) {
    HistoryValue read;
    const bool sound = read.Parse(value) && !read.damaged && read.newer.empty();
    ++report.items;
    report.bytes += key.size() + value.size();
    report.deleted += sound && read.state.deleted() ? 1 : 0;
    report.damaged += sound ? 0 : 1;
    return rocksdb::Status();
  };
  const auto time = [&](std::string_view key, std::string_view value) {
    ++report.rows;
    report.bytes += key.size() + value.size();
    return rocksdb::Status();
  };
  rocksdb::Status status = ForEachHistoryRow(user, db, bucket.states->get(), state);
  if (status.ok()) status = ForEachHistoryRow(user, db, bucket.timeline->get(), time);
  report.readable = status.ok();
  if (!status.ok()) report.error = status.ToString();
  return report;
}

}  // namespace

void ReportHistory(const ShardParts& shard, const CollectionFamilies& collection,
                   UserReport* report) {
  for (const auto& [index, bucket] : collection.history) {
    HistoryReport row = ReportOf(shard.store->db(), *bucket, report->user);
    if (row.items == 0 && row.rows == 0 && row.readable) continue;
    row.collection = collection.name;
    report->history.push_back(std::move(row));
  }
}

}  // namespace seendb
