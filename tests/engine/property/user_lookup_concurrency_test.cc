// User records with a cache of a few records, against a map that has the truth.

#include <map>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "shard/user_lookup.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr size_t kUsers = 40;
constexpr uint64_t kFourRecords = 4 * 400;

std::string User(size_t user) { return "user" + std::to_string(user); }

// A family `users`: records are united, some of them not in memory.
class Truth {
 public:
  ReadUserRecord Reader() {
    return [this](std::string_view user, bool memory_only) -> Result<UserRecordPtr> {
      if (memory_only && KeyedHash(user) % 3 == 0) {
        return Status(StatusCode::kIncomplete, "not in memory");
      }
      const std::lock_guard lock(mutex_);
      ++reads_;
      const auto at = records_.find(std::string(user));
      if (at == records_.end()) return UserRecordPtr();
      return std::make_shared<const UserRecord>(at->second);
    };
  }
  void Merge(const std::string& user, const UserRecord& change) {
    const std::lock_guard lock(mutex_);
    records_[user].Join(change);
  }
  void Put(const std::string& user, const UserRecord& record) {
    const std::lock_guard lock(mutex_);
    records_[user] = record;
  }
  UserRecord Of(const std::string& user) {
    const std::lock_guard lock(mutex_);
    const auto at = records_.find(user);
    return at == records_.end() ? UserRecord() : at->second;
  }
  bool Has(const std::string& user) {
    const std::lock_guard lock(mutex_);
    return records_.contains(user);
  }
  uint64_t reads() {
    const std::lock_guard lock(mutex_);
    return reads_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, UserRecord> records_;
  uint64_t reads_ = 0;
};

class UserLookupModel : public testing::Test {
 protected:
  void Change(const std::string& user, const UserRecord& change) {
    records_.Announce(user);
    truth_.Merge(user, change);
    records_.Settle(user, change);
  }

  Truth truth_;
  Counters counters_;
  UserLookup records_{truth_.Reader(), kFourRecords, &counters_};
};

TEST_F(UserLookupModel, AnswersAsTheTruthDoesOneAfterTheOther) {
  const uint64_t seed = test::Seed();
  std::mt19937_64 random(seed);
  uint64_t seq = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::string user = User(random() % kUsers);
    const uint64_t what = random() % 10;
    if (what < 2) {
      UserRecord change;
      change.marks["video"].overrides[random() % 5] = {static_cast<int64_t>(++seq), seq, false};
      Change(user, change);
    } else if (what == 2) {
      UserRecord whole = truth_.Of(user);
      whole.marks.clear();
      records_.Announce(user);
      truth_.Put(user, whole);
      records_.Replace(user, whole);
    } else if (what == 3 && random() % 50 == 0) {
      records_.Enter({});
    } else {
      UserRecordPtr record;
      const auto tier = static_cast<RecordTier>(random() % 3);
      const Status found = records_.Find(user, tier, &record);
      if (!found.ok()) {
        ASSERT_EQ(found.code(), StatusCode::kIncomplete);
        ASSERT_NE(tier, RecordTier::kDisk);
        continue;
      }
      ASSERT_EQ(record != nullptr, truth_.Has(user)) << step;
      if (record) {
        ASSERT_EQ(*record, truth_.Of(user)) << step;
      }
    }
    ASSERT_LE(records_.cache_bytes(), kFourRecords);
  }
  EXPECT_GT(counters_.user_cache_hits, 0u);
  EXPECT_GT(counters_.user_cache_misses, 0u);
}

