// recovery/salvage.h: what of a table can be read, block by block, around its damaged ones.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>

#include "seendb/status.h"
#include "tables/data_loss.h"

namespace rocksdb {
class SstFileReader;
}

namespace seendb {

/// Whose a table is, by its own word.
struct TableOwner {
  std::string family;   ///< empty: not even that reads
  uint32_t number = 0;  ///< RocksDB's
};
TableOwner OwnerOfTable(rocksdb::Env* env, const std::string& path);

/// What SalvageTable read.
struct SalvagedTable {
  uint64_t keys = 0;            ///< read
  uint64_t bytes_left = 0;      ///< of the file that did not read, about
  std::vector<UserRange> lost;  ///< between which keys something may be missing
  bool whole() const { return lost.empty() && bytes_left == 0; }
};

/// Calls `row` for every key in the readable blocks of the table in `path`, operands merged by the
/// operator in `options`; keys may come in any order and more than once. `smallest` and `largest`
/// bound the lost ranges where the table itself tells nothing. Nothing readable is no error.
SalvagedTable SalvageTable(const rocksdb::Options& options, const std::string& path,
                           std::string_view smallest, std::string_view largest,
                           const std::function<void(std::string_view, std::string_view)>& row);

/// The same for an iterator over whatever rows; `bytes_left` is not known.
SalvagedTable SalvageRows(rocksdb::Iterator* rows,
                          const std::function<void(std::string_view, std::string_view)>& row);

/// RocksDB's sequences of the rows of one table, which tell versions of a row in several tables and
/// logs apart. RocksDB 7.8 shows them only as what a snapshot sees: a look-up takes some 60 of
/// them, fit for small tables. `options` as for SalvageTable.
class RowSequences {
 public:
  RowSequences(const rocksdb::Options& options, const std::string& path);
  ~RowSequences();
  RowSequences(const RowSequences&) = delete;
  RowSequences& operator=(const RowSequences&) = delete;

  /// Of the newest version of `key` in the table, which has this value; 0 where it can't be read,
  /// or RocksDB has given it up (there is no older version then).
  uint64_t Of(std::string_view key, std::string_view value) const;

 private:
  bool Sees(uint64_t sequence, std::string_view key, std::string_view value) const;

  std::unique_ptr<rocksdb::SstFileReader> reader_;  // null: the table does not open
};

}  // namespace seendb
