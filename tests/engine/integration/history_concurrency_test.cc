// History beside drains, deletions and clears: what a player was told is recorded is read back at
// once, never older than told, and what was deleted stays gone; filters cleared in the middle of
// plays forget those of before, and none of after.

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int kRounds = 150;

class HistoryConcurrencyTest : public EngineTest {
 protected:
  void SetUp() override {
    options_.shards = 2;
    options_.ring_slots = 3;
    Open();
    PolicyPatch patch;
    patch.history.enabled = true;
    Put("video", patch);
  }

  // Runs `work` until every player is done.
  template <typename Work>
  void StartBeside(const Work& work) {
    beside_.emplace_back([this, work] {
      while (!done_) work();
    });
  }
  void Report(const std::string& user, const std::string& item, int64_t at_ms, int32_t progress) {
    const Watch watch{.progress_s = progress};
    const seendb::Play play{IdRef(user), IdRef(item), at_ms, &watch};
    while (true) {
      const auto recorded = engine_->RecordPlays({&play, 1}, {.collection = "video"});
      if (recorded.ok()) return;
      ASSERT_EQ(recorded.status().code(), StatusCode::kBusy) << recorded.status().ToString();
      std::this_thread::yield();  // a drain makes room
    }
  }
  std::map<std::string, int32_t> ProgressOf(const std::string& user) {
    std::map<std::string, int32_t> progress;
    std::string cursor;
    do {
      HistoryPage page;
      const Status read =
          engine_->ReadHistory({.user = IdRef(user), .limit = 3, .cursor = cursor}, &page);
      EXPECT_TRUE(read.ok()) << read.ToString();
      EXPECT_FALSE(page.degraded);
      for (const HistoryEntry& entry : page.entries) {
        EXPECT_TRUE(progress.emplace(entry.item, entry.progress_s).second) << entry.item;
      }
      cursor = page.cursor;
    } while (!cursor.empty());
    return progress;
  }
  // One player of eight items, who deletes some and clears all now and then.
  void PlayAlone(const std::string& user) {
    std::map<std::string, int32_t> told;
    int64_t at_ms = kStartMs;
    for (int32_t round = 1; round <= kRounds && !HasFailure(); ++round) {
      const std::string item = "v" + std::to_string(round * 7 % 8);
      Report(user, item, ++at_ms, round);
      told[item] = round;
      ASSERT_EQ(ProgressOf(user), told) << user << ", round " << round;
      if (round % 11 == 0) {
        const IdRef gone(item);
        ASSERT_TRUE(engine_->DeleteHistory(IdRef(user), "video", {&gone, 1}).ok());
        told.erase(item);
        Report(user, item, at_ms, round + 1000);  // late
      }
      if (round % 37 == 0) {
        ASSERT_TRUE(engine_->ClearHistory(IdRef(user)).ok());
        told.clear();
      }
      ASSERT_EQ(ProgressOf(user), told) << user << ", after round " << round;
    }
  }
  static Items Both(const std::string& item) { return {"seen " + item, "watched " + item}; }
  // What is known of the user and `items`: "seen v0", "watched v0".
  Items Known(const std::string& user, const Items& items) {
    const std::vector<IdRef> ids(items.begin(), items.end());
    FilterRequest request;
    request.collection = "video";
    request.user = IdRef(user);
    request.items = ids;
    FilterResponse answer;
    HistoryLookup found;
    EXPECT_TRUE(engine_->Filter(request, &answer).ok());
    EXPECT_TRUE(engine_->LookupHistory(IdRef(user), "video", ids, &found).ok());
    std::vector<bool> seen(items.size(), true);
    for (const uint32_t at : answer.unseen) seen[at] = false;
    Items known;
    for (size_t i = 0; i < items.size(); ++i) {
      if (seen[i]) known.push_back("seen " + items[i]);
      if (found.entries[i]) known.push_back("watched " + items[i]);
    }
    return known;
  }
  // New items, one after the other; known wherever no clear lay beside.
  void PlayOn(const Items& items) {
    for (size_t n = 0; n < items.size() && !HasFailure(); ++n) {
      const int begun = begun_;
      const bool idle = ended_ == begun;
      Report("u0", items[n], kStartMs + 1 + static_cast<int64_t>(n), 1);
      const Items known = Known("u0", {items[n]});
      if (idle && begun_ == begun) {
        EXPECT_EQ(known, Both(items[n])) << "after " << begun << " clears";
      }
      played_ = n + 1;
    }
  }
  // Clears, and lets some plays pass, until there are no more.
  void ClearOn(const Items& items) {
    while (!done_ && !HasFailure()) {
      const size_t before = played_;
      ++begun_;
      ASSERT_TRUE(engine_->ClearHistory(IdRef("u0"), {.filter = true}).ok());
      EXPECT_EQ(Known("u0", {items.begin(), items.begin() + static_cast<int64_t>(before)}),
                Items{});
      ++ended_;
      for (const size_t after = played_; !done_ && played_ < after + 3;) std::this_thread::yield();
    }
  }

