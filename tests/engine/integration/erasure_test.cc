// Erasure against everything that could bring a user back: drains under way, journals replayed
// after a crash, repeats, seals, other collections.

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class ErasureTest : public EngineTest {
 protected:
  ErasureTest() { options_.shards = 1; }

  void Erase(const std::string& user) {
    const Status erased = engine_->EraseUser(IdRef(user));
    ASSERT_TRUE(erased.ok()) << erased.ToString();
  }
  void ExpectForgotten(const std::string& user, const std::string& when) {
    const Items asked = {"drained", "staged", "served", "late", "future"};
    EXPECT_EQ(Unseen(user, asked), asked) << when;
    const auto report = engine_->Inspect(IdRef(user));
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->buckets.empty()) << when;
    EXPECT_TRUE(report->impressions.empty()) << when;
    EXPECT_TRUE(report->ring.empty()) << when;
    EXPECT_TRUE(report->erased_at_ms.has_value()) << when;
  }
  // Facts of every kind, in every place.
  void PlayEverything(const std::string& user) {
    Play(user, {"drained"});
    Play(user, {"late"}, kStartMs - 30 * kDayMs);
    Drain();
    Play(user, {"staged"});
    Play(user, {"future"}, kStartMs + kHourMs);
    Serve(user, {"served"});
  }
};

TEST_F(ErasureTest, ForgetsEverywhereThroughDrainsSealsAndCrashes) {
  Open();
  PolicyPatch patch;
  patch.served_is_seen = true;
  Put("other", patch);
  PlayEverything("u1");
  PlayEverything("u2");
  Serve("u1", {"elsewhere"}, std::nullopt, "other");
  Erase("u1");
  ExpectForgotten("u1", "erased");
  EXPECT_EQ(Unseen("u1", {"elsewhere"}, "other"), Items{"elsewhere"});
  EXPECT_EQ(Unseen("u2", {"drained", "staged", "served", "late", "future"}), Items{});
  // As a killed process leaves it, the journal of what was staged included.
  const std::string copy = dir_ + "/copy";
  std::filesystem::copy(Path(), copy, std::filesystem::copy_options::recursive);
  Drain();
  ExpectForgotten("u1", "drained");
  ASSERT_TRUE(engine_->SealClosed().ok());
  ASSERT_TRUE(engine_->Compact().ok());
  ExpectForgotten("u1", "compacted");
  Reopen();
  ExpectForgotten("u1", "reopened");
  engine_.reset();
  std::filesystem::remove_all(Path());
  std::filesystem::rename(copy, Path());
  Open();
  ExpectForgotten("u1", "after a crash");
  Drain();
  ExpectForgotten("u1", "drained after a crash");
  EXPECT_EQ(Unseen("u2", {"drained", "staged", "served", "late", "future"}), Items{});
}

// What was erased is refused when it comes again; what happened later counts.
TEST_F(ErasureTest, RepeatsAreRefusedAndLaterPlaysCount) {
  Open();
  PlayEverything("u1");
  Erase("u1");
  EXPECT_EQ(Play("u1", {"drained"}), 0u) << "at the moment of the erasure";
  EXPECT_EQ(Play("u1", {"drained"}, kStartMs - kHourMs), 0u);
  EXPECT_EQ(Serve("u1", {"served"}, kStartMs - kHourMs), 0u);
  EXPECT_EQ(Play("u2", {"drained"}, kStartMs - kHourMs), 1u);
  clock_.Advance(kHourMs);
  EXPECT_EQ(Play("u1", {"new"}), 1u);
  EXPECT_EQ(Serve("u1", {"shown"}), 1u);
  EXPECT_EQ(Unseen("u1", {"new", "shown", "drained"}), Items{"drained"});
  Reopen();
  EXPECT_EQ(Play("u1", {"drained"}, kStartMs), 0u) << "remembered when opened again";
  EXPECT_EQ(Unseen("u1", {"new", "shown", "drained"}), Items{"drained"});
  clock_.Advance(kHourMs);
  Erase("u1");
  EXPECT_EQ(Unseen("u1", {"new", "shown"}), (Items{"new", "shown"})) << "erased twice";
  Drain();
  EXPECT_EQ(Unseen("u1", {"new", "shown"}), (Items{"new", "shown"}));
}

// After sealing or compaction the bytes are gone from the files as well.
TEST_F(ErasureTest, TheBytesAreGoneAfterCompaction) {
  Open();
  Play("someone-to-forget", Numbered("v", 20));
  Play("zz", {"v"});
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  Erase("someone-to-forget");
  ASSERT_TRUE(engine_->Compact().ok());
  engine_.reset();
  RawShard shard(Path());
  EXPECT_EQ(shard.All("seen/default/2026-03").count("someone-to-forget"), 0u);
  for (const std::string& file : shard.Files("seen/default/2026-03")) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    EXPECT_EQ(bytes.find("someone-to-forget"), std::string::npos) << file;
  }
}

// Users are erased while their slot is being drained in many batches.
TEST_F(ErasureTest, InTheMiddleOfADrain) {
  Open();
  constexpr int kUsers = 9000;  // several batches
  std::vector<std::string> users;
  std::vector<seendb::Play> plays;
  for (int i = 0; i < kUsers; ++i) users.push_back("u" + std::to_string(i));
  for (const std::string& user : users) plays.push_back({IdRef(user), IdRef("v")});
  for (int round = 0; round < 3; ++round) {
    clock_.Advance(1000);
    ASSERT_EQ(engine_->RecordPlays(plays)->accepted, plays.size());
    std::atomic<bool> drained{false};
    std::thread drain([&] {
      EXPECT_TRUE(engine_->Drain().ok());
      drained = true;
    });
    std::vector<bool> erased(kUsers, false);
    for (int i = round; !drained && i < kUsers; i += 37) {
      Erase(users[static_cast<size_t>(i)]);
      erased[static_cast<size_t>(i)] = true;
    }
    drain.join();
    for (int i = 0; i < kUsers; i += 3) {
      const auto at = static_cast<size_t>(i);
      ASSERT_EQ(Unseen(users[at], {"v"}).empty(), !erased[at]) << users[at] << ", round " << round;
    }
  }
}

TEST_F(ErasureTest, AnErasureThatFailsSaysSoAndCanBeRepeated) {
  MemDisk disk;
  env_ = disk.env();
  Open();
  PlayEverything("u1");
  disk.Fail(MemDisk::kSync, ".log", rocksdb::IOStatus::IOError("injected"));
  EXPECT_FALSE(engine_->EraseUser(IdRef("u1")).ok());
  disk.Clear();
  Reopen();
  Erase("u1");
  ExpectForgotten("u1", "repeated");
  Reopen();
  ExpectForgotten("u1", "reopened");
  EXPECT_EQ(engine_->EraseUser(IdRef("")).field(), "/user");
  engine_.reset();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
