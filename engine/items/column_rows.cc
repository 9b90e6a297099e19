#include "items/column_rows.h"

#include <algorithm>

namespace seendb::items {

/// The words of 4 bytes come first, two in a unit, behind what is known of the item.
std::vector<ColumnPlace> ColumnRows::PlacesFor(const Schema& schema) {
  std::vector<ColumnPlace> places;
  uint32_t halves = 1;
  for (const Schema::Numbered& one : schema.fields()) {
    if (!one.field.column || one.field.type == ItemFieldType::kI64) continue;
    places.push_back({one.number, one.field.type, halves / 2, halves % 2 * 32, kHalf});
    ++halves;
  }
  uint32_t units = (halves + 1) / 2;
  for (const Schema::Numbered& one : schema.fields()) {
    if (!one.field.column || one.field.type != ItemFieldType::kI64) continue;
    places.push_back({one.number, one.field.type, units++, 0, ~uint64_t{0}});
  }
  return places;
}

uint32_t ColumnRows::UnitsOf(const std::vector<ColumnPlace>& places) {
  uint32_t units = 1;
  for (const ColumnPlace& place : places) units = std::max(units, place.unit + 1);
  return units;
}

ColumnRows::ColumnRows(const Schema& schema)
    : places_(PlacesFor(schema)), units_(UnitsOf(places_)), rows_(units_) {}

const ColumnPlace* ColumnRows::PlaceOf(uint16_t field) const {
  for (const ColumnPlace& place : places_) {
    if (place.field == field) return &place;
  }
  return nullptr;
}

void ColumnRows::Prefetch(uint32_t item) const {
  const Row row = Find(item);
  if (row == nullptr) return;
  __builtin_prefetch(row);
  __builtin_prefetch(row + units_ - 1);
}

void ColumnRows::SetKnown(uint32_t item, Known known) {
  if (!places_.empty()) Set(item, kKnownPlace, static_cast<uint64_t>(known));
}

void ColumnRows::Set(uint32_t item, const ColumnPlace& place, uint64_t word) {
  std::atomic<uint64_t>& unit = (&rows_.Make(item))[place.unit];
  unit.store((unit.load() & ~(place.mask << place.shift)) | word << place.shift);
}

void ColumnRows::Clear(uint32_t item) {
  SetKnown(item, Known::kNo);
  for (const ColumnPlace& place : places_) Set(item, place, 0);
}

}  // namespace seendb::items
