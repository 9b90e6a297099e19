// items/item_fields.h: the fields that a read asks for, and their values in records.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "items/memory_items.h"
#include "seendb/item_store.h"

namespace seendb::items {

/// A field by its number.
struct AskedField {
  uint16_t number;
  ItemFieldType type;
};

/// Appends the fields of these names. kInvalidArgument, with the place ("/fields/2"): the schema
/// has no such field.
Status FindFields(const Schema& schema, std::span<const std::string> names,
                  std::vector<AskedField>* fields);

/// A value as callers see it.
ItemValueView ViewOf(const Value& value);

/// The value that a record has.
std::optional<ItemValueView> FieldOf(const MemoryItems& memory, const Record& record,
                                     const AskedField& field);

/// An item of which a read has the record; `fields` by position.
class RecordView final : public ItemView {
 public:
  RecordView(const MemoryItems& memory, const std::vector<AskedField>& fields, const Record& record)
      : memory_(memory), fields_(fields), record_(record) {}

  uint64_t version() const override { return record_.seen(); }
  std::optional<ItemValueView> Field(size_t position) const override {
    return FieldOf(memory_, record_, fields_[position]);
  }

 private:
  const MemoryItems& memory_;
  const std::vector<AskedField>& fields_;
  const Record record_;
};

/// Visits the known ones among `ids`, with their records, under the caller's guard.
void VisitKnown(const MemoryItems& memory, std::span<const IdRef> ids,
                const std::vector<AskedField>& fields, uint64_t now_ms,
                const std::function<void(size_t, const ItemView&)>& visit);

}  // namespace seendb::items
