#include "merge/small_operators.h"

#include <deque>
#include <string>
#include <utility>

#include "format/counts_codec.h"
#include "format/history_codec.h"
#include "format/impressions_codec.h"
#include "format/marks_codec.h"
#include "format/own_set_codec.h"
#include "format/user_codec.h"
#include "merge/slice_view.h"

namespace seendb {
namespace {

constexpr char kExpiryFilterName[] = "seendb.expiry.v1";

// An operator whose full and partial merge are the same fold.
class FoldOperator : public rocksdb::MergeOperator {
 public:
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    OperandsMergedOnThisThread() += in.operand_list.size();
    std::deque<rocksdb::Slice> all(in.operand_list.begin(), in.operand_list.end());
    if (in.existing_value != nullptr) all.push_front(*in.existing_value);
    Fold(all, &out->new_value);
    return true;
  }

  bool PartialMergeMulti(const rocksdb::Slice&, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger*) const override {
    // Values of newer versions stay as they are for as long as they can.
    for (const rocksdb::Slice& operand : operands) {
      if (!NewerText(View(operand)).empty()) return false;
    }
    Fold(operands, new_value);
    return true;
  }

  bool PartialMerge(const rocksdb::Slice& key, const rocksdb::Slice& left,
                    const rocksdb::Slice& right, std::string* new_value,
                    rocksdb::Logger* logger) const override {
    return PartialMergeMulti(key, {left, right}, new_value, logger);
  }

 protected:
  virtual void Fold(const std::deque<rocksdb::Slice>& values, std::string* out) const = 0;
};

// The entries of all values, and the damage of those that can't be read. List: of impressions, or
// of counts; its entries borrow the bytes of the values.
template <typename List>
List EntriesOf(const std::deque<rocksdb::Slice>& values, Counters* counters) {
  List all, one;
  for (const rocksdb::Slice& value : values) {
    if (one.Parse(View(value))) {
      all.entries.insert(all.entries.end(), one.entries.begin(), one.entries.end());
      all.damage.Join(one.damage);
    } else {
      all.damage.Add(View(value));
      counters->damaged.fetch_add(1, std::memory_order_relaxed);
    }
  }
  return all;
}

class ImpressionsOperator final : public FoldOperator {
 public:
  explicit ImpressionsOperator(std::shared_ptr<const ImpressionRules> rules)
      : rules_(std::move(rules)) {}

  const char* Name() const override { return kImpressionsOperatorName; }

 protected:
  void Fold(const std::deque<rocksdb::Slice>& values, std::string* out) const override {
    ImpressionList all = EntriesOf<ImpressionList>(values, rules_->counters.get());
    if (!rules_->ids.load(std::memory_order_relaxed)) all.DropIds();
    all.DropBefore(rules_->forget_before_ms.load(std::memory_order_relaxed));
    all.Normalize(rules_->limit.load(std::memory_order_relaxed));
    all.Encode(out);
  }

 private:
  const std::shared_ptr<const ImpressionRules> rules_;
};

// Leaves out what is too old. Counts also lose events that are too old for their kind, unless the
// list is full: only a full list tells an answer that there may have been more.
struct AgeCut {
  int64_t before_ms = std::numeric_limits<int64_t>::min();
  CountedKindsPtr kinds = nullptr;

  void Cut(ImpressionList* list) const { list->DropBefore(before_ms); }
  void Cut(CountList* list) const {
    const bool full = list->entries.size() >= CountLimits{}.of_user;
    list->DropBefore(before_ms);
    if (kinds != nullptr && !full) list->DropOld(*kinds, before_ms + kCountedForMs);
  }
};

AgeCut CutOf(const ImpressionRules& rules) {
  return {rules.forget_before_ms.load(std::memory_order_relaxed)};
}
AgeCut CutOf(const CountRules& rules) {
  AgeCut cut{rules.forget_before_ms.load(std::memory_order_relaxed)};
  // Until maintenance has said when the present is, nothing is too old.
  if (cut.before_ms != std::numeric_limits<int64_t>::min()) cut.kinds = rules.kinds();
  return cut;
}

// List: of impressions, or of counts.
template <typename List>
class ExpiryFilter final : public rocksdb::CompactionFilter {
 public:
  explicit ExpiryFilter(AgeCut cut) : cut_(std::move(cut)) {}

  const char* Name() const override { return kExpiryFilterName; }

