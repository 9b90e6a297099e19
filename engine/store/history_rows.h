// store/history_rows.h: all rows of one user in a family of history.

#pragma once

#include <functional>
#include <string_view>

#include <rocksdb/db.h>

namespace seendb {

/// Calls `row(key, value)` for every key of the user in a family history/... or timeline/..., until
/// one fails.
rocksdb::Status ForEachHistoryRow(
    std::string_view user, rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
    const std::function<rocksdb::Status(std::string_view, std::string_view)>& row);

}  // namespace seendb
