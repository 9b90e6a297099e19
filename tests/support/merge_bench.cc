#include "support/merge_bench.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "filter/block_bloom.h"
#include "filter/probe_set.h"
#include "format/filter_codec.h"

namespace seendb {
namespace {

// A number below `end`.
size_t Below(Random& random, size_t end) {
  return std::uniform_int_distribution<size_t>(0, end - 1)(random);
}

std::vector<rocksdb::Slice> Slices(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

Fingerprints RandomFingerprints(Random& random, size_t count) {
  Fingerprints items;
  while (items.size() < count) {
    while (items.size() < count) items.push_back(random() & kFingerprintMask);
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
  }
  return items;
}

size_t CountSeen(const std::string& value, std::span<const Fingerprint> items) {
  FilterView view;
  if (!view.Parse(value)) {
    ADD_FAILURE() << "the filter's bytes are damaged";
    return 0;
  }
  std::vector<uint8_t> seen(items.size(), 0);
  std::vector<uint8_t> hits(items.size(), 0);
  ProbeScratch scratch;
  const auto take = [&] {
    for (size_t i = 0; i < hits.size(); ++i) seen[i] = seen[i] | hits[i];
  };
  const auto list = [&](const uint8_t* packed, size_t count) {
    if (count == 0) return;
    ProbeSortedList(packed, count, items.data(), items.size(), hits.data(), &scratch);
    take();
  };
  list(view.list, view.list_count);
  for (uint32_t i = 0; i < view.layer_count; ++i) {
    const LayerView& layer = view.layers[i];
    if (layer.blocks == 0) {
      list(layer.bits, layer.items);
      continue;
    }
    ProbeMany(layer.bits, layer.blocks, items.data(), items.size(), hits.data());
    take();
  }
  return static_cast<size_t>(std::count(seen.begin(), seen.end(), 1));
}

SeenFilter Decode(const std::string& value) {
  FilterView view;
  EXPECT_TRUE(view.Parse(value)) << "the filter's bytes are damaged";
  return view.ToFilter();
}

MergeBench::MergeBench(const FilterRules& rules) : rules_(std::make_shared<SeenRules>()) {
  rules_->counters = std::make_shared<Counters>();
  rules_->bytes_max = rules.bytes_max;
  rules_->Bind(rules);
  operator_ = NewSeenOperator(rules_);
  seal_ = NewSealFilterFactory(rules_);
}

std::string MergeBench::Delta(int64_t as_of_ms, Fingerprints items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  std::string bytes;
  EncodeDelta(as_of_ms, items, &bytes);
  return bytes;
}

std::string MergeBench::Full(const std::string* base, const std::vector<std::string>& operands) {
  const rocksdb::Slice existing(base == nullptr ? std::string_view() : std::string_view(*base));
  const std::vector<rocksdb::Slice> list = Slices(operands);
  std::string value = "left over from another key";
  rocksdb::Slice operand(nullptr, 0);
  const rocksdb::Slice key("user");
  rocksdb::MergeOperator::MergeOperationInput in(key, base == nullptr ? nullptr : &existing, list,
                                                 nullptr);
  rocksdb::MergeOperator::MergeOperationOutput out(value, operand);
  EXPECT_TRUE(operator_->FullMergeV2(in, &out));
  EXPECT_EQ(operand.data(), nullptr) << "the value is in new_value";
  FilterView view;
  EXPECT_TRUE(view.Parse(value));
  return value;
}

std::optional<std::string> MergeBench::Partial(const std::vector<std::string>& operands) {
  const std::vector<rocksdb::Slice> list = Slices(operands);
  std::string value = "left over from another key";
  if (!operator_->PartialMergeMulti("user", {list.begin(), list.end()}, &value, nullptr)) {
    return {};
  }
  FilterView view;
  EXPECT_TRUE(view.Parse(value));
  return value;
}

std::string MergeBench::FullSealing(const std::string* base,
                                    const std::vector<std::string>& operands) {
  rules_->sealing = true;
  std::string value = Full(base, operands);
  rules_->sealing = false;
  return value;
}

std::string MergeBench::SealWhole(const std::string& value) {
  rules_->sealing = true;
  const std::unique_ptr<rocksdb::CompactionFilter> filter = seal_->CreateCompactionFilter({});
  std::string sealed = "left over from another key";
  const auto decision = filter->FilterV2(0, "user", rocksdb::CompactionFilter::ValueType::kValue,
                                         value, &sealed, nullptr);
  rules_->sealing = false;
  if (decision == rocksdb::CompactionFilter::Decision::kKeep) return value;
  EXPECT_EQ(decision, rocksdb::CompactionFilter::Decision::kChangeValue);
  return sealed;
}

std::string MergeBench::MergeRandomly(Random& random, std::vector<std::string> operands,
                                      const Freedom& freedom) {
  if (freedom.shuffle) std::shuffle(operands.begin(), operands.end(), random);
  std::vector<std::string> delivered = operands;
  std::optional<std::string> base;
  size_t again = freedom.again ? operands.size() / 2 : 0;
  while (!operands.empty() || !base) {
    const size_t choice = Below(random, 8);
    if (choice < 3 && operands.size() > 1) {
      const size_t begin = Below(random, operands.size() - 1);
      const size_t end = begin + 2 + Below(random, operands.size() - begin - 1);
      const auto first = operands.begin() + static_cast<int64_t>(begin);
      const auto last = operands.begin() + static_cast<int64_t>(end);
      std::optional<std::string> merged = Partial({first, last});
      if (!merged) continue;
      delivered.push_back(*merged);
      operands.erase(first + 1, last);
      operands[begin] = std::move(*merged);
    } else if (choice < 5 && again > 0) {
      --again;
      const auto at = operands.begin() + static_cast<int64_t>(Below(random, operands.size() + 1));
      operands.insert(at, delivered[Below(random, delivered.size())]);
    } else if (choice == 5 && freedom.seal && base) {
      base = Below(random, 2) == 0 ? SealWhole(*base) : FullSealing(&*base, {});
    } else {
      const size_t count = operands.empty() ? 0 : 1 + Below(random, operands.size());
      const auto end = operands.begin() + static_cast<int64_t>(count);
      const bool seal = freedom.seal && Below(random, 4) == 0;
      const std::vector<std::string> taken(operands.begin(), end);
      const std::string* existing = base ? &*base : nullptr;
      base = seal ? FullSealing(existing, taken) : Full(existing, taken);
      operands.erase(operands.begin(), end);
    }
  }
  return *base;
}

}  // namespace seendb
