// Slots that calls have pinned: they are closed and followed by the next, but not drained, and
// nobody else waits for such a call.

#include <chrono>
#include <future>

#include "support/engine_fixture.h"
#include "support/hold.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class PinTest : public EngineTest {
 protected:
  PinTest() { options_.shards = 1; }

  // A call that has pinned the current slot, and waits.
  std::future<uint64_t> PlayAsync(const std::string& user, const std::string& item) {
    return std::async(std::launch::async, [this, user, item] { return Play(user, {item}); });
  }
};

// Were it drained before, the play would be journalled in the family of a slot that is free, and
// staged where no filter looks.
TEST_F(PinTest, ASlotIsDrainedOnceNobodyHasItPinned) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Open();
  ASSERT_EQ(Play("u1", {"v1"}), 1u);
  Hold hold("record: pinned");
  auto accepted = PlayAsync("u2", "v2");
  ASSERT_TRUE(hold.WaitReached());
  EXPECT_EQ(engine_->Drain().code(), StatusCode::kBusy);
  EXPECT_EQ(engine_->Stats().drains, 0u);
  EXPECT_EQ(engine_->Stats().drain_failures, 0u) << "it is no failure";
  EXPECT_TRUE(engine_->RunDue().ok()) << "background work comes back later";
  EXPECT_EQ(Unseen("u1", {"v1"}), Items{});
  hold.Release();
  EXPECT_EQ(accepted.get(), 1u);
  EXPECT_EQ(Unseen("u2", {"v2"}), Items{});
  Drain();
  EXPECT_EQ(engine_->Stats().drains, 1u);
  EXPECT_EQ(Unseen("u2", {"v2"}), Items{});
  Reopen();
  EXPECT_EQ(engine_->Stats().replayed_plays, 0u) << "its journal is gone";
  EXPECT_EQ(Unseen("u1", {"v1"}), Items{});
  EXPECT_EQ(Unseen("u2", {"v2"}), Items{});
}

TEST_F(PinTest, OthersWriteIntoTheNextSlotMeanwhile) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Open();
  ASSERT_EQ(Play("u1", {"v1"}), 1u);
  Hold hold("record: pinned");
  auto accepted = PlayAsync("u2", "v2");
  ASSERT_TRUE(hold.WaitReached());
  clock_.Advance(2 * options_.slot_ms);
  EXPECT_TRUE(engine_->RunDue().ok());
  ASSERT_EQ(Play("u3", {"v3"}), 1u);
  // An erasure does not wait for it either, and is not undone by it.
  EXPECT_TRUE(engine_->EraseUser(IdRef("u1")).ok());
  EXPECT_EQ(Unseen("u1", {"v1"}), Items{"v1"});
  hold.Release();
  EXPECT_EQ(accepted.get(), 1u);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(Unseen("u1", {"v1"}), Items{"v1"});
    EXPECT_EQ(Unseen("u2", {"v2"}), Items{});
    EXPECT_EQ(Unseen("u3", {"v3"}), Items{});
    Reopen();
  }
}

// After some tries a page is read from a copy of what is staged. A call that pinned a slot before
// it was closed may still write into it, behind the copy, and a drain move that between the page's
// look at the order of rows and its look at their states: the row that was found is outdated then,
// and the newer one was not there yet.
TEST_F(PinTest, APageIsReadAgainWhereADrainBegan) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  Put("shows", patch);
  ASSERT_EQ(Play("u1", {"v1"}, kStartMs - kHourMs, "shows"), 1u);
  Hold hold("record: pinned");
  auto newer =
      std::async(std::launch::async, [&] { return Play("u1", {"v1"}, kStartMs, "shows"); });
  ASSERT_TRUE(hold.WaitReached());
  clock_.Advance(2 * options_.slot_ms);
  ASSERT_TRUE(engine_->RunDue().ok());  // closes the slot, and can't drain it
  int tries = 0;
  const auto beside = [](auto work) { std::async(std::launch::async, work).get(); };
  PausePoints::Set("history: page begun", [&] {
    ++tries;
    if (tries < 4) {
      beside([&] { EXPECT_EQ(Play("u1", {"v2"}, kStartMs + tries, "shows"), 1u); });
    } else if (tries == 4) {
      hold.Release();
      EXPECT_EQ(newer.get(), 1u);
      beside([&] { EXPECT_TRUE(engine_->RunDue().ok()); });
    }
  });
  HistoryPage page;
  const Status read = engine_->ReadHistory({.user = IdRef("u1")}, &page);
  PausePoints::Set("history: page begun", nullptr);
  ASSERT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(engine_->Stats().drains, 1u);
  EXPECT_EQ(tries, 5);
  ASSERT_EQ(page.entries.size(), 2u);
  EXPECT_EQ(page.entries[0].item, "v2");
  EXPECT_EQ(page.entries[1].item, "v1");
  EXPECT_EQ(page.entries[1].at_ms, kStartMs);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
