#include "items/memory_items.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "items/id_hash.h"

namespace seendb::items {
namespace {

constexpr size_t kBatch = 64;
constexpr size_t kBytesPerItem = 32;  // of map, table of records and columns, about

/// Rows for the schema's columns: those of `before` where they fit.
std::shared_ptr<ColumnRows> RowsFor(const Schema& schema, const Layout* before) {
  auto rows = std::make_shared<ColumnRows>(schema);
  return before != nullptr && before->rows->places() == rows->places() ? before->rows : rows;
}

}  // namespace

/// Numbers of the dictionary for texts of records.
class MemoryItems::DictionaryTexts final : public Texts {
 public:
  DictionaryTexts(Dictionary* dictionary, const Schema& schema)
      : dictionary_(dictionary), schema_(schema) {}
  std::optional<uint32_t> NumberFor(uint16_t field, std::string_view text) override {
    return dictionary_->Use(field, text,
                            schema_.is_column(field) ? Sharing::kAlways : Sharing::kIfItRepeats);
  }
  std::string_view TextOf(uint32_t number) const override { return dictionary_->Text(number); }

 private:
  Dictionary* const dictionary_;
  const Schema& schema_;
};

namespace {

/// For reading alone.
class KnownTexts final : public Texts {
 public:
  explicit KnownTexts(const Dictionary& dictionary) : dictionary_(dictionary) {}
  std::optional<uint32_t> NumberFor(uint16_t, std::string_view) override { return {}; }
  std::string_view TextOf(uint32_t number) const override { return dictionary_.Text(number); }

 private:
  const Dictionary& dictionary_;
};

}  // namespace

MemoryItems::MemoryItems(const Schema& schema)
    : map_(epochs_.get(),
           [this](uint32_t number) { return HashId(Record(records_.Find(number)->load()).Id()); }),
      layout_(new Layout{schema, RowsFor(schema, nullptr)}) {
  layout().rows->SetReady();
}

MemoryItems::~MemoryItems() {
  epochs_->Collect();
  delete layout_.load();
}

Found MemoryItems::Find(const IdRef& id) const {
  ItemMap::Place place = map_.Begin(HashId(id));
  while (const uint32_t number = ItemMap::Next(&place)) {
    const uint8_t* record = records_.Find(number)->load();
    if (record != nullptr && Record(record).HasId(id)) return {number, record};
  }
  return {};
}

void MemoryItems::FindMany(std::span<const IdRef> ids, Found* found) const {
  std::array<ItemMap::Place, kBatch> places;
  for (size_t begin = 0; begin < ids.size(); begin += kBatch, found += kBatch) {
    const size_t count = std::min(kBatch, ids.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      places[i] = map_.Begin(HashId(ids[begin + i]));
      __builtin_prefetch(places[i].slots + places[i].at);
    }
    for (size_t i = 0; i < count; ++i) {
      found[i] = {ItemMap::Next(&places[i]), nullptr};
      if (found[i].number != 0) __builtin_prefetch(records_.Find(found[i].number));
    }
    for (size_t i = 0; i < count; ++i) {
      if (found[i].number == 0) continue;
      const uint8_t* record = records_.Find(found[i].number)->load();
      found[i].record = record;
      if (record == nullptr) continue;  // its item went meanwhile
      __builtin_prefetch(record);
      __builtin_prefetch(record + 64);
      __builtin_prefetch(record + 128);
    }
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* record = found[i].record;
      if (found[i].number == 0 || (record != nullptr && Record(record).HasId(ids[begin + i]))) {
        continue;
      }
      found[i] = Find(ids[begin + i]);  // another item's hash is the same
    }
  }
}

void MemoryItems::FindNumbers(std::span<const IdRef> ids, uint32_t* numbers) const {
  std::array<ItemMap::Place, kNumbersAtOnce> places;
  for (size_t i = 0; i < ids.size(); ++i) {
    places[i] = map_.Begin(HashId(ids[i]));
    __builtin_prefetch(places[i].slots + places[i].at);
  }
  for (size_t i = 0; i < ids.size(); ++i) numbers[i] = ItemMap::Next(&places[i]);
}

bool MemoryItems::IsKnown(ColumnRows::Row row, uint32_t number, uint64_t now_ms) const {
  const ColumnRows::Known known = ColumnRows::KnownOf(row);
  if (known != ColumnRows::Known::kExpires) return known == ColumnRows::Known::kYes;
  const uint8_t* const record = RecordAt(number);
  return record != nullptr && Record(record).IsKnown(now_ms);
}

Value MemoryItems::ValueAt(const Record& record, uint32_t slot, ItemFieldType type) const {
  return record.At(slot, type, KnownTexts(dictionary_));
}

State MemoryItems::StateOf(const Found& found) const {
  State state;
  if (found.record == nullptr) return state;
  const Schema& schema = layout().schema;
  Record(found.record).ToState(schema.types(), KnownTexts(dictionary_), &state);
  std::erase_if(state.cells, [&](const Cell& cell) { return !schema.has(cell.field); });
  return state;
}

