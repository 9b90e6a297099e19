// Get and Visit: of memory alone.

#include <algorithm>
#include <array>

#include "items/item_fields.h"
#include "items/store.h"

namespace seendb::items {
namespace {

constexpr size_t kMaxGetIds = 1'000;
constexpr size_t kVisitBatch = 64;

/// Those of these names, or all fields where there are none.
Result<std::vector<AskedField>> Asked(const Schema& schema, std::span<const std::string> names) {
  std::vector<AskedField> asked;
  if (names.empty()) {
    for (const auto& one : schema.fields()) asked.push_back({one.number, one.field.type});
  }
  if (Status found = FindFields(schema, names, &asked); !found.ok()) return found;
  return asked;
}

}  // namespace

ItemValueView ViewOf(const Value& value) {
  ItemValueView view;
  view.type = value.type;
  view.bytes = value.bytes;
  if (value.type == ItemFieldType::kF32) {
    view.real = RealOf(static_cast<uint32_t>(value.number));
  } else if (value.type == ItemFieldType::kI64) {
    view.number = NumberOf(value.number);
  } else {
    view.number = static_cast<int64_t>(value.number);
  }
  return view;
}

std::optional<ItemValueView> FieldOf(const MemoryItems& memory, const Record& record,
                                     const AskedField& field) {
  const uint32_t slot = record.SlotOf(field.number);
  if (slot == 0) return {};
  return ViewOf(memory.ValueAt(record, slot, field.type));
}

Status FindFields(const Schema& schema, std::span<const std::string> names,
                  std::vector<AskedField>* fields) {
  for (size_t i = 0; i < names.size(); ++i) {
    const auto position = schema.Find(names[i]);
    if (!position) {
      return Status::InvalidArgument("the schema has no field " + names[i],
                                     "/fields/" + std::to_string(i));
    }
    const auto& one = schema.fields()[*position];
    fields->push_back({one.number, one.field.type});
  }
  return {};
}

void VisitKnown(const MemoryItems& memory, std::span<const IdRef> ids,
                const std::vector<AskedField>& fields, uint64_t now_ms,
                const std::function<void(size_t, const ItemView&)>& visit) {
  std::array<Found, kVisitBatch> found;
  for (size_t begin = 0; begin < ids.size(); begin += kVisitBatch) {
    const size_t count = std::min(kVisitBatch, ids.size() - begin);
    memory.FindMany(ids.subspan(begin, count), found.data());
    for (size_t i = 0; i < count; ++i) {
      if (found[i].record == nullptr) continue;
      const Record record(found[i].record);
      if (record.IsKnown(now_ms)) visit(begin + i, RecordView(memory, fields, record));
    }
  }
}

Status Store::Visit(std::span<const IdRef> ids, std::span<const std::string> fields,
                    const std::function<void(size_t, const ItemView&)>& visit) const {
  if (closed_) return Status::Closed("the store of items is closed");
  const Epochs::Guard guard(memory_.epochs());
  const Schema& schema = memory_.layout().schema;
  if (!schema.was_put()) return Status::NotFound("the items have no schema yet");
  const auto asked = Asked(schema, fields);
  if (!asked.ok()) return asked.status();
  VisitKnown(memory_, ids, *asked, NowMs(), visit);
  return {};
}

Result<std::vector<Item>> Store::Get(std::span<const IdRef> ids,
                                     std::span<const std::string> fields) const {
  if (ids.size() > kMaxGetIds) {
    return Status::InvalidArgument("at most 1000 ids at a time",
                                   "/ids/" + std::to_string(kMaxGetIds));
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (Status status = ids[i].Validate(); !status.ok()) {
      return status.WithFieldPrefix("/ids/" + std::to_string(i));
    }
  }
  if (closed_) return Status::Closed("the store of items is closed");
  const Epochs::Guard guard(memory_.epochs());
  const Schema& schema = memory_.layout().schema;
  if (!schema.was_put()) return Status::NotFound("the items have no schema yet");
  const auto asked = Asked(schema, fields);
  if (!asked.ok()) return asked.status();
  const auto name_of = [&](size_t i) {
    return fields.empty() ? schema.fields()[i].field.name : fields[i];
  };
  std::vector<Item> items;
  VisitKnown(memory_, ids, *asked, NowMs(), [&](size_t position, const ItemView& view) {
    Item& item = items.emplace_back();
    item.id = ids[position].ToString();
    item.version = view.version();
    for (size_t i = 0; i < asked->size(); ++i) {
      if (const auto value = view.Field(i)) item.fields.push_back({name_of(i), value->Copy()});
    }
  });
  return items;
}

}  // namespace seendb::items

namespace seendb {

ItemValue ItemValueView::Copy() const {
  items::Value value;
  value.type = type;
  value.bytes = bytes;
  if (type == ItemFieldType::kBool) value.number = number != 0 ? 1 : 0;
  if (type == ItemFieldType::kI64) value.number = items::OrderedNumber(number);
  if (type == ItemFieldType::kF32) value.number = items::OrderedReal(real);
  return items::ToCaller(value);
}

void ItemValueView::ForEachText(const std::function<void(std::string_view)>& visit) const {
  items::AnyEntry(ItemFieldType::kTextList, bytes, [&](std::string_view entry) {
    visit(entry);
    return false;
  });
}

}  // namespace seendb
