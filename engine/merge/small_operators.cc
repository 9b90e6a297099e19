#include "merge/small_operators.h"

#include <deque>
#include <string>
#include <utility>

#include "format/history_codec.h"
#include "format/impressions_codec.h"
#include "format/user_codec.h"
#include "merge/slice_view.h"

namespace seendb {
namespace {

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

class ImpressionsOperator final : public FoldOperator {
 public:
  explicit ImpressionsOperator(std::shared_ptr<const ImpressionRules> rules)
      : rules_(std::move(rules)) {}

  const char* Name() const override { return kImpressionsOperatorName; }

 protected:
  void Fold(const std::deque<rocksdb::Slice>& values, std::string* out) const override {
    ImpressionList all, one;
    for (const rocksdb::Slice& value : values) {
      if (one.Parse(View(value))) {
        all.entries.insert(all.entries.end(), one.entries.begin(), one.entries.end());
        all.damage.Join(one.damage);
      } else {
        all.damage.Add(View(value));
        rules_->counters->damaged.fetch_add(1, std::memory_order_relaxed);
      }
    }
    if (!rules_->ids.load(std::memory_order_relaxed)) all.DropIds();
    all.Normalize(rules_->limit.load(std::memory_order_relaxed));
    all.Encode(out);
  }

 private:
  const std::shared_ptr<const ImpressionRules> rules_;
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

}  // namespace

void SetImpressionRules(const Policy& policy, ImpressionRules* rules) {
  rules->limit = policy.impressions;
  rules->ids = policy.impression_ids;
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

}  // namespace seendb
