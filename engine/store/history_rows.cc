#include "store/history_rows.h"

#include <memory>
#include <string>

#include "format/history_codec.h"

namespace seendb {

rocksdb::Status ForEachHistoryRow(
    std::string_view user, rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
    const std::function<rocksdb::Status(std::string_view, std::string_view)>& row) {
  const std::string end = HistoryPrefixEnd(user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options, family));
  for (it->Seek(HistoryPrefix(user)); it->Valid(); it->Next()) {
    rocksdb::Status status = row(it->key().ToStringView(), it->value().ToStringView());
    if (!status.ok()) return status;
  }
  return it->status();
}

}  // namespace seendb
