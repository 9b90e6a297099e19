// The ring: slots that turn, are skipped while undrained, are made up for; journals replayed
// whatever the number of slots.

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class RingTest : public EngineTest {
 protected:
  RingTest() {
    options_.shards = 1;
    env_ = disk_.env();
  }
  ~RingTest() override {
    disk_.Clear();
    engine_.reset();
  }

  std::vector<std::string> States() {
    std::vector<std::string> states;
    for (const SlotInfo& slot : engine_->Ring()) states.push_back(slot.state);
    return states;
  }
  size_t CountOf(const std::string& state) {
    const std::vector<std::string> states = States();
    return static_cast<size_t>(std::count(states.begin(), states.end(), state));
  }
  // Records one play and notes it.
  void PlayNext() {
    const std::string item = "v" + std::to_string(played_.size());
    ASSERT_EQ(Play("u1", {item}), 1u);
    played_.push_back(item);
  }
  void ExpectAllSeen(const std::string& when) {
    EXPECT_EQ(Unseen("u1", played_), Items{}) << when;
    EXPECT_FALSE(answer_.degraded) << when;
  }
  // A drain that can't: no new family can be made, so no bucket and no fresh journal.
  void BlockDrains() {
    disk_.Fail(MemDisk::kRename, "OPTIONS", rocksdb::IOStatus::IOError("injected"));
    disk_.Fail(MemDisk::kAppend | MemDisk::kSync, "MANIFEST",
               rocksdb::IOStatus::NoSpace("injected"));
  }

  MemDisk disk_;
  Items played_;
};

TEST_F(RingTest, SlotsTurnWithTheHourAndStayReadable) {
  options_.ring_slots = 3;
  options_.short_term_bytes = 64 << 20;
  Open();
  EXPECT_EQ(States(), (Items{"current", "free", "free"}));
  for (int hour = 0; hour < 10; ++hour) {
    PlayNext();
    ExpectAllSeen("staged");
    clock_.Advance(kHourMs);
    RunDue();
    EXPECT_EQ(CountOf("current"), 1u);
    EXPECT_EQ(CountOf("closed"), 0u);
    ExpectAllSeen("drained");
  }
  EXPECT_EQ(CountOf("drained"), 2u) << "the short-term store";
  const EngineStats stats = engine_->Stats();
  EXPECT_EQ(stats.ring_plays, 0u);
  EXPECT_GT(stats.short_term_bytes, 0u);
  EXPECT_EQ(stats.drains, 10u);
  EXPECT_EQ(stats.drained_plays, 10u);
  RunDue();
  EXPECT_EQ(engine_->Stats().drains, 10u) << "an empty slot is not drained";
}

TEST_F(RingTest, TheShortTermStoreObeysItsBudget) {
  options_.short_term_bytes = 0;
  Open();
  PlayNext();
  Drain();
  EXPECT_EQ(engine_->Stats().short_term_bytes, 0u);
  ExpectAllSeen("drained and forgotten");
}

TEST_F(RingTest, TheShortTermStoreKeepsTheNewestSlotsWithinItsBudget) {
  options_.ring_slots = 6;
  options_.short_term_bytes = 64 << 20;
  Open();
  const auto drain_one = [this](int hour) {
    EXPECT_EQ(Play("u1", Numbered("h" + std::to_string(hour) + "-", 200)), 200u);
    clock_.Advance(kHourMs);
    RunDue();
  };
  drain_one(0);
  const uint64_t slot_bytes = engine_->Stats().short_term_bytes;
  ASSERT_GT(slot_bytes, 0u);
  options_.short_term_bytes = slot_bytes * 5 / 2;
  Reopen();
  for (int hour = 1; hour <= 4; ++hour) drain_one(hour);
  EXPECT_LE(engine_->Stats().short_term_bytes, options_.short_term_bytes);
  EXPECT_GT(engine_->Stats().short_term_bytes, slot_bytes) << "two slots have room";
  for (int hour = 0; hour <= 4; ++hour) {
    EXPECT_EQ(Unseen("u1", Numbered("h" + std::to_string(hour) + "-", 200)), Items{}) << hour;
  }
}

TEST_F(RingTest, ASlotClosesEarlyWhenItIsFull) {
  options_.slot_bytes_max = 200'000;
  options_.ring_slots = 4;
  Open();
  const Items many = Numbered("v", 3000);
  for (int user = 0; user < 12; ++user) Play("u" + std::to_string(user), many);
  EXPECT_GE(CountOf("closed"), 1u) << "closed without the hour passing";
  EXPECT_EQ(CountOf("current"), 1u);
  for (int user = 0; user < 12; ++user) {
    EXPECT_EQ(Unseen("u" + std::to_string(user), many), Items{});
  }
  RunDue();
  EXPECT_EQ(CountOf("closed"), 0u);
  for (int user = 0; user < 12; ++user) {
    EXPECT_EQ(Unseen("u" + std::to_string(user), many), Items{});
  }
}