  Decision FilterV2(int, const rocksdb::Slice&, ValueType type, const rocksdb::Slice& existing,
                    std::string* new_value, std::string*) const override {
    List list;
    if (type != ValueType::kValue || !list.Parse(View(existing)) || !list.damage.empty()) {
      return Decision::kKeep;  // damaged values stay as they are; reads and Verify report them
    }
    const size_t before = list.entries.size();
    cut_.Cut(&list);
    if (list.entries.empty()) return Decision::kRemove;
    if (list.entries.size() == before) return Decision::kKeep;
    list.Encode(new_value);
    return Decision::kChangeValue;
  }

 private:
  const AgeCut cut_;
};

template <typename List, typename Rules>
class ExpiryFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit ExpiryFilterFactory(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return kExpiryFilterName; }

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    AgeCut cut = CutOf(*rules_);
    if (cut.before_ms == std::numeric_limits<int64_t>::min()) return nullptr;
    return std::make_unique<ExpiryFilter<List>>(std::move(cut));
  }

 private:
  const std::shared_ptr<const Rules> rules_;
};

class CountsOperator final : public FoldOperator {
 public:
  explicit CountsOperator(std::shared_ptr<const CountRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return kCountsOperatorName; }

 protected:
  void Fold(const std::deque<rocksdb::Slice>& values, std::string* out) const override {
    CountList all = EntriesOf<CountList>(values, rules_->counters.get());
    all.Normalize();
    CutOf(*rules_).Cut(&all);
    all.Encode(out);
  }

 private:
  const std::shared_ptr<const CountRules> rules_;
};

class HistoryOperator final : public FoldOperator {
 public:
  explicit HistoryOperator(std::shared_ptr<Counters> counters) : counters_(std::move(counters)) {}

  const char* Name() const override { return kHistoryOperatorName; }

 protected:
  void Fold(const std::deque<rocksdb::Slice>& values, std::string* out) const override {
    HistoryValue all, one;
    for (const rocksdb::Slice& value : values) {
      if (one.Parse(View(value))) {
        all.state.Join(one.state);
        all.damaged = all.damaged || one.damaged;
        for (const std::string& newer : one.newer) InsertOnce(&all.newer, newer);
        continue;
      }
      counters_->damaged.fetch_add(1, std::memory_order_relaxed);
      if (NewerText(View(value)).empty()) {
        all.damaged = true;
      } else {
        InsertOnce(&all.newer, View(value));
      }
    }
    all.Encode(out);
  }

 private:
  const std::shared_ptr<Counters> counters_;
};

class UsersOperator final : public FoldOperator {
 public:
  explicit UsersOperator(std::shared_ptr<Counters> counters) : counters_(std::move(counters)) {}

  const char* Name() const override { return kUsersOperatorName; }

 protected:
  void Fold(const std::deque<rocksdb::Slice>& values, std::string* out) const override {
    UserRecord all, one;
    for (const rocksdb::Slice& value : values) {
      if (one.Parse(View(value))) {
        all.Join(one);
      } else {
        all.JoinUnread(View(value));
        counters_->damaged.fetch_add(1, std::memory_order_relaxed);
      }
    }
    all.Encode(out);
  }

 private:
  const std::shared_ptr<Counters> counters_;
};

// Rows of sets have keys of their own, by which they are told: of damaged bytes nothing is known.
class OwnOperator final : public FoldOperator {
 public:
  explicit OwnOperator(std::shared_ptr<Counters> counters) : counters_(std::move(counters)) {}

  const char* Name() const override { return kOwnOperatorName; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (!IsOwnSetKey(View(in.key))) return FoldOperator::FullMergeV2(in, out);
    OperandsMergedOnThisThread() += in.operand_list.size();
    OwnSetUnion all;
    if (in.existing_value != nullptr) AddSet(*in.existing_value, &all);
    for (const rocksdb::Slice& operand : in.operand_list) AddSet(operand, &all);
    all.Encode(&out->new_value);
    return true;
  }

  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger* logger) const override {
    if (!IsOwnSetKey(View(key))) {
      return FoldOperator::PartialMergeMulti(key, operands, new_value, logger);
    }
    OwnSetUnion all;
    for (const rocksdb::Slice& operand : operands) {
      if (!NewerText(View(operand)).empty()) return false;
      AddSet(operand, &all);
    }
    all.Encode(new_value);
    return true;
  }

 protected:
  void Fold(const std::deque<rocksdb::Slice>& values, std::string* out) const override {
    MarkList all, one;
    for (const rocksdb::Slice& value : values) {
      if (one.Parse(View(value))) {
        all.Add(one);
      } else {
        all.damage.Add(View(value));
        counters_->damaged.fetch_add(1, std::memory_order_relaxed);
      }
    }
    all.Normalize();
    all.Encode(out);
  }

 private:
  void AddSet(const rocksdb::Slice& value, OwnSetUnion* all) const {
    if (!all->Add(View(value))) counters_->damaged.fetch_add(1, std::memory_order_relaxed);
  }

  const std::shared_ptr<Counters> counters_;
};