  std::atomic<bool> done_{false};
  std::atomic<int> begun_{0}, ended_{0};  // clears
  std::atomic<size_t> played_{0};
  std::vector<std::thread> beside_;
};

TEST_F(HistoryConcurrencyTest, PlayersReadWhatTheyWereTold) {
  StartBeside([this] { EXPECT_TRUE(engine_->Drain().ok()); });
  StartBeside([this] {
    EXPECT_TRUE(engine_->SealClosed().ok());
    EXPECT_TRUE(engine_->Sync().ok());
    EXPECT_TRUE(engine_->Inspect(IdRef("u0")).ok());
  });
  std::vector<std::thread> players;
  for (int i = 0; i < 3; ++i) {
    players.emplace_back([this, i] { PlayAlone("u" + std::to_string(i)); });
  }
  for (std::thread& player : players) player.join();
  done_ = true;
  for (std::thread& thread : beside_) thread.join();
}

TEST_F(HistoryConcurrencyTest, FiltersAreClearedInTheMiddleOfPlays) {
  const Items items = Numbered("v", kRounds);
  Report("other", "v0", kStartMs, 1);
  StartBeside([this] { EXPECT_TRUE(engine_->Drain().ok()); });
  StartBeside([this] { EXPECT_TRUE(engine_->SealClosed().ok()); });
  beside_.emplace_back([&] { ClearOn(items); });
  PlayOn(items);
  done_ = true;
  for (std::thread& thread : beside_) thread.join();
  Report("u0", "last", kStartMs + kHourMs, 1);
  EXPECT_EQ(Known("u0", {"last"}), Both("last"));
  const Items left = Known("u0", items);
  EXPECT_EQ(Known("other", items), Both("v0"));
  Reopen();
  EXPECT_EQ(Known("u0", items), left) << "replayed";
  EXPECT_EQ(Known("u0", {"last"}), Both("last"));
  ASSERT_TRUE(engine_->ClearHistory(IdRef("u0"), {.filter = true}).ok());
  Reopen();
  EXPECT_EQ(Known("u0", items), Items{});
  EXPECT_EQ(Known("other", items), Both("v0"));
}

// An entry that gets a newer state while a page is read is in it, with the one or the other.
TEST_F(HistoryConcurrencyTest, APageHasEveryEntryWhileTheyAreWritten) {
  constexpr int kItems = 150;
  const Items items = Numbered("v", kItems);
  std::atomic<int64_t> at_ms{kStartMs - 10 * kHourMs};
  for (const std::string& item : items) Report("u", item, ++at_ms, 0);
  std::atomic<bool> pauses{false};
  // Few drains: each leaves rows of the timeline that all later pages pass over.
  beside_.emplace_back([this] {
    for (int drains = 0; drains < 5 && !done_; ++drains) {
      EXPECT_TRUE(engine_->Drain().ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
  StartBeside([this, &items, &pauses, &at_ms] {
    for (int i = 0; i < 5; ++i) {
      const int64_t next = ++at_ms;
      Report("u", items[static_cast<size_t>(next * 7 % kItems)], next, 1);
    }
    if (pauses) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  });
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    pauses = round % 2 == 0;
    HistoryPage page;
    EXPECT_TRUE(engine_->ReadHistory({.user = IdRef("u"), .limit = 1'000}, &page).ok());
    std::set<std::string> found;
    int64_t before_ms = INT64_MAX;
    for (const HistoryEntry& entry : page.entries) {
      EXPECT_TRUE(found.insert(entry.item).second) << entry.item;
      EXPECT_LE(entry.at_ms, before_ms);
      before_ms = entry.at_ms;
    }
    EXPECT_EQ(found.size(), static_cast<size_t>(kItems)) << "round " << round;
  }
  done_ = true;
  for (std::thread& thread : beside_) thread.join();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
