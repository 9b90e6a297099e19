// What an erasure leaves in logs and tables: gone after a drain or a compaction by hand, else
// within Options::erase_within_days.

#include <fstream>
#include <future>
#include <set>

#include "support/engine_fixture.h"
#include "support/hold.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;

class TracesTest : public EngineTest {
 protected:
  TracesTest() {
    options_.shards = 1;
    options_.erase_within_days = 3;
    // Maintenance is due at any hour.
    options_.maintenance_begin_minute = options_.maintenance_end_minute = 0;
  }
  void Start() {
    Open();
    PolicyPatch patch;
    patch.history.enabled = true;
    patch.impression_ids = true;
    Put("c", patch);
  }
  // Plays and serves with bytes that can be found again.
  void Watch(const std::string& user, const std::string& mark,
             const std::string& collection = "c") {
    const std::string device = "device-" + mark, fields = R"({"f":"fields-)" + mark + "\"}";
    const seendb::Watch watch{.device = device, .fields = fields};
    const std::string item = "item-" + mark;
    const seendb::Play play{.user = IdRef(user), .item = IdRef(item), .watch = &watch};
    ASSERT_TRUE(engine_->RecordPlays({&play, 1}, {.collection = collection}).ok());
    EXPECT_EQ(Serve(user, {"served-" + mark}, std::nullopt, collection), 1u);
  }
  // The logs and tables with these bytes in them.
  std::set<std::string> FilesWith(const std::string& bytes) const {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(Path())) {
      const std::string kind = entry.path().extension();
      if (kind != ".log" && kind != ".sst") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string all(std::istreambuf_iterator<char>(file), {});
      if (all.find(bytes) != std::string::npos) found.insert(entry.path());
    }
    return found;
  }
  bool IsOnDisk(const std::string& mark) const {
    for (const char* kind : {"item-", "device-", "fields-", "served-"}) {
      if (!FilesWith(kind + mark).empty()) return true;
    }
    return false;
  }
  void ExpectAllOnDisk(const std::string& mark) const {
    for (const char* kind : {"item-", "device-", "fields-", "served-"}) {
      EXPECT_FALSE(FilesWith(kind + mark).empty()) << kind;
    }
  }
  void Erase(const std::string& user) {
    const Status erased = engine_->EraseUser(IdRef(user));
    ASSERT_TRUE(erased.ok()) << erased.ToString();
  }
};

TEST_F(TracesTest, OfAUserInLogsAreGoneAfterADrain) {
  Start();
  Watch("gone", "XXXX");
  Watch("stays", "YYYY");
  Erase("gone");
  ExpectAllOnDisk("XXXX");
  Drain();
  EXPECT_FALSE(IsOnDisk("XXXX"));
  ExpectAllOnDisk("YYYY");
  EXPECT_EQ(Unseen("stays", {"item-YYYY", "served-YYYY", "x"}, "c"), Items{"x"});
  EXPECT_EQ(Unseen("gone", {"item-XXXX"}, "c"), Items{"item-XXXX"});
}

TEST_F(TracesTest, OfAUserInTablesAreGoneAfterADrain) {
  Start();
  for (int i = 0; i < 50; ++i) Watch("u" + std::to_string(i), "YYYY" + std::to_string(i));
  Watch("gone", "XXXX");
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  ExpectAllOnDisk("XXXX");
  Erase("gone");
  ExpectAllOnDisk("XXXX");
  Drain();
  EXPECT_FALSE(IsOnDisk("XXXX"));
  ExpectAllOnDisk("YYYY49");
  // The user's own id is kept in the record of the erasure alone: as long as plays may come again.
  Reopen();
  EXPECT_EQ(FilesWith("gone").size(), 1u);
}

TEST_F(TracesTest, AreGoneAfterACompaction) {
  Start();
  Watch("gone", "XXXX");
  Drain();
  Erase("gone");
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_FALSE(IsOnDisk("XXXX"));
}

TEST_F(TracesTest, AreGoneWithinTheDays) {
  Start();
  Watch("first", "WWWW");
  Erase("first");
  Drain();
  Watch("gone", "XXXX");
  clock_.Advance(6 * kHourMs);
  RunDue();  // drains
  Erase("gone");
  clock_.Advance(kDayMs);
  RunDue();
  EXPECT_TRUE(IsOnDisk("XXXX")) << "too early: each purge rewrites tables";
  Reopen();
  clock_.Advance(kDayMs);
  RunDue();
  EXPECT_FALSE(IsOnDisk("XXXX"));
}

// Another user is erased while a purge runs: the next one removes what is left.
TEST_F(TracesTest, OfAUserWhoIsErasedDuringAPurgeAreGoneAfterTheNext) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Start();
  Watch("first", "WWWW");
  Watch("gone", "XXXX");
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  Erase("first");
  Hold hold("purge: removed");
  std::future<Status> drained = std::async(std::launch::async, [this] { return engine_->Drain(); });
  ASSERT_TRUE(hold.WaitReached());
  EXPECT_FALSE(IsOnDisk("WWWW"));
  Erase("gone");
  hold.Release();
  const Status status = drained.get();
  ASSERT_TRUE(status.ok()) << status.ToString();
  ExpectAllOnDisk("XXXX");
  Drain();
  EXPECT_FALSE(IsOnDisk("XXXX"));
}

TEST_F(TracesTest, TablesThatNoErasureTouchesStay) {
  Start();
  PolicyPatch patch;
  patch.history.enabled = true;
  Put("apart", patch);
  for (int i = 0; i < 50; ++i) Watch("u" + std::to_string(i), "YYYY", "apart");
  Watch("gone", "XXXX");
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  const std::set<std::string> before = FilesWith("item-YYYY");
  Erase("gone");
  Drain();
  EXPECT_FALSE(IsOnDisk("XXXX"));
  EXPECT_EQ(FilesWith("item-YYYY"), before);
}

TEST_F(TracesTest, ADrainWithoutErasuresWritesNothingMore) {
  Start();
  for (int i = 0; i < 20; ++i) Watch("u" + std::to_string(i), "YYYY");
  Drain();
  const std::set<std::string> before = FilesWith("item-YYYY");
  Drain();
  Reopen();
  Drain();
  EXPECT_EQ(FilesWith("item-YYYY"), before);
}

TEST_F(TracesTest, TheDaysAreChecked) {
  options_.erase_within_days = 0;
  EXPECT_EQ(TryOpen().field(), "/erase_within_days");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
