// Replaying any prefix of the journal again changes no answer: neither beside what was drained
// already, nor twice, nor for a user who was erased meanwhile. And a copy of the folder as a
// killed process would leave it answers what the living one does.

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "support/engine_fixture.h"
#include "support/raw_shard.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class JournalReplayTest : public EngineTest {
 protected:
  using Journal = std::map<std::string, std::map<std::string, std::string>>;  // family -> records

  JournalReplayTest() {
    options_.shards = 1;
    options_.list_limit = 16;
    options_.ring_slots = 4;
  }

  // Plays at random: users, items, times within the window, slots that turn.
  void RecordAtRandom(int batches) {
    for (int i = 0; i < batches; ++i) {
      std::vector<seendb::Play> plays;
      std::vector<std::string> users, items;
      const size_t count = 1 + random_() % 40;
      for (size_t p = 0; p < count; ++p) {
        users.push_back("u" + std::to_string(random_() % kUsers));
        items.push_back("v" + std::to_string(random_() % kItems));
      }
      for (size_t p = 0; p < count; ++p) {
        const auto age = static_cast<int64_t>(random_() % 60) * kDayMs;
        plays.push_back({IdRef(users[p]), IdRef(items[p]), clock_.NowMs() - age});
      }
      const auto recorded = engine_->RecordPlays(plays);
      ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
      ASSERT_EQ(recorded->accepted + recorded->refused, count);
      std::set<size_t> refused;
      for (const Refusal& refusal : recorded->refusals) {
        ASSERT_EQ(users[refusal.index], erased_) << refusal.status.ToString();
        refused.insert(refusal.index);
      }
      for (size_t p = 0; p < count; ++p) {
        if (!refused.contains(p)) played_[users[p]].insert(items[p]);
      }
    }
  }

  // The unseen of a fixed catalogue, for every user.
  std::map<std::string, Items> Answers() {
    std::map<std::string, Items> answers;
    for (size_t u = 0; u < kUsers; ++u) {
      const std::string user = "u" + std::to_string(u);
      answers[user] = Unseen(user, Numbered("v", kItems));
      EXPECT_FALSE(answer_.degraded);
    }
    return answers;
  }

  static void ExpectSame(const std::map<std::string, Items>& got,
                         const std::map<std::string, Items>& wanted, const std::string& when) {
    for (const auto& [user, unseen] : wanted) {
      const Items& now = got.at(user);
      const auto [a, b] = std::mismatch(now.begin(), now.end(), unseen.begin(), unseen.end());
      EXPECT_TRUE(now == unseen) << when << ": " << user << " has " << now.size() << " unseen, not "
                                 << unseen.size() << "; the first to differ is "
                                 << (a != now.end() ? *a : *b);
    }
  }

  void ExpectNothingLost(const std::map<std::string, Items>& answers) {
    for (const auto& [user, unseen] : answers) {
      for (const std::string& item : unseen) {
        ASSERT_FALSE(played_[user].contains(item)) << user << " played " << item;
      }
    }
  }

  Journal ReadJournal() {
    Journal journal;
    RawShard shard(Path());
    for (const std::string& name : shard.families()) {
      if (name.starts_with("ring/")) journal[name] = shard.All(name);
    }
    return journal;
  }

  // Puts records back as if their slot had not been drained.
  void PutBack(const Journal& journal, double share) {
    RawShard shard(Path());
    for (const auto& [name, records] : journal) {
      auto left = static_cast<size_t>(static_cast<double>(records.size()) * share);
      for (const auto& [key, value] : records) {
        if (left-- == 0) break;
        shard.Put(name, key, value);
      }
    }
  }

  static constexpr size_t kUsers = 12;
  static constexpr int kItems = 400;
  std::mt19937_64 random_{test::Seed()};
  std::map<std::string, std::set<std::string>> played_;
  std::string erased_;
};

TEST_F(JournalReplayTest, APrefixReplayedTwiceChangesNoAnswer) {
  Open();
  RecordAtRandom(8);
  Drain();
  RecordAtRandom(10);
  ASSERT_TRUE(engine_->EraseUser(IdRef("u3")).ok());
  erased_ = "u3";
  played_.erase(erased_);
  clock_.Advance(kHourMs);
  RecordAtRandom(6);
  const std::map<std::string, Items> staged = Answers();
  engine_.reset();
  const Journal journal = ReadJournal();
  ASSERT_FALSE(journal.empty());

  Open();
  ExpectSame(Answers(), staged, "replayed, not drained");
  ExpectNothingLost(staged);
  Drain();
  const std::map<std::string, Items> before = Answers();  // a filter may have false positives
  ExpectNothingLost(before);
  engine_.reset();
  for (const double share : {0.3, 0.7, 1.0, 1.0}) {
    PutBack(journal, share);
    Open();
    EXPECT_GT(engine_->Stats().replayed_records, 0u);
    ExpectSame(Answers(), before, "a prefix beside what was drained");
    Drain();
    ExpectSame(Answers(), before, "a prefix drained again");
    engine_.reset();
  }
  Open();
  for (const BucketInfo& bucket : engine_->Buckets()) {
    ASSERT_TRUE(engine_->Seal(bucket.collection, bucket.bucket).ok());
  }
  const std::map<std::string, Items> sealed = Answers();
  ExpectNothingLost(sealed);
  engine_.reset();
  PutBack(journal, 1.0);
  Open();
  ExpectSame(Answers(), sealed, "beside sealed filters");
  Drain();
  ExpectSame(Answers(), sealed, "late to sealed filters");
}

// The folder as it is on disk at any moment, background or not, is a database with every
// acknowledged play.
TEST_F(JournalReplayTest, ACopyAsAKilledProcessLeavesItAnswersTheSame) {
  Open();
  for (int round = 0; round < 4; ++round) {
    RecordAtRandom(5);
    if (round % 2 == 0) Drain();
    Serve("u1", {"served" + std::to_string(round)});
    if (round == 2) {
      ASSERT_TRUE(engine_->SealClosed().ok());
    }
    const std::map<std::string, Items> living = Answers();
    const std::string copy = dir_ + "/copy" + std::to_string(round);
    std::filesystem::copy(Path(), copy, std::filesystem::copy_options::recursive);
    Seams seams;
    seams.clock = &clock_;
    for (int opening = 0; opening < 2; ++opening) {
      auto opened = Engine::Open(copy, options_, seams);
      ASSERT_TRUE(opened.ok()) << opened.status().ToString();
      engine_.swap(*opened);
      ExpectSame(Answers(), living, "round " + std::to_string(round));
      EXPECT_EQ(Unseen("u1", {"served" + std::to_string(round)}), Items{});
      engine_.swap(*opened);
    }
    ExpectNothingLost(living);
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