TEST_F(UserLookupModel, NobodyIsReadWhoHasNone) {
  for (size_t i = 0; i < 1'000; ++i) EXPECT_EQ(records_.Find(User(i)), nullptr);
  EXPECT_EQ(truth_.reads(), 0u);
  Change("somebody", UserRecord{.erased_seq = 1});
  for (size_t i = 0; i < 1'000; ++i) EXPECT_EQ(records_.Find(User(i)), nullptr);
  EXPECT_LT(truth_.reads(), 20u);
}

TEST_F(UserLookupModel, ARecordThatCannotBeReadCountsAsDamagedAndIsReadAgain) {
  bool fails = true;
  UserLookup records(
      [&](std::string_view, bool) -> Result<UserRecordPtr> {
        if (fails) return Status::Corruption("a block is damaged");
        return std::make_shared<const UserRecord>(UserRecord{.erased_seq = 3});
      },
      kFourRecords, &counters_);
  records.Announce("u");
  EXPECT_TRUE(records.Find("u")->damaged);
  LoadedRecords known(&records);
  ASSERT_TRUE(known.Load(OneUser("u"), RecordTier::kDisk).ok());
  EXPECT_TRUE(known.Find("u")->damaged);
  fails = false;
  EXPECT_FALSE(records.Find("u")->damaged);
  EXPECT_EQ(records.Find("u")->erased_seq, 3u);
}

TEST_F(UserLookupModel, ADiskThatFailsFailsTheLoad) {
  UserLookup records(
      [&](std::string_view, bool) -> Result<UserRecordPtr> { return Status::IOError("no disk"); },
      kFourRecords, &counters_);
  records.Announce("u");
  LoadedRecords known(&records);
  EXPECT_EQ(known.Load(OneUser("u"), RecordTier::kDisk).code(), StatusCode::kIOError);
}

// Erasures are alone, other changes share; a write decides by what it loaded before and refreshed
// inside, and must know every change that ended before it began.
TEST_F(UserLookupModel, AWriteKnowsEveryChangeThatEndedBeforeIt) {
  constexpr int kWriters = 3, kWrites = 3'000, kLooks = 4;
  std::shared_mutex apply_lock;
  std::atomic<uint64_t> seq{0};
  std::atomic<bool> done{false};
  std::atomic<int> again{0};
  const uint64_t seed = test::Seed();
  std::thread eraser([&] {
    std::mt19937_64 random(seed);
    while (!done) {
      const std::string user = User(random() % kUsers);
      const std::unique_lock alone(apply_lock);
      Change(user, UserRecord{.erased_seq = ++seq});
    }
  });
  std::thread changer([&] {
    std::mt19937_64 random(seed + 1);
    while (!done) {
      const std::string user = User(random() % kUsers);
      const std::shared_lock together(apply_lock);
      UserRecord change;
      const uint64_t mine = ++seq;
      change.marks["video"].overrides[random() % 3] = {static_cast<int64_t>(mine), mine, false};
      Change(user, change);
    }
  });
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      std::mt19937_64 random(seed + 2 + static_cast<uint64_t>(w));
      for (int i = 0; i < kWrites; ++i) {
        std::vector<std::string> names;
        for (uint64_t n = 1 + random() % 8; n > 0; --n) names.push_back(User(random() % kUsers));
        const auto users = [&](const auto& visit) {
          for (const std::string& name : names) visit(name);
        };
        LoadedRecords known(&records_);
        for (int looks = 1;; ++looks) {
          if (!known.Load(users, RecordTier::kDisk).ok()) ADD_FAILURE();
          const std::shared_lock inside(apply_lock);
          const Status fresh =
              known.Refresh(users, looks < kLooks ? RecordTier::kMemory : RecordTier::kDisk);
          if (!fresh.ok()) {
            EXPECT_EQ(fresh.code(), StatusCode::kIncomplete);
            EXPECT_LT(looks, kLooks);
            ++again;
            continue;
          }
          for (const std::string& name : names) {
            const UserRecord* const record = known.Find(name);
            const uint64_t erased = record == nullptr ? 0 : record->erased_seq;
            if (erased != truth_.Of(name).erased_seq) ADD_FAILURE() << name << " " << erased;
          }
          break;
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  eraser.join();
  changer.join();
  for (size_t i = 0; i < kUsers; ++i) {
    const UserRecordPtr record = records_.Find(User(i));
    ASSERT_EQ(record != nullptr, truth_.Has(User(i))) << i;
    if (record) {
      EXPECT_EQ(*record, truth_.Of(User(i)));
    }
  }
  RecordProperty("loaded_again", again);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
