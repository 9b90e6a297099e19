#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "filter/keyed_hash.h"
#include "shard/user_directory.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

uint64_t HashOf(uint64_t user) { return KeyedHash("user-" + std::to_string(user)); }

TEST(UserDirectoryTest, NobodyIsInAnEmptyOne) {
  const UserDirectory directory;
  EXPECT_TRUE(directory.empty());
  EXPECT_EQ(directory.bytes(), 0u);
  EXPECT_FALSE(directory.MayHave(HashOf(1)));
}

TEST(UserDirectoryTest, HasTwoBytesPerUserAndFewFalseAnswers) {
  constexpr uint64_t kUsers = 200'000;
  UserDirectory directory;
  directory.Reserve(kUsers);
  for (uint64_t i = 0; i < kUsers; ++i) directory.Add(HashOf(i));
  EXPECT_LE(directory.bytes(), 2 * kUsers + 4'096);
  for (uint64_t i = 0; i < kUsers; ++i) ASSERT_TRUE(directory.MayHave(HashOf(i))) << i;
  uint64_t false_answers = 0;
  for (uint64_t i = kUsers; i < 2 * kUsers; ++i) false_answers += directory.MayHave(HashOf(i));
  EXPECT_LT(false_answers, kUsers / 250) << "about one in a thousand";
}

TEST(UserDirectoryTest, GrowsByFiltersOfDoubleTheSize) {
  constexpr uint64_t kUsers = 100'000;
  UserDirectory directory;
  for (uint64_t i = 0; i < kUsers; ++i) {
    directory.Add(HashOf(i));
    ASSERT_TRUE(directory.MayHave(HashOf(i))) << i;
  }
  for (uint64_t i = 0; i < kUsers; ++i) ASSERT_TRUE(directory.MayHave(HashOf(i))) << i;
  EXPECT_EQ(directory.filters(), 6u) << "2,048 and twice as many each time";
  EXPECT_LE(directory.bytes(), 2 * 2 * kUsers);
  uint64_t false_answers = 0;
  for (uint64_t i = kUsers; i < 2 * kUsers; ++i) false_answers += directory.MayHave(HashOf(i));
  EXPECT_LT(false_answers, kUsers / 50);
}

TEST(UserDirectoryTest, AUserThatIsThereTakesNoRoom) {
  UserDirectory directory;
  for (int i = 0; i < 100'000; ++i) directory.Add(HashOf(7));
  EXPECT_EQ(directory.filters(), 1u);
}

TEST(UserDirectoryTest, ThreadsThatAddAtOnceLoseNobody) {
  constexpr uint64_t kThreads = 4, kUsers = 20'000;
  UserDirectory directory;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&directory, t] {
      for (uint64_t i = 0; i < kUsers; ++i) {
        directory.Add(HashOf(t * kUsers + i));
        if (!directory.MayHave(HashOf(t * kUsers + i / 2))) ADD_FAILURE() << t << " " << i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t i = 0; i < kThreads * kUsers; ++i) ASSERT_TRUE(directory.MayHave(HashOf(i))) << i;
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
