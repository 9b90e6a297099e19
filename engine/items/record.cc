#include "items/record.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "format/bytes.h"

namespace seendb::items {
namespace {

constexpr uint8_t kRecordTag = 0xb1;
constexpr int64_t kInlineMost = (int64_t{1} << 30) - 1;
constexpr int64_t kInlineLeast = -(int64_t{1} << 30);
constexpr size_t kChecksumAt = 4;
constexpr size_t kSizeAt = 22;
constexpr uint64_t kTimeMost = (uint64_t{1} << 48) - 1;

/// Covers all bytes but its own.
uint32_t RecordChecksum(const uint8_t* bytes, size_t size) {
  uint32_t head = 0;
  std::memcpy(&head, bytes, sizeof(head));
  return static_cast<uint32_t>(XXH3_64bits_withSeed(bytes + 8, size - 8, head));
}

size_t VarintBytes(uint64_t value) {
  return static_cast<size_t>(std::bit_width(value | 1) + 6) / 7;
}

bool FitsSlot(int64_t number) { return number >= kInlineLeast && number <= kInlineMost; }

bool DiffersFromItem(const State& state, const Cell& cell) {
  return cell.unset || cell.version != state.seen;
}

/// The versions of fields that are unset or have another version than the item.
std::string VersionsOf(const State& state) {
  uint64_t count = 0;
  for (const Cell& cell : state.cells) count += DiffersFromItem(state, cell) ? 1 : 0;
  std::string versions;
  if (count == 0) return versions;
  PutVarint(&versions, count);
  uint64_t next = 0;
  for (const Cell& cell : state.cells) {
    if (!DiffersFromItem(state, cell)) continue;
    PutVarint(&versions, (cell.field - next) << 1 | (cell.unset ? 1 : 0));
    PutVarint(&versions, state.seen - cell.version);
    next = cell.field + uint64_t{1};
  }
  return versions;
}

template <typename T>
void PutAs(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// Writes slots, and the data that they point to.
class SlotWriter {
 public:
  SlotWriter(size_t data_at, Texts* texts, std::string* data)
      : data_at_(data_at), texts_(texts), data_(data) {}

  uint32_t SlotFor(const Cell& cell) {
    const Value& value = cell.value;
    switch (value.type) {
      case ItemFieldType::kBool:
        return static_cast<uint32_t>(value.number);
      case ItemFieldType::kF32:
        return std::bit_cast<uint32_t>(RealOf(static_cast<uint32_t>(value.number)));
      case ItemFieldType::kI64: {
        const int64_t number = NumberOf(value.number);
        if (FitsSlot(number)) return static_cast<uint32_t>(number) << 1;
        const uint32_t slot = Pointer();
        PutAs(data_, number);
        return slot;
      }
      case ItemFieldType::kText:
        if (const auto known = texts_->NumberFor(cell.field, value.bytes)) return *known << 1;
        break;
      default:
        break;
    }
    const uint32_t slot = Pointer();
    PutVarint(data_, value.bytes.size());
    data_->append(value.bytes);
    return slot;
  }

 private:
  uint32_t Pointer() const { return static_cast<uint32_t>(data_at_ + data_->size()) << 1 | 1; }

  const size_t data_at_;
  Texts* const texts_;
  std::string* const data_;
};

/// No text has a number.
class NoTexts final : public Texts {
 public:
  std::optional<uint32_t> NumberFor(uint16_t, std::string_view) override { return {}; }
  std::string_view TextOf(uint32_t) const override { return {}; }
};

size_t IdBytes(const IdRef& id) { return id.is_number() ? 8 : 1 + id.text().size(); }

/// The bitmap of a state's fields: its words, and which of them there are.
struct Bitmap {
  std::array<uint64_t, kMaxItemFields / 64> words = {};
  uint16_t mask = 0;
  size_t fields = 0;

  explicit Bitmap(const State& state) {
    for (const Cell& cell : state.cells) {
      if (cell.unset) continue;
      words[cell.field / 64U] |= uint64_t{1} << (cell.field % 64);
      mask = static_cast<uint16_t>(mask | 1U << (cell.field / 64U));
      ++fields;
    }
  }
  size_t DataAt(const IdRef& id, const State& state, size_t versions) const {
    return Record::kHeader + 8 * static_cast<size_t>(std::popcount(mask)) + 4 * fields +
           IdBytes(id) + (state.floor != 0 ? 8 : 0) + (state.expires_version != 0 ? 16 : 0) +
           versions;
  }
};

}  // namespace

size_t RecordSize(const IdRef& id, const State& state) {
  size_t size = Bitmap(state).DataAt(id, state, VersionsOf(state).size());
  for (const Cell& cell : state.cells) {
    if (cell.unset) continue;
    if (cell.value.type == ItemFieldType::kI64) {
      size += FitsSlot(NumberOf(cell.value.number)) ? 0 : 8;
    } else if (!IsNumber(cell.value.type)) {
      size += VarintBytes(cell.value.bytes.size()) + cell.value.bytes.size();
    }
  }
  return size;
}

bool EncodeRecord(const IdRef& id, const State& state, Texts* texts, std::string* out) {
  const std::string versions = VersionsOf(state);
  const Bitmap bitmap(state);
  const size_t data_at = bitmap.DataAt(id, state, versions.size());
  const size_t start = out->size();
  const auto flags = static_cast<uint8_t>(
      (state.expires_version != 0 ? Record::kHasExpiry : 0) |
      (!versions.empty() ? Record::kHasVersions : 0) | (state.floor != 0 ? Record::kHasFloor : 0) |
      (id.is_number() ? Record::kIdIsNumber : 0) | (state.lost ? Record::kLost : 0));
  out->push_back(static_cast<char>(kRecordTag));
  PutAs(out, flags);
  PutAs(out, bitmap.mask);
  PutAs(out, uint32_t{0});  // the checksum, below
  PutAs(out, state.seen);
  PutAs(out, std::min(state.time_ms, kTimeMost));  // the size in its upper bits, below
  for (uint32_t mask = bitmap.mask; mask != 0; mask &= mask - 1) {
    PutAs(out, bitmap.words[static_cast<size_t>(std::countr_zero(mask))]);
  }
  std::string data;
  SlotWriter slots(data_at, texts, &data);
  for (const Cell& cell : state.cells) {
    if (!cell.unset) PutAs(out, slots.SlotFor(cell));
  }
  if (id.is_number()) {
    PutAs(out, id.number());
  } else {
    PutAs(out, static_cast<uint8_t>(id.text().size()));
    out->append(id.text());
  }
  if (state.floor != 0) PutAs(out, state.floor);
  if (state.expires_version != 0) {
    PutAs(out, state.expires_version);
    PutAs(out, state.expires_ms);
  }
  out->append(versions).append(data);
  const size_t size = out->size() - start;
  if (size > kMaxItemBytes) {
    out->resize(start);
    return false;
  }
  char* record = out->data() + start;
  const auto stored_size = static_cast<uint16_t>(size - 1);
  std::memcpy(record + kSizeAt, &stored_size, sizeof(stored_size));
  const uint32_t checksum = RecordChecksum(reinterpret_cast<const uint8_t*>(record), size);
  std::memcpy(record + kChecksumAt, &checksum, sizeof(checksum));
  return true;
}

uint64_t Record::expires_ms() const {
  return (flags() & kHasExpiry) != 0 ? Load<uint64_t>(ExpiryAt() + 8) : 0;
}

bool Record::HasId(const IdRef& id) const {
  const bool is_number = (flags() & kIdIsNumber) != 0;
  if (is_number != id.is_number()) return false;
  const uint32_t at = IdAt();
  if (is_number) return Load<uint64_t>(at) == id.number();
  return bytes_[at] == id.text().size() &&
         std::memcmp(bytes_ + at + 1, id.text().data(), id.text().size()) == 0;
}

IdRef Record::Id() const {
  const uint32_t at = IdAt();
  if ((flags() & kIdIsNumber) != 0) return IdRef(Load<uint64_t>(at));
  return IdRef(std::string_view(reinterpret_cast<const char*>(bytes_ + at + 1), bytes_[at]));
}

std::string_view Record::DataAt(uint32_t offset) const {
  Reader reader({reinterpret_cast<const char*>(bytes_ + offset), size() - offset});
  return reader.Bytes(reader.Varint());
}

Value Record::At(uint32_t slot, ItemFieldType type, const Texts& texts) const {
  const auto word = Load<uint32_t>(slot);
  Value value;
  value.type = type;
  switch (type) {
    case ItemFieldType::kBool:
      value.number = word;
      return value;
    case ItemFieldType::kF32:
      value.number = OrderedReal(std::bit_cast<float>(word));
      return value;
    case ItemFieldType::kI64: {
      const bool inline_number = (word & 1) == 0;
      value.number = OrderedNumber(inline_number ? int64_t{static_cast<int32_t>(word) >> 1}
                                                 : Load<int64_t>(word >> 1));
      return value;
    }
    default:
      value.bytes = (word & 1) == 0 ? texts.TextOf(word >> 1) : DataAt(word >> 1);
      return value;
  }
}

bool Record::ToState(const Types& types, const Texts& texts, State* state) const {
  state->Clear();
  state->seen = seen();
  state->floor = floor();
  state->time_ms = time_ms();
  state->lost = (flags() & kLost) != 0;
  if ((flags() & kHasExpiry) != 0) {
    state->expires_version = Load<uint64_t>(ExpiryAt());
    state->expires_ms = expires_ms();
  }
  const size_t versions_at = VersionsAt();
  Reader versions({reinterpret_cast<const char*>(bytes_ + versions_at), size() - versions_at});
  uint64_t left = has_versions() ? versions.Varint() : 0;
  uint64_t next = 0, field = UINT64_MAX, word = 0;
  const auto read_next = [&] {
    if (left == 0) {
      field = UINT64_MAX;
      return;
    }
    --left;
    word = versions.Varint();
    field = next + (word >> 1);
    next = field + 1;
  };
  const auto version = [&] { return state->seen - versions.Varint(); };
  read_next();
  ForEach([&](uint16_t set, uint32_t slot) {
    for (; field < set && versions.ok(); read_next()) {
      state->cells.push_back({static_cast<uint16_t>(field), true, version(), {}});
    }
    Cell cell{
        .field = set, .unset = false, .version = state->seen, .value = At(slot, types[set], texts)};
    if (field == set) {
      cell.version = version();
      read_next();
    }
    state->cells.push_back(cell);
  });
  for (; field != UINT64_MAX && versions.ok(); read_next()) {
    state->cells.push_back({static_cast<uint16_t>(field), true, version(), {}});
  }
  return versions.ok();
}

bool Record::CheckSlots(const Record& record, size_t data_at, const Types& types,
                        uint32_t numbers) {
  bool sound = true;
  NoTexts none;
  record.ForEach([&](uint16_t field, uint32_t slot) {
    const ItemFieldType type = types[field];
    const auto word = record.Load<uint32_t>(slot);
    if (type < ItemFieldType::kBool || type > ItemFieldType::kTextList) {
      sound = false;
    } else if (type == ItemFieldType::kBool || type == ItemFieldType::kF32) {
      sound = sound && IsSound(record.At(slot, type, none));
    } else if ((word & 1) == 0) {
      sound = sound && (type == ItemFieldType::kI64 ||
                        (type == ItemFieldType::kText && word >> 1 < numbers));
    } else {
      const size_t at = word >> 1;
      if (at < data_at || at >= record.size()) {
        sound = false;
      } else if (type == ItemFieldType::kI64) {
        sound = sound && at + 8 <= record.size();
      } else {
        Reader reader({reinterpret_cast<const char*>(record.bytes_ + at), record.size() - at});
        const std::string_view data = reader.Bytes(reader.Varint());
        sound = sound && reader.ok() && IsSound({.type = type, .number = 0, .bytes = data});
      }
    }
  });
  return sound;
}

bool Record::Check(std::string_view bytes, const Types& types, uint32_t numbers) {
  if (bytes.size() < kHeader || bytes.size() > kMaxItemBytes) return false;
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const Record record(data);
  if (data[0] != kRecordTag || record.flags() > kFlags || record.size() != bytes.size() ||
      record.Load<uint32_t>(kChecksumAt) != RecordChecksum(data, bytes.size())) {
    return false;
  }
  if (record.SlotsAt() > bytes.size()) return false;
  for (uint32_t i = 0; i < record.Words(); ++i) {
    if (record.Word(i) == 0) return false;
  }
  if (record.IdAt() >= bytes.size() || record.VersionsAt() > bytes.size()) return false;
  const size_t id_bytes = record.IdEnd() - record.IdAt();
  if (!record.Id().Validate().ok() || IdBytes(record.Id()) != id_bytes) return false;
  if (record.seen() > kMaxItemVersion || record.floor() > kMaxItemVersion + 1) return false;
  if ((record.flags() & kHasExpiry) != 0) {
    const auto version = record.Load<uint64_t>(record.ExpiryAt());
    if (version == 0 || version > record.seen()) return false;
  }
  Reader versions(bytes.substr(record.VersionsAt()));
  if (record.has_versions()) {
    uint64_t next = 0;
    for (uint64_t left = versions.Varint(); left > 0 && versions.ok(); --left) {
      const uint64_t word = versions.Varint();
      if (word >> 1 >= kMaxItemFields - next) return false;
      const uint64_t field = next + (word >> 1);
      next = field + 1;
      const bool set = record.SlotOf(static_cast<uint16_t>(field)) != 0;
      if (versions.Varint() >= record.seen() || set == ((word & 1) != 0)) return false;
      if (next == kMaxItemFields && left > 1) return false;
    }
  }
  if (!versions.ok()) return false;
  const size_t data_at = bytes.size() - versions.remaining();
  return CheckSlots(record, data_at, types, numbers);
}

}  // namespace seendb::items
