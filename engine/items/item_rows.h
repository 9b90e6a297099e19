// items/item_rows.h: what lies in the RocksDB of a store: its families and keys, and whether a row
// is sound. Family `default`: the format and the schema; family `items`: a row for each item.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>

#include "items/schema.h"
#include "items/state.h"
#include "seendb/id.h"
#include "store/beside_rows.h"

namespace seendb::items {

inline constexpr char kItemsFamily[] = "items";
/// Keys of `default`.
inline constexpr char kFormatKey[] = "format", kSchemaKey[] = "schema";
inline constexpr char kFormat[] = "1";

/// `default` and `items`. `damaged` counts rows that a merge could not read.
std::vector<rocksdb::ColumnFamilyDescriptor> ItemFamilies(
    const std::shared_ptr<std::atomic<uint64_t>>& damaged);

/// Reads a row by the schema, without the fields that are no more; the state borrows its bytes.
/// False: the row is damaged.
bool ReadItemRow(const Schema& schema, std::string_view id, std::string_view row, State* state);

/// See the base.
class ItemRows final : public BesideRows {
 public:
  std::vector<rocksdb::ColumnFamilyDescriptor> Families() const override;
  std::optional<RowFault> Take(size_t family, std::string_view key,
                               std::string_view value) override;
  std::vector<RowFault> End() override { return {}; }
  /// How far topics were read is not true of a store that lost rows.
  bool survives_loss(size_t family, std::string_view key) const override;
  bool makes_store() const override { return schema_.has_value(); }

 private:
  std::optional<RowFault> TakeMeta(std::string_view key, std::string_view value);

  std::optional<Schema> schema_;
};

}  // namespace seendb::items
