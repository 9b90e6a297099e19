// The obvious ways to keep the same items: a std::unordered_map of structs of optionals,
// FlatBuffers in such a map (where Debian's libflatbuffers-dev is installed), and point reads of a
// RocksDB whose tables are in its cache. Five fields of random items, as store_bench.cc reads them.

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>

#include <benchmark/benchmark.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/table.h>
#if __has_include(<flatbuffers/flatbuffers.h>)
#include <flatbuffers/flatbuffers.h>
#define SEENDB_PERF_FLATBUFFERS
#endif

#include "items/shape.h"

namespace seendb::perf {
namespace {

constexpr size_t kFirstNumber = kReals, kFirstText = kReals + kNumbers;

std::vector<std::string> Asked() {
  std::mt19937_64 random(7);
  std::vector<std::string> ids(100'000);
  for (std::string& id : ids) id = IdOf(random() % ItemCount());
  return ids;
}

/// Runs `read(id)`, which gives the number of values found, over random ids; says what filling
/// took.
template <typename Read>
void Measure(benchmark::State& state, uint64_t bytes, const Read& read) {
  const auto ids = Asked();
  size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(read(ids[at]));
    at = (at + 1) % ids.size();
  }
  state.SetItemsProcessed(state.iterations());
  const double per_item = static_cast<double>(bytes) / static_cast<double>(ItemCount());
  state.counters["resident_bytes"] = per_item;
  state.counters["over_data"] = per_item / ShapedItem::kBytes;
}

struct OptionalsItem {
  std::array<std::optional<float>, kReals> reals;
  std::array<std::optional<int64_t>, kNumbers> numbers;
  std::array<std::optional<std::string>, kTexts> texts;
};

void StructsInMap(benchmark::State& state) {
  const uint64_t before = ResidentBytes();
  std::unordered_map<std::string, OptionalsItem> items;
  for (size_t i = 0; i < ItemCount(); ++i) {
    OptionalsItem& item = items[IdOf(i)];
    const ShapedItem shaped = ShapeOf(i);
    for (const auto& one : shaped.reals) item.reals[one.field] = one.value;
    for (const auto& one : shaped.numbers) item.numbers[one.field - kFirstNumber] = one.value;
    for (const auto& one : shaped.texts) item.texts[one.field - kFirstText] = one.value;
  }
  Measure(state, ResidentBytes() - before, [&](const std::string& id) {
    const OptionalsItem& item = items.find(id)->second;
    return int{item.reals[1].has_value()} + int{item.reals[2].has_value()} +
           int{item.numbers[1].has_value()} + int{item.numbers[2].has_value()} +
           int{item.texts[1].has_value()};
  });
}
BENCHMARK(StructsInMap);

#ifdef SEENDB_PERF_FLATBUFFERS
flatbuffers::voffset_t OffsetOf(size_t field) {
  return flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(field));
}

std::string FlatOf(const ShapedItem& item) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<flatbuffers::String>> texts;
  for (const auto& one : item.texts) texts.push_back(builder.CreateString(one.value));
  const auto table = builder.StartTable();
  for (const auto& one : item.reals) builder.AddElement<float>(OffsetOf(one.field), one.value);
  for (const auto& one : item.numbers) builder.AddElement<int64_t>(OffsetOf(one.field), one.value);
  for (size_t i = 0; i < texts.size(); ++i) {
    builder.AddOffset(OffsetOf(item.texts[i].field), texts[i]);
  }
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(table)));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

void FlatBuffersInMap(benchmark::State& state) {
  const uint64_t before = ResidentBytes();
  std::unordered_map<std::string, std::string> items;
  for (size_t i = 0; i < ItemCount(); ++i) items[IdOf(i)] = FlatOf(ShapeOf(i));
  Measure(state, ResidentBytes() - before, [&](const std::string& id) {
    const auto* item = flatbuffers::GetRoot<flatbuffers::Table>(items.find(id)->second.data());
    return int{item->CheckField(OffsetOf(1))} + int{item->CheckField(OffsetOf(2))} +
           int{item->CheckField(OffsetOf(kFirstNumber + 1))} +
           int{item->CheckField(OffsetOf(kFirstNumber + 2))} +
           int{item->CheckField(OffsetOf(kFirstText + 1))};
  });
}
BENCHMARK(FlatBuffersInMap);
#endif

/// A point read of a row; reading its fields would come on top.
void RocksDbPointReads(benchmark::State& state) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / "seendb-items-rocks").string();
  std::filesystem::remove_all(folder);
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(size_t{4} << 30);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* opened = nullptr;
  if (!rocksdb::DB::Open(options, folder, &opened).ok()) std::abort();
  const std::unique_ptr<rocksdb::DB> db(opened);
  const uint64_t before = ResidentBytes();
  for (size_t i = 0; i < ItemCount(); ++i) {
    const ShapedItem item = ShapeOf(i);
    std::string row;
    const auto put = [&row](const auto& value) {
      row.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    for (const auto& one : item.reals) put(static_cast<uint16_t>(one.field)), put(one.value);
    for (const auto& one : item.numbers) put(static_cast<uint16_t>(one.field)), put(one.value);
    for (const auto& one : item.texts) put(static_cast<uint16_t>(one.field)), row += one.value;
    if (!db->Put({}, IdOf(i), row).ok()) std::abort();
  }
  if (!db->CompactRange({}, nullptr, nullptr).ok()) std::abort();
  std::string row;
  for (size_t i = 0; i < ItemCount(); ++i) {  // into the cache
    if (!db->Get({}, IdOf(i), &row).ok()) std::abort();
  }
  Measure(state, ResidentBytes() - before,
          [&](const std::string& id) { return db->Get({}, id, &row).ok() ? 5 : 0; });
}
BENCHMARK(RocksDbPointReads);

}  // namespace
}  // namespace seendb::perf
