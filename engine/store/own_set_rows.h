// store/own_set_rows.h: all rows of one user's sets in the family `own`.

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

namespace seendb {

/// Calls `row(key, value)` for every set of the user, in the order of their names, until one fails.
rocksdb::Status ForEachOwnSet(
    std::string_view user, rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
    const std::function<rocksdb::Status(std::string_view, std::string_view)>& row);
/// Deletes those that were said up to a time, and those that can't be read.
rocksdb::Status DeleteOwnSetsUpTo(int64_t at_ms, std::string_view user, rocksdb::DB* db,
                                  rocksdb::ColumnFamilyHandle* family, rocksdb::WriteBatch* batch);

}  // namespace seendb
