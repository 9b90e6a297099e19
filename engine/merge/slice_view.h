// merge/slice_view.h: RocksDB's bytes as the formats read them.

#pragma once

#include <string_view>

#include <rocksdb/slice.h>

namespace seendb {

inline std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

}  // namespace seendb
