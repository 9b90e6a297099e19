#include "items/row_codec.h"

#include <bit>

#include "format/bytes.h"

namespace seendb::items {
namespace {

constexpr Tag kRowTag{0xa1};
enum RowFlags : uint8_t { kRowExpires = 1, kRowLost = 2, kRowFlags = 3 };
constexpr uint8_t kRowUnset = 0;  // in place of a type

void PutRowValue(const Value& value, std::string* out) {
  switch (value.type) {
    case ItemFieldType::kBool:
      out->push_back(static_cast<char>(value.number));
      return;
    case ItemFieldType::kI64:
      PutZigzag(out, NumberOf(value.number));
      return;
    case ItemFieldType::kF32:
      PutU32(out, std::bit_cast<uint32_t>(RealOf(static_cast<uint32_t>(value.number))));
      return;
    default:
      PutVarint(out, value.bytes.size());
      out->append(value.bytes);
  }
}

uint32_t ReadU32(Reader* reader) {
  uint32_t value = 0;
  const std::string_view bytes = reader->Bytes(4);
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  return value;
}

Value ReadRowValue(uint8_t type, Reader* reader) {
  Value value;
  value.type = static_cast<ItemFieldType>(type);
  switch (value.type) {
    case ItemFieldType::kBool:
      value.number = reader->U8();
      break;
    case ItemFieldType::kI64:
      value.number = OrderedNumber(reader->Zigzag());
      break;
    case ItemFieldType::kF32:
      value.number = OrderedReal(std::bit_cast<float>(ReadU32(reader)));
      break;
    case ItemFieldType::kText:
    case ItemFieldType::kI64List:
    case ItemFieldType::kTextList:
      value.bytes = reader->Bytes(reader->Varint());
      break;
    default:
      reader->Fail();
      return value;
  }
  if (!IsSound(value)) reader->Fail();
  return value;
}

bool ReadCells(uint64_t count, Reader* reader, State* state) {
  uint64_t next = 0;  // the lowest number that the next cell may have
  for (uint64_t i = 0; i < count; ++i) {
    Cell cell;
    const uint64_t gap = reader->Varint();
    if (gap >= kMaxItemFields - next) return false;
    cell.field = static_cast<uint16_t>(next + gap);
    next = cell.field + uint64_t{1};
    const uint8_t type = reader->U8();
    const uint64_t older = reader->Varint();
    if (older >= state->seen) return false;
    cell.version = state->seen - older;
    if (cell.version < state->floor) return false;
    cell.unset = type == kRowUnset;
    if (!cell.unset) cell.value = ReadRowValue(type, reader);
    if (!reader->ok()) return false;
    state->cells.push_back(cell);
    if (next == kMaxItemFields && i + 1 < count) return false;
  }
  return true;
}

}  // namespace

void EncodeRow(const State& state, std::string* out) {
  std::string row;
  row.push_back(static_cast<char>(kRowTag));
  row.push_back(static_cast<char>((state.expires_version != 0 ? kRowExpires : 0) |
                                  (state.lost ? kRowLost : 0)));
  PutVarint(&row, state.seen);
  PutVarint(&row, state.floor);
  PutVarint(&row, state.time_ms);
  if (state.expires_version != 0) {
    PutVarint(&row, state.expires_version);
    PutVarint(&row, state.expires_ms);
  }
  PutVarint(&row, state.cells.size());
  uint64_t next = 0;
  for (const Cell& cell : state.cells) {
    PutVarint(&row, cell.field - next);
    next = cell.field + uint64_t{1};
    row.push_back(
        static_cast<char>(cell.unset ? kRowUnset : static_cast<uint8_t>(cell.value.type)));
    PutVarint(&row, state.seen - cell.version);
    if (!cell.unset) PutRowValue(cell.value, &row);
  }
  Seal32(&row);
  out->append(row);
}

bool ParseRow(std::string_view row, State* state) {
  state->Clear();
  std::string_view body;
  if (!Open32(row, kRowTag, &body)) return false;
  Reader reader(body);
  const uint8_t flags = reader.U8();
  state->lost = (flags & kRowLost) != 0;
  state->seen = reader.Varint();
  state->floor = reader.Varint();
  state->time_ms = reader.Varint();
  if ((flags & kRowExpires) != 0) {
    state->expires_version = reader.Varint();
    state->expires_ms = reader.Varint();
    if (state->expires_version == 0 || state->expires_version < state->floor ||
        state->expires_version > state->seen) {
      return false;
    }
  }
  const uint64_t count = reader.Varint();
  const bool fits = flags <= kRowFlags && state->seen <= kMaxItemVersion &&
                    state->floor <= kMaxItemVersion + 1 && state->time_ms <= INT64_MAX &&
                    state->expires_ms <= INT64_MAX && count <= kMaxItemFields;
  if (!reader.ok() || !fits || !ReadCells(count, &reader, state)) return false;
  return reader.ok() && reader.remaining() == 0;
}

}  // namespace seendb::items