void MemoryItems::ForEach(const std::function<void(const Found&)>& visit) const {
  uint32_t end = 0;
  {
    const MutexLock lock(numbers_mutex_);
    end = next_number_;
  }
  for (uint32_t number = 1; number < end; ++number) {
    const Epochs::Guard guard(*epochs_);
    const auto* place = records_.Find(number);
    const uint8_t* record = place == nullptr ? nullptr : place->load();
    if (record != nullptr) visit({number, record});
  }
}

void MemoryItems::Publish(const IdRef& id, const State& state) {
  const Layout& now = layout();
  DictionaryTexts texts(&dictionary_, now.schema);
  thread_local std::string bytes;
  bytes.clear();
  EncodeRecord(id, state, &texts, &bytes);
  auto* copy = static_cast<uint8_t*>(arena_.Allocate(bytes.size()));
  std::memcpy(copy, bytes.data(), bytes.size());
  const Record record(copy);
  Count(record, 1);
  const Epochs::Guard guard(*epochs_);
  const Found old = Find(id);
  const uint32_t number = old.number != 0 ? old.number : NewNumber();
  records_.Make(number) = copy;
  SetRow(number, record);
  if (old.number == 0) {
    map_.Insert(HashId(id), number);
  } else {
    RetireRecord(old.record);
  }
}

void MemoryItems::Erase(const Found& found) {
  map_.Remove(HashId(Record(found.record).Id()), found.number);
  records_.Find(found.number)->store(nullptr);
  RetireRecord(found.record);
  // A reader that found the number before may still look into its row.
  epochs_->Retire([this, number = found.number] {
    layout().rows->Clear(number);
    const MutexLock lock(numbers_mutex_);
    free_numbers_.push_back(number);
  });
}

void MemoryItems::PutSchema(const Schema& schema) {
  const Layout* before = layout_.load();
  auto rows = RowsFor(schema, before);
  bool anew = rows != before->rows;
  for (const Schema::Numbered& one : before->schema.fields()) {
    anew = anew || !schema.has(one.number);
  }
  layout_ = new Layout{schema, std::move(rows)};
  epochs_->Retire([before] { delete before; });
  if (anew) {
    ForEach([&](const Found& found) { Publish(Record(found.record).Id(), StateOf(found)); });
  }
  layout().rows->SetReady();
}

uint32_t MemoryItems::NewNumber() {
  const MutexLock lock(numbers_mutex_);
  if (free_numbers_.empty()) return next_number_++;
  const uint32_t number = free_numbers_.back();
  free_numbers_.pop_back();
  return number;
}

void MemoryItems::SetRow(uint32_t number, const Record& record) {
  using Known = ColumnRows::Known;
  ColumnRows& rows = *layout().rows;
  rows.SetKnown(number, !record.exists()           ? Known::kNo
                        : record.expires_ms() != 0 ? Known::kExpires
                                                   : Known::kYes);
  for (const ColumnPlace& place : rows.places()) {
    const uint32_t slot = record.SlotOf(place.field);
    uint64_t word = 0;
    if (slot != 0 && place.type == ItemFieldType::kText) {
      const auto text = record.TextNumberAt(slot);
      if (text) word = ColumnRows::WordOfText(*text);
    } else if (slot != 0) {
      word = ValueAt(record, slot, place.type).number;
      if (place.type == ItemFieldType::kBool) ++word;
    }
    rows.Set(number, place, word);
  }
}

void MemoryItems::Count(const Record& record, int64_t sign) {
  const auto add = [sign](std::atomic<uint64_t>* to, uint64_t count) {
    to->fetch_add(sign > 0 ? count : 0 - count, std::memory_order_relaxed);
  };
  add(&records_count_, 1);
  add(&existing_, record.exists() ? 1 : 0);
  add(&record_bytes_, record.size());
}

void MemoryItems::ReleaseTexts(const Record& record) {
  const Types& types = layout().schema.types();
  record.ForEach([&](uint16_t field, uint32_t slot) {
    if (types[field] != ItemFieldType::kText) return;
    if (const auto text = record.TextNumberAt(slot)) dictionary_.Release(*text);
  });
}

void MemoryItems::RetireRecord(const uint8_t* bytes) {
  const Record record(bytes);
  Count(record, -1);
  ReleaseTexts(record);
  epochs_->Retire(
      [this, bytes] { arena_.Free(const_cast<uint8_t*>(bytes), Record(bytes).size()); });
}

uint64_t MemoryItems::BytesFor(size_t record_size) {
  return Arena::PieceBytes(record_size) + kBytesPerItem;
}

uint64_t MemoryItems::TableBytes() const {
  return map_.bytes() + records_.bytes() + layout().rows->bytes() + dictionary_.table_bytes();
}

uint64_t MemoryItems::used_bytes() const { return arena_.used_bytes() + TableBytes(); }

uint64_t MemoryItems::reserved_bytes() const { return arena_.reserved_bytes() + TableBytes(); }

bool MemoryItems::Check(const Found& found) const {
  const auto* bytes = reinterpret_cast<const char*>(found.record);
  return Record::Check({bytes, Record(found.record).size()}, layout().schema.types(), UINT32_MAX);
}

}  // namespace seendb::items
