// Erasing a user of whom nothing is held writes nothing: events of before are taken afterwards.
// Whatever is held makes the user known.

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class ErasureUnknownTest : public EngineTest {
 protected:
  Erasure Erase(const std::string& user, bool always = false) {
    Erasure erasure;
    const Status erased = engine_->EraseUser(IdRef(user), {.always = always}, &erasure);
    EXPECT_TRUE(erased.ok()) << erased.ToString();
    return erasure;
  }
  void PutHistory() {
    PolicyPatch patch;
    patch.history.enabled = true;
    Put("video", patch);
  }
};

TEST_F(ErasureUnknownTest, NothingIsWrittenAndImportsAreTaken) {
  Open();
  PutHistory();
  Play("other", {"v"});
  const Erasure erasure = Erase("nobody");
  EXPECT_FALSE(erasure.known);
  EXPECT_FALSE(erasure.written);
  EXPECT_EQ(engine_->Stats().users_erased, 0u);
  EXPECT_FALSE(engine_->Inspect(IdRef("nobody"))->erased_at_ms);
  EXPECT_EQ(Play("nobody", {"v"}, kStartMs - kDayMs), 1u);
  Reopen();
  EXPECT_EQ(Unseen("nobody", {"v", "w"}), Items{"w"});
}

TEST_F(ErasureUnknownTest, AlwaysWritesIt) {
  Open();
  const Erasure erasure = Erase("nobody", true);
  EXPECT_FALSE(erasure.known);
  EXPECT_TRUE(erasure.written);
  EXPECT_EQ(erasure.until_ms, kStartMs);
  EXPECT_EQ(Play("nobody", {"v"}, kStartMs - kDayMs), 0u);
}

TEST_F(ErasureUnknownTest, ADatabaseThatReadsALogWritesIt) {
  Open();
  const SourceStep step{.topic = "plays", .next_offset = 1};
  ASSERT_TRUE(engine_->Ingest({.sources = {&step, 1}}).ok());
  EXPECT_TRUE(Erase("nobody").written) << "plays of the user may still be in the log";
}

TEST_F(ErasureUnknownTest, AUserWhoWasErasedIsKnown) {
  Open();
  Play("u", {"v"});
  EXPECT_TRUE(Erase("u").known);
  EXPECT_TRUE(Erase("u").known);
  Reopen();
  EXPECT_TRUE(Erase("u").known);
}

TEST_F(ErasureUnknownTest, AnythingHeldMakesTheUserKnown) {
  Open();
  PutHistory();
  PolicyPatch daily;
  daily.first_of_day = true;
  Put("daily", daily);
  const auto expect = [&](const char* user, const char* what) {
    const Erasure erasure = Erase(user);
    EXPECT_TRUE(erasure.known && erasure.written) << what;
    EXPECT_EQ(Play(user, {"again"}, kStartMs), 0u) << what;
  };
  Play("staged", {"v"});
  expect("staged", "a staged play");
  Play("old", {"v"}, kStartMs - 130 * kDayMs);
  expect("old", "a staged play older than the window");
  Play("drained", {"v"});
  Play("watched", {"v"}, std::nullopt, "video");
  Play("late", {"v"}, kStartMs - 60 * kDayMs);
  Drain();
  expect("drained", "a filter");
  expect("late", "a filter of another bucket");
  expect("watched", "history");
  Serve("served", {"v"});
  expect("served", "impressions");
  ASSERT_TRUE(engine_->SetRecording(IdRef("paused"), true).ok());
  expect("paused", "settings");
  Play("active", {"v"}, std::nullopt, "daily");
  expect("active", "an active day");
}

TEST_F(ErasureUnknownTest, FiltersAloneAreFoundAfterARestart) {
  options_.short_term_bytes = 0;
  Open();
  Play("u", {"v"});
  Drain();
  Reopen();
  EXPECT_TRUE(Erase("u").known);
  EXPECT_EQ(Unseen("u", {"v"}), Items{"v"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
