// The merge operator on rows that can't be read. For others see property/join_test.cc.

#include "items/item_operator.h"

#include <gtest/gtest.h>

#include "items/item_testing.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

TEST(ItemOperator, KeepsWhatCanBeReadAndSaysThatSomethingIsLost) {
  const auto damaged = std::make_shared<std::atomic<uint64_t>>(0);
  const auto merge = NewItemOperator(damaged);
  const rocksdb::Slice noise("noise");
  const std::string row = RowOf(UpdateOf(7, {SetCell(1, 7, I64Of(1))}));
  const std::vector<rocksdb::Slice> operands = {row};
  std::string merged;
  rocksdb::Slice existing;
  rocksdb::MergeOperator::MergeOperationOutput out(merged, existing);
  const rocksdb::Slice key("v1");
  const rocksdb::MergeOperator::MergeOperationInput in(key, &noise, operands, nullptr);
  ASSERT_TRUE(merge->FullMergeV2(in, &out));
  State state;
  ASSERT_TRUE(ParseRow(merged, &state));
  EXPECT_TRUE(state.lost);
  EXPECT_EQ(state.cells.size(), 1u);
  EXPECT_EQ(damaged->load(), 1u);
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
