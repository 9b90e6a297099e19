#include "items/item_operator.h"

#include <deque>
#include <string>
#include <utility>

#include "items/row_codec.h"

namespace seendb::items {
namespace {

class ItemOperator final : public rocksdb::MergeOperator {
 public:
  explicit ItemOperator(std::shared_ptr<std::atomic<uint64_t>> damaged)
      : damaged_(std::move(damaged)) {}

  const char* Name() const override { return kItemOperatorName; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    State all;
    if (in.existing_value != nullptr) Take(*in.existing_value, &all);
    for (const rocksdb::Slice& operand : in.operand_list) Take(operand, &all);
    out->new_value.clear();
    EncodeRow(all, &out->new_value);
    return true;
  }

  bool PartialMergeMulti(const rocksdb::Slice&, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger*) const override {
    State all;
    for (const rocksdb::Slice& operand : operands) Take(operand, &all);
    new_value->clear();
    EncodeRow(all, new_value);
    return true;
  }

  bool PartialMerge(const rocksdb::Slice& key, const rocksdb::Slice& left,
                    const rocksdb::Slice& right, std::string* new_value,
                    rocksdb::Logger* logger) const override {
    return PartialMergeMulti(key, {left, right}, new_value, logger);
  }

 private:
  /// Joins a row, whose bytes outlive the merge.
  void Take(const rocksdb::Slice& row, State* all) const {
    State one;
    if (!ParseRow({row.data(), row.size()}, &one)) {
      damaged_->fetch_add(1, std::memory_order_relaxed);
      one.Clear();
      one.lost = true;
    }
    all->Join(one);
  }

  const std::shared_ptr<std::atomic<uint64_t>> damaged_;
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> NewItemOperator(
    std::shared_ptr<std::atomic<uint64_t>> damaged) {
  return std::make_shared<ItemOperator>(std::move(damaged));
}

}  // namespace seendb::items
