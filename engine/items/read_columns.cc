// VisitColumns: fields of many items by the columns alone.

#include <algorithm>
#include <array>

#include "items/item_fields.h"
#include "items/store.h"

namespace seendb::items {
namespace {

constexpr size_t kColumnsBatch = MemoryItems::kNumbersAtOnce;

struct ColumnAsked {
  AskedField field;
  const Column* column;
};

/// The columns of the fields; fewer where one has none.
std::vector<ColumnAsked> ColumnsOf(const Layout& layout, const std::vector<AskedField>& fields) {
  std::vector<ColumnAsked> columns;
  for (const AskedField& field : fields) {
    if (const Column* column = layout.ColumnOf(field.number)) columns.push_back({field, column});
  }
  return columns;
}

class ColumnView final : public ItemView {
 public:
  ColumnView(const MemoryItems& memory, const std::vector<ColumnAsked>& columns, uint32_t number)
      : memory_(memory), columns_(columns), number_(number) {}

  uint64_t version() const override {
    const uint8_t* const record = memory_.RecordAt(number_);
    return record == nullptr ? 0 : Record(record).seen();
  }
  std::optional<ItemValueView> Field(size_t position) const override {
    const ColumnAsked& asked = columns_[position];
    const uint64_t word = asked.column->Get(number_);
    Value value;
    value.type = asked.field.type;
    value.number = word;
    if (word == 0) return asked.field.type == ItemFieldType::kI64 ? OfRecord(asked.field) : kAbsent;
    if (asked.field.type == ItemFieldType::kBool) value.number = word - 1;
    if (asked.field.type == ItemFieldType::kText) {
      value.number = 0;
      value.bytes = memory_.dictionary().Text(Column::TextOfWord(word));
    }
    return ViewOf(value);
  }

 private:
  static constexpr std::optional<ItemValueView> kAbsent = std::nullopt;

  std::optional<ItemValueView> OfRecord(const AskedField& field) const {
    const uint8_t* const record = memory_.RecordAt(number_);
    return record == nullptr ? kAbsent : FieldOf(memory_, Record(record), field);
  }

  const MemoryItems& memory_;
  const std::vector<ColumnAsked>& columns_;
  const uint32_t number_;
};

}  // namespace

Status Store::VisitColumns(std::span<const IdRef> ids, std::span<const std::string> fields,
                           const std::function<void(size_t, const ItemView&)>& visit) const {
  if (closed_) return Status::Closed("the store of items is closed");
  const Epochs::Guard guard(memory_.epochs());
  const Layout& layout = memory_.layout();
  if (!layout.schema.was_put()) return Status::NotFound("the items have no schema yet");
  std::vector<AskedField> asked;
  if (Status found = FindFields(layout.schema, fields, &asked); !found.ok()) return found;
  const std::vector<ColumnAsked> columns = ColumnsOf(layout, asked);
  const uint64_t now_ms = NowMs();
  if (columns.size() < asked.size()) {
    VisitKnown(memory_, ids, asked, now_ms, visit);
    return {};
  }
  std::array<uint32_t, kColumnsBatch> numbers;
  for (size_t begin = 0; begin < ids.size(); begin += kColumnsBatch) {
    const size_t count = std::min(kColumnsBatch, ids.size() - begin);
    memory_.FindNumbers(ids.subspan(begin, count), numbers.data());
    for (size_t i = 0; i < count; ++i) {
      if (numbers[i] == 0) continue;
      memory_.PrefetchKnown(numbers[i]);
      for (const ColumnAsked& one : columns) one.column->Prefetch(numbers[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      if (numbers[i] == 0 || !memory_.IsKnown(numbers[i], now_ms)) continue;
      visit(begin + i, ColumnView(memory_, columns, numbers[i]));
    }
  }
  return {};
}

}  // namespace seendb::items
