// The order in which a thread takes locks, as debug builds check it.

#include "base/lock_ranks.h"

#include <memory>

#include <gtest/gtest.h>

#include "base/sync.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(LockRankTest, LocksAreTakenInTheOrderOfTheirRanksAndGivenBackInAny) {
  Mutex policies(LockRank::kPolicies), leaf(LockRank::kLeaf);
  SharedLock shard(LockRank::kShard, 3), apply(LockRank::kApply, 3);
  ReadWriteMutex slots(LockRank::kSlots);
  const MutexLock first(policies);
  auto inside = std::make_unique<SharedLock::Shared>(shard);
  const SharedLock::Exclusive alone(apply);
  const ReaderLock reader(slots);
  inside.reset();
  const MutexLock last(leaf);
  policies.AssertHeld();
  apply.AssertHeld();
  apply.AssertHeldShared();
  slots.AssertHeldShared();
}

TEST(LockRankTest, ADiskIsWaitedForOnlyWhereNobodyWaitsForMemory) {
  EXPECT_TRUE(MayBlockInside(LockRank::kShard, true));
  EXPECT_TRUE(MayBlockInside(LockRank::kApply, false));
  EXPECT_FALSE(MayBlockInside(LockRank::kApply, true));
  EXPECT_TRUE(MayBlockInside(LockRank::kFamilies, true));
  EXPECT_TRUE(MayBlockInside(LockRank::kSyncNote, true));
  for (const LockRank memory : {LockRank::kLogSync, LockRank::kSlots, LockRank::kStripe,
                                LockRank::kFamilySet, LockRank::kLeaf, LockRank::kInner}) {
    EXPECT_FALSE(MayBlockInside(memory, true));
  }
  SharedLock apply(LockRank::kApply);
  const SharedLock::Shared inside(apply);
  AssertMayBlock();
}

#ifdef NDEBUG

TEST(LockRankTest, ReleaseBuildsKeepNoRanks) {
  EXPECT_EQ(sizeof(Mutex), sizeof(std::mutex));
  EXPECT_EQ(sizeof(ReadWriteMutex), sizeof(std::shared_mutex));
}

#else

class LockRankDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LockRankDeathTest, ALockOfALowerRankEndsTheProcess) {
  Mutex leaf(LockRank::kLeaf), families(LockRank::kFamilies);
  const MutexLock held(leaf);
  EXPECT_DEATH(const MutexLock wrong(families), "lock order: .* rank");
}

// Clang refuses these too, unless they are apart from what is held.
void Enter(SharedLock& lock) { const SharedLock::Shared inside(lock); }
void EnterAlone(SharedLock& lock) { const SharedLock::Exclusive alone(lock); }

TEST_F(LockRankDeathTest, ALockThatIsHeldEndsTheProcess) {
  SharedLock shard(LockRank::kShard, 1);
  const SharedLock::Shared inside(shard);
  EXPECT_DEATH(Enter(shard), "lock order");
  EXPECT_DEATH(EnterAlone(shard), "lock order");
}

TEST_F(LockRankDeathTest, LocksOfTwoShardsEndTheProcess) {
  SharedLock shard(LockRank::kShard, 1), apply(LockRank::kApply, 2), same(LockRank::kApply, 1);
  const SharedLock::Shared inside(shard);
  Enter(same);
  EXPECT_DEATH(Enter(apply), "lock order");
}

TEST_F(LockRankDeathTest, TwoLocksOfOneRankEndTheProcess) {
  ReadWriteMutex one(LockRank::kLeaf), two(LockRank::kLeaf);
  const ReaderLock held(one);
  EXPECT_DEATH(const ReaderLock wrong(two), "lock order");
}

// Clang would refuse this: it sees that nothing is held.
void RelyOn(const Mutex& mutex) { mutex.AssertHeld(); }
void RelyOnAlone(const SharedLock& lock) { lock.AssertHeld(); }

TEST_F(LockRankDeathTest, ALockThatIsReliedOnAndNotHeldEndsTheProcess) {
  Mutex mutex(LockRank::kLeaf);
  EXPECT_DEATH(RelyOn(mutex), "does not hold");
  SharedLock apply(LockRank::kApply);
  const SharedLock::Shared inside(apply);
  EXPECT_DEATH(RelyOnAlone(apply), "does not hold") << "shared is not enough";
}

TEST_F(LockRankDeathTest, AWaitForTheDiskInAnExclusiveSectionEndsTheProcess) {
  SharedLock apply(LockRank::kApply);
  const SharedLock::Exclusive alone(apply);
  EXPECT_DEATH(AssertMayBlock(), "may wait for a disk");
}

#endif

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
