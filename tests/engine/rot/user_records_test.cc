// User records are written into tables within a second: they outlive the log that they were in.

#include <thread>

#include "seendb/repair.h"
#include "support/rot_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class UserRecordsTest : public EngineTest {
 protected:
  UserRecordsTest() { options_.shards = 1; }

  // The tables of the shard.
  std::set<std::string> Tables() const {
    std::set<std::string> names;
    for (const auto& file : fs::directory_iterator(Path() + "/shard-0000")) {
      if (file.path().extension() == ".sst") names.insert(file.path().filename().string());
    }
    return names;
  }
  bool HasNewTable(const std::set<std::string>& before) const {
    for (const std::string& name : Tables()) {
      if (!before.contains(name)) return true;
    }
    return false;
  }
  void FlushAll() {
    engine_.reset();
    {
      RawShard raw(Path());
      for (const std::string& family : raw.families()) raw.Flush(family);
    }
    Open();
  }
  // Flips a byte of the first of the texts in a log.
  void DamageLogAt(const std::string& text) {
    for (const auto& file : fs::directory_iterator(Path() + "/shard-0000")) {
      if (file.path().extension() != ".log") continue;
      std::ifstream in(file.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(in)), {});
      const size_t at = bytes.find(text);
      if (at == std::string::npos) continue;
      FlipBits(file.path(), at, 1);
      return;
    }
    FAIL() << "no log has " << text;
  }
};

// The deletes of the erasure are in the log alone; its record is not.
TEST_F(UserRecordsTest, TheRecordOfAnErasureOutlivesItsDamagedLog) {
  Open();
  Play("alice", {"secret"});
  Drain();
  FlushAll();
  for (int i = 0; i < 50; ++i) Play("bob", {"before" + std::to_string(i)});
  clock_.Advance(1000);
  ASSERT_TRUE(engine_->EraseUser(IdRef("alice")).ok());
  RunDue();
  for (int i = 0; i < 500; ++i) Play("bob", {"after" + std::to_string(i)});
  ASSERT_TRUE(engine_->Sync().ok());
  // As a killed process leaves it.
  const std::string copy = dir_ + "/copy";
  fs::copy(Path(), copy, fs::copy_options::recursive);
  engine_.reset();
  fs::remove_all(Path());
  fs::rename(copy, Path());
  DamageLogAt("alice");
  Seams seams;
  seams.clock = &clock_;
  const auto repaired = Repair(Path(), {}, seams);
  ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
  Open();
  EXPECT_EQ(Play("alice", {"late"}, kStartMs), 0u) << "refused from then on";
}

TEST_F(UserRecordsTest, OneFlushIsForAllOfThem) {
  Open();
  Play("u1", {"v"});
  RunDue();
  const std::set<std::string> before = Tables();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(engine_->EraseUser(IdRef("u" + std::to_string(i))).ok());
  }
  EXPECT_EQ(Tables(), before) << "no erasure waits for a flush";
  RunDue();
  EXPECT_EQ(Tables().size(), before.size() + 1);
  const std::set<std::string> after = Tables();
  RunDue();
  EXPECT_EQ(Tables(), after) << "nothing has changed since";
}

TEST_F(UserRecordsTest, ClearsDeletionsAndPausesAreWrittenLikewise) {
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  patch.history.deleted_items = DeletedItems::kRecommendAgain;
  Put("video", patch);
  Play("u", {"v"}, std::nullopt, "video");
  const IdRef items[] = {IdRef("v")};
  const std::vector<std::function<Status()>> changes = {
      [&] { return engine_->SetRecording(IdRef("u"), true); },
      [&] { return engine_->DeleteHistory(IdRef("u"), "video", items); },
      [&] { return engine_->ClearHistory(IdRef("u")); },
      [&] { return engine_->ClearHistory(IdRef("u"), {.filter = true}); }};
  for (size_t i = 0; i < changes.size(); ++i) {
    RunDue();
    const std::set<std::string> before = Tables();
    ASSERT_TRUE(changes[i]().ok()) << i;
    RunDue();
    EXPECT_TRUE(HasNewTable(before)) << i;
  }
}

TEST_F(UserRecordsTest, TheBackgroundWritesThemSoon) {
  options_.background = true;
  Open();
  const std::set<std::string> before = Tables();
  ASSERT_TRUE(engine_->EraseUser(IdRef("u"), {.always = true}).ok());
  for (int i = 0; i < 300 && !HasNewTable(before); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(HasNewTable(before));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