// Each read of the user would go over all of them, and a long key that is imported is one user's.
TEST_F(RingTest, ASlotClosesEarlyWithVeryManyPlaysOfOneUser) {
  Open();
  const Items many = Numbered("v", 150'000);
  Play("u1", {many.begin(), many.begin() + 30'000});
  EXPECT_EQ(CountOf("closed"), 0u);
  for (size_t at = 30'000; at < many.size(); at += 5'000) {
    Play("u1", {many.begin() + static_cast<ptrdiff_t>(at),
                many.begin() + static_cast<ptrdiff_t>(at) + 5'000});
  }
  EXPECT_GE(CountOf("closed"), 1u) << "closed without the hour passing";
  EXPECT_EQ(CountOf("current"), 1u);
  const Items some(many.begin(), many.begin() + 1'000);
  EXPECT_EQ(Unseen("u1", some), Items{});
  RunDue();
  EXPECT_EQ(CountOf("closed"), 0u);
  EXPECT_EQ(Unseen("u1", some), Items{});
}

// A slot that can't be drained stays through a full turn, is skipped, and is drained at last.
TEST_F(RingTest, AnUndrainedSlotIsSkippedAndMadeUpFor) {
  options_.ring_slots = 4;
  Open();
  PlayNext();
  Drain();
  BlockDrains();
  size_t taken = 0;
  for (int hour = 0; hour < 4; ++hour) {
    const std::string item = "h" + std::to_string(hour);
    const seendb::Play staged{IdRef("u1"), IdRef(item)};
    const auto recorded = engine_->RecordPlays({&staged, 1});
    if (!recorded.ok()) break;
    played_.push_back(item);
    ++taken;
    clock_.Advance(kHourMs);
    EXPECT_FALSE(engine_->RunDue().ok());
    ExpectAllSeen("hour " + std::to_string(hour));
  }
  EXPECT_GE(taken, 1u);
  EXPECT_GE(engine_->Stats().drain_failures, taken);
  EXPECT_GE(CountOf("closed"), 1u);
  ExpectAllSeen("blocked");
  disk_.Clear();
  Reopen();
  ExpectAllSeen("reopened");
  const Status drained = engine_->Drain();
  ASSERT_TRUE(drained.ok()) << drained.ToString();
  EXPECT_EQ(CountOf("closed"), 0u);
  EXPECT_EQ(engine_->Stats().ring_plays, 0u);
  ExpectAllSeen("made up for");
  PlayNext();
  ExpectAllSeen("goes on");
}

// More slots undrained than the ring has: busy until one is drained, and nothing is lost.
TEST_F(RingTest, OpensWithEverySlotUndrained) {
  options_.ring_slots = 3;
  Open();
  // Every opening finds the last current slot undrained and takes the next one.
  for (int opening = 0; opening < 3; ++opening) {
    PlayNext();
    Reopen();
    ExpectAllSeen("opening " + std::to_string(opening));
  }
  EXPECT_EQ(CountOf("closed"), 3u);
  const seendb::Play play{IdRef("u1"), IdRef("late")};
  const auto busy = engine_->RecordPlays({&play, 1});
  EXPECT_EQ(busy.status().code(), StatusCode::kBusy);
  EXPECT_GT(engine_->Stats().busy, 0u);
  EXPECT_EQ(Serve("u1", {"served"}), 1u) << "impressions need no slot";
  ExpectAllSeen("busy");
  Reopen();
  ExpectAllSeen("opened again, all slots undrained");
  RunDue();
  PlayNext();
  ExpectAllSeen("drained");
}

TEST_F(RingTest, OpensWithFewerAndMoreSlots) {
  options_.ring_slots = 5;
  Open();
  for (int opening = 0; opening < 4; ++opening) {
    PlayNext();
    Reopen();
  }
  EXPECT_EQ(CountOf("closed"), 4u);
  options_.ring_slots = 2;
  Reopen();
  ExpectAllSeen("fewer slots");
  EXPECT_EQ(engine_->Ring().size(), 5u) << "until they are drained";
  RunDue();
  ExpectAllSeen("fewer slots, drained");
  for (int hour = 0; hour < 5; ++hour) {
    PlayNext();
    clock_.Advance(kHourMs);
    RunDue();
  }
  for (const SlotInfo& slot : engine_->Ring()) {
    if (slot.slot >= 2) {
      EXPECT_NE(slot.state, "current") << slot.slot;
    }
  }
  PlayNext();
  options_.ring_slots = 9;
  Reopen();
  ExpectAllSeen("more slots");
  EXPECT_EQ(engine_->Ring().size(), 9u);
  for (int hour = 0; hour < 12; ++hour) {
    PlayNext();
    clock_.Advance(kHourMs);
    RunDue();
  }
  ExpectAllSeen("turned");
  Reopen();
  ExpectAllSeen("reopened");
}

TEST_F(RingTest, AClockThatWentBackStopsNothing) {
  Open();
  PlayNext();
  clock_.Advance(-3 * kHourMs);
  RunDue();
  PlayNext();
  ExpectAllSeen("an earlier hour");
  clock_.Advance(6 * kHourMs);
  RunDue();
  ExpectAllSeen("later");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
