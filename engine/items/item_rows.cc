#include "items/item_rows.h"

#include <string>
#include <utility>

#include <rocksdb/table.h>

#include "items/item_operator.h"
#include "items/record.h"
#include "items/row_codec.h"
#include "items/source_codec.h"

namespace seendb::items {
namespace {

rocksdb::ColumnFamilyOptions ItemFamilyOptions(std::shared_ptr<rocksdb::MergeOperator> merge) {
  rocksdb::ColumnFamilyOptions options;
  options.merge_operator = std::move(merge);
  options.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table;  // rows are read in order alone, at the opening
  table.block_size = size_t{16} << 10;
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace

std::vector<rocksdb::ColumnFamilyDescriptor> ItemFamilies(
    const std::shared_ptr<std::atomic<uint64_t>>& damaged) {
  return {{rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions()},
          {kItemsFamily, ItemFamilyOptions(NewItemOperator(damaged))}};
}

bool ReadItemRow(const Schema& schema, std::string_view id, std::string_view row, State* state) {
  const IdRef ref(id);
  if (!ref.Validate().ok() || !ParseRow(row, state)) return false;
  bool sound = true;
  std::erase_if(state->cells, [&](const Cell& cell) {
    sound = sound && (cell.unset || cell.value.type == schema.types()[cell.field]);
    return !schema.has(cell.field);
  });
  return sound && RecordSize(ref, *state) <= kMaxItemBytes;
}

std::vector<rocksdb::ColumnFamilyDescriptor> ItemRows::Families() const {
  return ItemFamilies(std::make_shared<std::atomic<uint64_t>>(0));
}

std::optional<RowFault> ItemRows::Take(size_t family, std::string_view key,
                                       std::string_view value) {
  if (family == 0) return TakeMeta(key, value);
  State state;
  if (!schema_) {
    return RowFault{.name = std::string(key), .reason = "there is no schema to read it by"};
  }
  if (ReadItemRow(*schema_, key, value, &state)) return {};
  return RowFault{.name = std::string(key), .reason = "the item's row is damaged"};
}

bool ItemRows::survives_loss(size_t family, std::string_view key) const {
  return family != 0 || !key.starts_with(kSourcePrefix);
}

std::optional<RowFault> ItemRows::TakeMeta(std::string_view key, std::string_view value) {
  if (key == kSchemaKey) {
    Result<Schema> schema = Schema::FromJson(std::string(value));
    if (!schema.ok()) return RowFault{.name = "schema", .reason = "it is no schema"};
    schema_ = std::move(schema).value();
    return {};
  }
  if (key.starts_with(kSourcePrefix)) {
    ItemSource source;
    if (ParseSource(key, value, &source)) return {};
    return RowFault{.name = std::string(key), .reason = "it is no note of a topic"};
  }
  if (key != kFormatKey) {
    return RowFault{.name = std::string(key), .reason = "the store has no such key"};
  }
  if (value == kFormat) return {};
  return RowFault{
      .name = "format", .reason = "it is \"" + std::string(value) + "\"", .newer = true};
}

}  // namespace seendb::items
