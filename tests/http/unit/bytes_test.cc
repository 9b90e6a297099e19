// The session's buffer: taken in front, grown behind, counted against the budget.

#include "http/bytes.h"

#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "http/message.h"
#include "support/seed.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

TEST(BytesTest, BehavesLikeAString) {
  std::mt19937_64 random(test::Seed());
  MemoryBudget budget(SIZE_MAX / 2);
  Bytes bytes(&budget);
  std::string model;
  for (int round = 0; round < 20'000; ++round) {
    switch (random() % 4) {
      case 0: {
        const std::string piece(random() % 300, static_cast<char>('a' + random() % 26));
        ASSERT_TRUE(bytes.Append(piece));
        model += piece;
        break;
      }
      case 1: {
        const size_t size = 1 + random() % 200;
        char* const at = bytes.Reserve(size);
        ASSERT_NE(at, nullptr);
        std::memset(at, 'z', size);
        bytes.Commit(size / 2);
        model.append(size / 2, 'z');
        break;
      }
      case 2: {
        const size_t count = model.empty() ? 0 : random() % (model.size() + 1);
        bytes.Consume(count);
        model.erase(0, count);
        break;
      }
      default:
        if (random() % 50 == 0) {
          bytes.Clear(random() % 2 == 0 ? 0 : 1'000);
          model.clear();
        }
        break;
    }
    ASSERT_EQ(bytes.view(), model);
    unsigned sum = 0;  // the padding may be read, whatever it holds
    for (size_t i = 0; i < kBodyPadding && bytes.view().data() != nullptr; ++i) {
      sum += static_cast<unsigned char>(bytes.view().data()[bytes.size() + i]);
    }
    ASSERT_LE(sum, 255u * kBodyPadding);
  }
  bytes.Clear(0);
  EXPECT_EQ(budget.used(), 0u);
}

TEST(BytesTest, StopsAtTheBudgetAndGivesItBack) {
  MemoryBudget budget(100'000);
  {
    Bytes first(&budget), second(&budget);
    EXPECT_TRUE(first.Append(std::string(60'000, 'x')));
    EXPECT_FALSE(second.Append(std::string(60'000, 'y')));
    EXPECT_TRUE(second.empty());
    EXPECT_TRUE(second.Append(std::string(30'000, 'y')));
    EXPECT_FALSE(first.Append(std::string(60'000, 'x')));
    EXPECT_EQ(first.size(), 60'000u);
    first.Clear(0);
    EXPECT_TRUE(second.Append(std::string(10'000, 'y')));
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(BytesTest, GivesASmallBufferWhateverTheBudgetSays) {
  MemoryBudget budget(100);
  {
    Bytes bytes(&budget);
    EXPECT_TRUE(bytes.Append(std::string(Bytes::kSmall, 'x')));
    EXPECT_GE(budget.used(), Bytes::kSmall);
    EXPECT_FALSE(bytes.Append("x"));
  }
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