// Whole values alone: without the operand that counts, an older one would.
class EndedSetsFilter final : public rocksdb::CompactionFilter {
 public:
  explicit EndedSetsFilter(int64_t ended_by_ms) : ended_by_ms_(ended_by_ms) {}

  const char* Name() const override { return kExpiryFilterName; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType type, const rocksdb::Slice& existing,
                    std::string*, std::string*) const override {
    StoredOwnSet set;
    const bool ended = type == ValueType::kValue && IsOwnSetKey(View(key)) &&
                       set.Parse(View(existing)) && set.damage.empty() && set.said &&
                       set.ends_ms() <= ended_by_ms_;
    return ended ? Decision::kRemove : Decision::kKeep;
  }

 private:
  const int64_t ended_by_ms_;
};

class EndedSetsFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit EndedSetsFilterFactory(std::shared_ptr<const OwnRules> rules)
      : rules_(std::move(rules)) {}

  const char* Name() const override { return kExpiryFilterName; }

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    const int64_t by_ms = rules_->ended_by_ms.load(std::memory_order_relaxed);
    if (by_ms == std::numeric_limits<int64_t>::min()) return nullptr;
    return std::make_unique<EndedSetsFilter>(by_ms);
  }

 private:
  const std::shared_ptr<const OwnRules> rules_;
};

}  // namespace

void CountRules::SetKinds(const std::vector<CountedKind>& kinds) {
  const MutexLock lock(mutex_);
  kinds_ = kinds.empty() ? nullptr : std::make_shared<const std::vector<CountedKind>>(kinds);
  any_ = kinds_ != nullptr;
}

CountedKindsPtr CountRules::kinds() const {
  if (!any_) return nullptr;
  const MutexLock lock(mutex_);
  return kinds_;
}

void SetImpressionRules(const Policy& policy, ImpressionRules* rules) {
  rules->limit = policy.impressions;
  rules->ids = policy.impression_ids;
}

void SetExposureRules(const Policy& policy, ImpressionRules* rules) {
  rules->limit = policy.exposures.recent;
  rules->ids = false;
  rules->forget_before_ms = std::numeric_limits<int64_t>::min();
}

std::shared_ptr<rocksdb::CompactionFilterFactory> NewExpiryFilterFactory(
    std::shared_ptr<const ImpressionRules> rules) {
  return std::make_shared<ExpiryFilterFactory<ImpressionList, ImpressionRules>>(std::move(rules));
}

std::shared_ptr<rocksdb::CompactionFilterFactory> NewExpiryFilterFactory(
    std::shared_ptr<const CountRules> rules) {
  return std::make_shared<ExpiryFilterFactory<CountList, CountRules>>(std::move(rules));
}

std::shared_ptr<rocksdb::CompactionFilterFactory> NewExpiryFilterFactory(
    std::shared_ptr<const OwnRules> rules) {
  return std::make_shared<EndedSetsFilterFactory>(std::move(rules));
}

std::shared_ptr<rocksdb::MergeOperator> NewCountsOperator(std::shared_ptr<const CountRules> rules) {
  return std::make_shared<CountsOperator>(std::move(rules));
}

std::shared_ptr<rocksdb::MergeOperator> NewImpressionsOperator(
    std::shared_ptr<const ImpressionRules> rules) {
  return std::make_shared<ImpressionsOperator>(std::move(rules));
}

std::shared_ptr<rocksdb::MergeOperator> NewHistoryOperator(std::shared_ptr<Counters> counters) {
  return std::make_shared<HistoryOperator>(std::move(counters));
}

std::shared_ptr<rocksdb::MergeOperator> NewUsersOperator(std::shared_ptr<Counters> counters) {
  return std::make_shared<UsersOperator>(std::move(counters));
}

std::shared_ptr<rocksdb::MergeOperator> NewOwnOperator(std::shared_ptr<Counters> counters) {
  return std::make_shared<OwnOperator>(std::move(counters));
}

}  // namespace seendb
