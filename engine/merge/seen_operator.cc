#include "merge/seen_operator.h"

#include <algorithm>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "filter/sort.h"
#include "format/filter_codec.h"
#include "merge/slice_view.h"

namespace seendb {
namespace {

// The items and layers of several operands, collected before they are added to a filter.
struct Gathered {
  std::vector<Fingerprint> items;  // ascending and unique after Finish; before, run by run
  std::vector<size_t> run_ends;    // where each operand's run ends in `items`; each is ascending
  std::vector<Layer> dense;
  DamageSet damage;
  int64_t as_of_ms = 0;
  uint32_t dropped_layers = 0;  // of dense operands, beyond what a filter may have

  void Take(std::string_view operand, Counters& counters) {
    FilterView view;
    DamageSet carried;
    if (!view.Parse(operand) || !view.ListIsSorted() ||
        (!view.damage.empty() && !DamageSet::Read(view.damage, &carried))) {
      damage.Add(operand);
      counters.damaged.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    damage.Join(carried);
    as_of_ms = std::max(as_of_ms, view.as_of_ms);
    if (view.list_count > 0) {
      view.AppendListTo(&items);
      run_ends.push_back(items.size());
    }
    if (view.layer_count > 0) TakeLayers(view.ToFilter().layers);
  }

  // Dense layers of the same geometry are ORed; the order of arrival does not matter.
  void TakeLayers(std::vector<Layer> layers) {
    SeenFilter merged;
    merged.layers = std::move(dense);
    FilterRules unbounded;
    unbounded.bytes_max = UINT64_MAX;
    unbounded.exact = true;
    merged.AddLayers(std::move(layers), unbounded);
    dense = std::move(merged.layers);
    dropped_layers += merged.dropped_layers;
  }

  void Finish() {
    if (run_ends.size() > 1) SortUnique(&items);
  }

  // If the items exceed one layer, their runs are added oldest first, so that the ceiling drops the
  // oldest. Runs are grouped to fill whole layers: added singly, they would make many tiny layers.
  void AddTo(SeenFilter* filter, const FilterRules& rules, bool sealing) {
    if (SeenFilter::FitALayer(items.size(), rules)) {
      Finish();
      sealing ? filter->SealWith(items, rules) : filter->Add(items, rules);
      return;
    }
    std::vector<Fingerprint> group;
    size_t begin = 0;
    for (size_t end : run_ends) {
      if (!group.empty() && !SeenFilter::FitALayer(group.size() + (end - begin), rules)) {
        AddGroup(&group, filter, rules);
      }
      group.insert(group.end(), items.begin() + static_cast<int64_t>(begin),
                   items.begin() + static_cast<int64_t>(end));
      begin = end;
    }
    AddGroup(&group, filter, rules);
    if (sealing) filter->Seal(rules);
  }

  static void AddGroup(std::vector<Fingerprint>* group, SeenFilter* filter,
                       const FilterRules& rules) {
    SortUnique(group);
    filter->Add(*group, rules);
    group->clear();
  }
};

class SeenOperator final : public rocksdb::MergeOperator {
 public:
  explicit SeenOperator(std::shared_ptr<const SeenRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return kSeenOperatorName; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    Counters& counters = *rules_->counters;
    counters.merges_full.fetch_add(1, std::memory_order_relaxed);
    counters.merge_operands.fetch_add(in.operand_list.size(), std::memory_order_relaxed);
    OperandsMergedOnThisThread() += in.operand_list.size();
    out->new_value.clear();

    SeenFilter filter;
    DamageSet damage;
    if (in.existing_value != nullptr) ReadBase(View(*in.existing_value), &filter, &damage);
    Gathered gathered;
    for (const rocksdb::Slice& operand : in.operand_list) gathered.Take(View(operand), counters);
    damage.Join(gathered.damage);

    const FilterRules rules = rules_->Current();
    const size_t layers_before = filter.layers.size();
    const uint32_t dropped_before = filter.dropped_layers;
    if (!filter.sealed) filter.as_of_ms = std::max(filter.as_of_ms, gathered.as_of_ms);
    filter.dropped_layers += gathered.dropped_layers;
    filter.AddLayers(std::move(gathered.dense), rules);
    gathered.AddTo(&filter, rules, rules_->sealing.load(std::memory_order_relaxed));

    const uint32_t dropped = filter.dropped_layers - dropped_before;
    counters.layers_dropped.fetch_add(dropped, std::memory_order_relaxed);
    counters.layers_created.fetch_add(filter.layers.size() + dropped - layers_before,
                                      std::memory_order_relaxed);
    EncodeFilter(filter, damage, &out->new_value);
    return true;
  }

