// store/history_rows.h: all rows of one user in a family of history.

#pragma once

#include <string_view>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

namespace seendb {

/// Adds to `*batch` the deletion of every key of the user in a family history/... or timeline/...
rocksdb::Status DeleteHistoryOf(std::string_view user, rocksdb::DB* db,
                                rocksdb::ColumnFamilyHandle* family, rocksdb::WriteBatch* batch);

}  // namespace seendb
