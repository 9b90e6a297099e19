// Which sets a request finds before the store of sets is open, and behind that.

#include "api/set_door.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "seendb/set_log.h"

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

class SetDoorTest : public ::testing::Test {
 protected:
  SetDoorTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "set-door-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  ~SetDoorTest() override { std::filesystem::remove_all(folder_); }

  enum class Found { kNone, kKnown, kNotReadYet };
  static Found Find(const SetDoor& door, std::string_view name) {
    ExcludedSet set{.name = name};
    SetDoor::Held held;
    EXPECT_TRUE(door.Find({&set, 1}, &held).ok());
    if (set.items == nullptr) return Found::kNone;
    return set.items->damaged() ? Found::kNotReadYet : Found::kKnown;
  }

  std::string folder_;
};

TEST_F(SetDoorTest, BeforeTheStoreIsOpenAnyNameMayBeASet) {
  const std::string place = folder_ + "/sets";
  {
    SetDoor door;
    EXPECT_EQ(Find(door, "s"), Found::kNone);
    door.Configure(place, {});
    EXPECT_EQ(Find(door, "s"), Found::kNone) << "no set was ever put";
    ASSERT_TRUE(door.Open().ok());
    const IdRef items[] = {IdRef("x")};
    ASSERT_TRUE(door.Put("s", items).ok());
    EXPECT_EQ(Find(door, "s"), Found::kKnown);
    ASSERT_TRUE(door.Close().ok());
  }
  SetDoor door;
  door.Configure(place, {});
  EXPECT_EQ(Find(door, "s"), Found::kNotReadYet);
  EXPECT_EQ(Find(door, "unknown"), Found::kNotReadYet);
  ASSERT_TRUE(door.Open().ok());
  EXPECT_EQ(Find(door, "s"), Found::kKnown);
  EXPECT_EQ(Find(door, "unknown"), Found::kNone);
  ASSERT_TRUE(door.Close().ok());
}

TEST_F(SetDoorTest, ANodeKnowsNoSetBeforeItsStoreIsServed) {
  auto store = SetStore::Open(folder_ + "/sets", {});
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  SetDoor door;
  door.Announce();
  EXPECT_EQ(Find(door, "s"), Found::kNotReadYet);
  door.Serve(store->get());
  EXPECT_EQ(Find(door, "s"), Found::kNone);
  ASSERT_TRUE(door.Close().ok());
}

// It can't be told from one without sets by answers alone.
TEST_F(SetDoorTest, ANodeThatMayLackSetsSaysSoInItsMetrics) {
  auto store =
      SetLog::Open(folder_ + "/sets", {.log = "topic", .append = [](auto) { return Status(); }});
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  SetDoor door;
  door.Announce();
  door.Serve(store->get());
  const auto behind = door.State();
  ASSERT_TRUE(behind.has_value());
  EXPECT_TRUE(behind->behind);
  (*store)->SetCurrent(true);
  EXPECT_FALSE(door.State().has_value()) << "it has no set";
  ASSERT_TRUE(door.Close().ok());
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