  bool PartialMergeMulti(const rocksdb::Slice&, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger*) const override {
    new_value->clear();
    Gathered gathered;
    for (const rocksdb::Slice& operand : operands) {
      gathered.Take(View(operand), *rules_->counters);
      const bool keep = gathered.dense.size() > kMaxLayers / 2 || gathered.dropped_layers > 0 ||
                        !gathered.damage.newer.empty();
      if (keep) return false;  // operands stay as they are
    }
    if (!SeenFilter::FitALayer(gathered.items.size(), rules_->Current())) return false;
    gathered.Finish();
    rules_->counters->merges_partial.fetch_add(1, std::memory_order_relaxed);
    SeenFilter delta;
    delta.as_of_ms = gathered.as_of_ms;
    delta.layers = std::move(gathered.dense);
    delta.list = std::move(gathered.items);
    EncodeFilter(delta, gathered.damage, new_value);
    return true;
  }

  bool PartialMerge(const rocksdb::Slice& key, const rocksdb::Slice& left,
                    const rocksdb::Slice& right, std::string* new_value,
                    rocksdb::Logger* logger) const override {
    return PartialMergeMulti(key, {left, right}, new_value, logger);
  }

 private:
  void ReadBase(std::string_view value, SeenFilter* filter, DamageSet* damage) const {
    FilterView view;
    if (!view.Parse(value) || !view.ListIsSorted() ||
        (!view.damage.empty() && !DamageSet::Read(view.damage, damage))) {
      damage->Add(value);
      rules_->counters->damaged.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    *filter = view.ToFilter();
  }

  const std::shared_ptr<const SeenRules> rules_;
};

class SealFilter final : public rocksdb::CompactionFilter {
 public:
  explicit SealFilter(std::shared_ptr<const SeenRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return "seendb.seal.v1"; }

  Decision FilterV2(int, const rocksdb::Slice&, ValueType type, const rocksdb::Slice& existing,
                    std::string* new_value, std::string*) const override {
    if (type != ValueType::kValue || !rules_->sealing.load(std::memory_order_relaxed)) {
      return Decision::kKeep;
    }
    FilterView view;
    DamageSet damage;
    // Damaged values stay as they are; reads and Verify report them.
    if (!view.Parse(View(existing)) || !view.ListIsSorted()) return Decision::kKeep;
    if (!view.damage.empty() && !DamageSet::Read(view.damage, &damage)) return Decision::kKeep;
    SeenFilter filter = view.ToFilter();
    const FilterRules rules = rules_->Current();
    if (!filter.WantsSeal(rules)) return Decision::kKeep;
    filter.Seal(rules);
    EncodeFilter(filter, damage, new_value);
    return Decision::kChangeValue;
  }

 private:
  const std::shared_ptr<const SeenRules> rules_;
};

class SealFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit SealFilterFactory(std::shared_ptr<const SeenRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return "seendb.seal.v1"; }

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    if (!rules_->sealing.load(std::memory_order_relaxed)) return nullptr;
    return std::make_unique<SealFilter>(rules_);
  }

 private:
  const std::shared_ptr<const SeenRules> rules_;
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> NewSeenOperator(std::shared_ptr<const SeenRules> rules) {
  return std::make_shared<SeenOperator>(std::move(rules));
}

std::shared_ptr<rocksdb::CompactionFilterFactory> NewSealFilterFactory(
    std::shared_ptr<const SeenRules> rules) {
  return std::make_shared<SealFilterFactory>(std::move(rules));
}

}  // namespace seendb
