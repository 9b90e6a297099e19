// store/beside_rows.h: the rows of a store beside the shards (items, sets), as whoever checks or
// repairs the store's RocksDB without opening the store sees them.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>

namespace seendb {

/// A row that is not as it was written.
struct RowFault {
  std::string name;    ///< of the item or the set, or the row's key
  std::string reason;  ///< for people
  bool newer = false;  ///< it is of a newer version of the software
};

/// Takes the rows of one store, family by family in the order of Families(), by key ascending; some
/// may be missing. Threads: one.
class BesideRows {
 public:
  virtual ~BesideRows() = default;
  /// Those of its RocksDB, `default` first.
  virtual std::vector<rocksdb::ColumnFamilyDescriptor> Families() const = 0;
  /// Nothing: the row is sound. `family`: its place in Families().
  virtual std::optional<RowFault> Take(size_t family, std::string_view key,
                                       std::string_view value) = 0;
  /// Behind the last row: what rows that came lack of each other.
  virtual std::vector<RowFault> End() = 0;
  /// Whether a store that is made anew, and may lack rows, has this one as it was.
  virtual bool survives_loss(size_t /*family*/, std::string_view /*key*/) const { return true; }
  /// Whether a store can be made of the rows that came.
  virtual bool makes_store() const = 0;
};

}  // namespace seendb
