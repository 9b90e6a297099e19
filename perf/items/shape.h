// perf/items/shape.h: items of the shape that a large recommender keeps: 200 fields of which each
// item has 20: 10 f32, 6 i64 and 4 texts of 12 bytes, out of 100,000 texts that all items share.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <malloc.h>

#include "seendb/item_store.h"

namespace seendb::perf {

inline constexpr size_t kReals = 100, kNumbers = 60, kTexts = 40;  // fields
inline constexpr size_t kReal = 10, kNumber = 6, kText = 4;        // that an item has
inline constexpr size_t kDistinctTexts = 100'000;

/// Items of a run: SEENDB_ITEMS, or half a million.
inline size_t ItemCount() {
  const char* text = std::getenv("SEENDB_ITEMS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 500'000;
}

inline std::vector<ItemField> ShapeFields() {
  std::vector<ItemField> fields;
  for (size_t i = 0; i < kReals; ++i)
    fields.push_back({"r" + std::to_string(i), ItemFieldType::kF32});
  for (size_t i = 0; i < kNumbers; ++i)
    fields.push_back({"n" + std::to_string(i), ItemFieldType::kI64});
  for (size_t i = 0; i < kTexts; ++i)
    fields.push_back({"t" + std::to_string(i), ItemFieldType::kText});
  return fields;
}

inline std::string IdOf(size_t item) { return "item" + std::to_string(10'000'000 + item); }

/// One item: numbers of fields, ascending, with their values.
struct ShapedItem {
  struct Real {
    size_t field;
    float value;
  };
  struct Number {
    size_t field;
    int64_t value;
  };
  struct Text {
    size_t field;
    std::string value;
  };
  std::vector<Real> reals;
  std::vector<Number> numbers;
  std::vector<Text> texts;

  /// The bytes of its values and its id as they were sent.
  static constexpr size_t kBytes = 4 * kReal + 8 * kNumber + 12 * kText + 12;
};

inline std::vector<size_t> SomeOf(size_t fields, size_t count, std::mt19937_64* random) {
  std::vector<size_t> chosen;
  while (chosen.size() < count) {
    const size_t field = (*random)() % fields;
    if (std::find(chosen.begin(), chosen.end(), field) == chosen.end()) chosen.push_back(field);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// The same item for the same number. Half of its i64 are times in ms, which take 8 bytes.
inline ShapedItem ShapeOf(size_t item) {
  std::mt19937_64 random(item + 1);
  ShapedItem made;
  for (const size_t field : SomeOf(kReals, kReal, &random)) {
    made.reals.push_back({field, static_cast<float>(random() % 1000) / 1000});
  }
  for (const size_t field : SomeOf(kNumbers, kNumber, &random)) {
    const bool is_time = field % 2 == 0;
    made.numbers.push_back(
        {kReals + field, is_time ? 1'700'000'000'000 + static_cast<int64_t>(random() >> 28)
                                 : static_cast<int64_t>(random() % 1'000'000)});
  }
  for (const size_t field : SomeOf(kTexts, kText, &random)) {
    char text[16];
    std::snprintf(text, sizeof(text), "text%08zu", static_cast<size_t>(random() % kDistinctTexts));
    made.texts.push_back({kReals + kNumbers + field, text});
  }
  return made;
}

inline ItemUpdate UpdateFor(const IdRef& id, const ShapedItem& item, uint64_t version,
                            const std::vector<ItemField>& fields) {
  ItemUpdate update;
  update.id = id;
  update.version = version;
  for (const auto& one : item.reals) update.set.push_back({fields[one.field].name, one.value});
  for (const auto& one : item.numbers) update.set.push_back({fields[one.field].name, one.value});
  for (const auto& one : item.texts) update.set.push_back({fields[one.field].name, one.value});
  return update;
}

/// Resident memory of this process, without what was freed.
inline uint64_t ResidentBytes() {
  malloc_trim(0);
  unsigned long all = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%lu %lu", &all, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return uint64_t{resident} * 4096;
}

}  // namespace seendb::perf
