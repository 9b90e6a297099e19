#include "store/own_set_rows.h"

#include <memory>
#include <string>

#include "format/own_set_codec.h"

namespace seendb {

rocksdb::Status ForEachOwnSet(
    std::string_view user, rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
    const std::function<rocksdb::Status(std::string_view, std::string_view)>& row) {
  const std::string end = OwnSetEnd(user);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options, family));
  for (it->Seek(OwnSetPrefix(user)); it->Valid(); it->Next()) {
    const rocksdb::Status status = row(it->key().ToStringView(), it->value().ToStringView());
    if (!status.ok()) return status;
  }
  return it->status();
}

rocksdb::Status DeleteOwnSetsUpTo(int64_t at_ms, std::string_view user, rocksdb::DB* db,
                                  rocksdb::ColumnFamilyHandle* family, rocksdb::WriteBatch* batch) {
  return ForEachOwnSet(user, db, family, [&](std::string_view key, std::string_view value) {
    StoredOwnSet set;
    if (set.Parse(value) && set.said && set.said_ms > at_ms) return rocksdb::Status();
    return batch->Delete(family, {key.data(), key.size()});
  });
}

}  // namespace seendb
