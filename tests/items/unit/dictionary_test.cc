#include "items/dictionary.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

class ItemDictionary : public ::testing::Test {
 protected:
  uint32_t Use(std::string_view text) { return texts_.Use(1, text, Sharing::kAlways).value(); }

  Arena arena_;
  Epochs epochs_;
  Dictionary texts_{&arena_, &epochs_};
};

TEST_F(ItemDictionary, KeepsATextOnceForAsLongAsItIsUsed) {
  const uint32_t number = Use("author");
  EXPECT_EQ(Use("author"), number);
  EXPECT_NE(Use("other"), number);
  EXPECT_EQ(texts_.Text(number), "author");
  EXPECT_EQ(texts_.Find("author"), number);
  EXPECT_EQ(texts_.size(), 2u);
  texts_.Release(number);
  EXPECT_EQ(texts_.Find("author"), number);
  texts_.Release(number);
  EXPECT_FALSE(texts_.Find("author").has_value());
  EXPECT_EQ(texts_.size(), 1u);
}

TEST_F(ItemDictionary, GivesANumberAgainOnceNoReaderCanHoldIt) {
  const uint32_t number = Use("old");
  {
    const Epochs::Guard reader(epochs_);
    texts_.Release(number);
    epochs_.Collect();
    EXPECT_NE(Use("new"), number);
    EXPECT_EQ(texts_.Text(number), "old");  // the reader may still ask
  }
  epochs_.Collect();
  EXPECT_EQ(Use("newer"), number);
}

TEST_F(ItemDictionary, FindsAllTextsThroughGrowthAndRemoval) {
  std::vector<uint32_t> numbers;
  for (int i = 0; i < 20'000; ++i) numbers.push_back(Use("t" + std::to_string(i)));
  for (size_t i = 0; i < numbers.size(); i += 3) texts_.Release(numbers[i]);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto found = texts_.Find("t" + std::to_string(i));
    ASSERT_EQ(found.has_value(), i % 3 != 0) << i;
    if (found) {
      ASSERT_EQ(*found, numbers[i]);
    }
  }
}

TEST_F(ItemDictionary, LeavesTextsThatHardlyRepeatToTheRecords) {
  size_t shared = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (texts_.Use(1, "title " + std::to_string(i), Sharing::kIfItRepeats)) ++shared;
  }
  EXPECT_EQ(shared, 4095u);
  EXPECT_TRUE(texts_.Use(1, "title 1", Sharing::kIfItRepeats).has_value());  // it is there
  EXPECT_TRUE(texts_.Use(1, "new", Sharing::kAlways).has_value());
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(texts_.Use(2, "author " + std::to_string(i % 100), Sharing::kIfItRepeats));
  }
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
