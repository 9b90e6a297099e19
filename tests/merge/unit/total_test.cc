// The operators are total: whatever bytes they meet, they succeed, and what they can't read is set
// aside and counted. RocksDB turns read-only over an operator that fails in a flush.

#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include "format/history_codec.h"
#include "format/impressions_codec.h"
#include "format/user_codec.h"
#include "merge/seen_operator.h"
#include "merge/small_operators.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

struct Case {
  const char* name;
  std::function<std::shared_ptr<rocksdb::MergeOperator>(std::shared_ptr<Counters>)> make;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class TotalTest : public ::testing::TestWithParam<Case> {
 protected:
  TotalTest() : merge_(GetParam().make(counters_)) {}

  std::string Full(const std::string* base, const std::vector<rocksdb::Slice>& operands) {
    std::string value = "left over from another key";
    rocksdb::Slice existing(base == nullptr ? rocksdb::Slice() : rocksdb::Slice(*base));
    rocksdb::Slice operand(nullptr, 0);
    rocksdb::MergeOperator::MergeOperationOutput out(value, operand);
    const rocksdb::Slice key("user");
    const rocksdb::MergeOperator::MergeOperationInput in(key, base == nullptr ? nullptr : &existing,
                                                         operands, nullptr);
    EXPECT_TRUE(merge_->FullMergeV2(in, &out));
    return operand.data() == nullptr ? value : operand.ToString();
  }

  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  const std::shared_ptr<rocksdb::MergeOperator> merge_;
};

TEST_P(TotalTest, NoiseIsSetAsideAndCounted) {
  const std::string noise = "this is no value of any operator";
  const std::string merged = Full(nullptr, {noise});
  EXPECT_GE(counters_->damaged, 1U);
  EXPECT_EQ(merged.find("left over"), std::string::npos);
  // What was set aside once is not set aside again, however often it is delivered.
  const std::string again = Full(&merged, {noise});
  EXPECT_EQ(again, merged);
}

TEST_P(TotalTest, EmptyBytesAreDamageAndNoFailure) {
  const std::string empty;
  const std::string merged = Full(&empty, {rocksdb::Slice()});
  EXPECT_GE(counters_->damaged, 1U);
  const std::string again = Full(&merged, {});
  EXPECT_EQ(again, merged);
}

TEST_P(TotalTest, APartialMergeOfNoiseKeepsIt) {
  std::string merged = "left over from another key";
  const bool done = merge_->PartialMergeMulti("user", {"noise one", "noise two"}, &merged, nullptr);
  const std::string once =
      done ? Full(nullptr, {merged}) : Full(nullptr, {"noise one", "noise two"});
  EXPECT_EQ(once, Full(nullptr, {"noise one", "noise two"}));
  EXPECT_GE(counters_->damaged, 1U);
}

std::shared_ptr<rocksdb::MergeOperator> Seen(std::shared_ptr<Counters> counters) {
  auto rules = std::make_shared<SeenRules>();
  rules->counters = std::move(counters);
  return NewSeenOperator(rules);
}

std::shared_ptr<rocksdb::MergeOperator> Impressions(std::shared_ptr<Counters> counters) {
  auto rules = std::make_shared<ImpressionRules>();
  rules->counters = std::move(counters);
  return NewImpressionsOperator(rules);
}

INSTANTIATE_TEST_SUITE_P(Each, TotalTest,
                         ::testing::Values(Case{"Seen", Seen}, Case{"Impressions", Impressions},
                                           Case{"History", NewHistoryOperator},
                                           Case{"Users", NewUsersOperator}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
