// Arbitrary operands, and maybe an arbitrary base, through the merge operator of seen filters: the
// merge never fails, its result reads, keeps every item of sound operands, and partial merges in
// between change no item. The input is a list of values, each behind a byte of length.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/filter_codec.h"
#include "fuzz/sealed_input.h"
#include "merge/seen_operator.h"

namespace {

using seendb::DamageSet;
using seendb::FilterView;
using seendb::Fingerprint;

std::shared_ptr<rocksdb::MergeOperator> Operator(bool exact) {
  auto rules = std::make_shared<seendb::SeenRules>();
  rules->counters = std::make_shared<seendb::Counters>();
  rules->bytes_max = 1 << 20;  // no input reaches it
  seendb::FilterRules fixed;
  fixed.list_limit = 16;
  fixed.end_ms = 1'000'000;
  fixed.exact = exact;
  rules->Bind(fixed);
  return seendb::NewSeenOperator(rules);
}

std::string FullMerge(const rocksdb::MergeOperator& merge, const std::string* base,
                      const std::vector<std::string>& operands) {
  const rocksdb::Slice key("u");
  rocksdb::Slice base_slice;
  if (base != nullptr) base_slice = *base;
  const std::vector<rocksdb::Slice> slices(operands.begin(), operands.end());
  const rocksdb::MergeOperator::MergeOperationInput in(key, base != nullptr ? &base_slice : nullptr,
                                                       slices, nullptr);
  std::string value = "stale";
  rocksdb::Slice existing_operand;
  rocksdb::MergeOperator::MergeOperationOutput out(value, existing_operand);
  if (!merge.FullMergeV2(in, &out)) std::abort();
  return value;
}

// The exact items of a sound value; false for a damaged one.
bool ItemsOf(const std::string& value, std::vector<Fingerprint>* items) {
  FilterView view;
  DamageSet damage;
  if (!view.Parse(value) || !view.ListIsSorted()) return false;
  if (!view.damage.empty() && !DamageSet::Read(view.damage, &damage)) return false;
  view.AppendListTo(items);
  return true;
}

void CheckContains(const std::string& value, const std::vector<Fingerprint>& items) {
  FilterView view;
  if (!view.Parse(value) || !view.ListIsSorted()) std::abort();
  const seendb::SeenFilter filter = view.ToFilter();
  if (filter.dropped_layers > 0) return;
  for (const Fingerprint fp : items) {
    if (!filter.Contains(fp)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto bloom = Operator(false);
  static const auto exact = Operator(true);
  if (size < 2) return 0;
  const auto& merge = (data[0] & 1) != 0 ? *exact : *bloom;
  const bool has_base = (data[0] & 2) != 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string> values;
  while (!rest.empty() && values.size() < 8) {
    const size_t length = std::min<size_t>(static_cast<uint8_t>(rest[0]) * 2U, rest.size() - 1);
    values.push_back(seendb::fuzz::ValueOf(rest.substr(1, length), seendb::Tag::kFilter));
    rest.remove_prefix(1 + length);
  }
  std::vector<Fingerprint> items;
  for (const std::string& value : values) ItemsOf(value, &items);
  std::string base;
  if (has_base && !values.empty()) {
    base = values.front();
    values.erase(values.begin());
  }
  CheckContains(FullMerge(merge, has_base ? &base : nullptr, values), items);

  if (values.size() < 2) return 0;
  const std::deque<rocksdb::Slice> run(values.begin(), values.end());
  std::string partial = "stale";
  if (!merge.PartialMergeMulti("u", run, &partial, nullptr)) return 0;
  CheckContains(FullMerge(merge, has_base ? &base : nullptr, {partial}), items);
  return 0;
}
