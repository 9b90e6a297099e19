// Pages that one user asks for at the same moment, each recorded as it is answered: no item is
// served twice.

#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "shard/user_turns.h"
#include "support/engine_fixture.h"
#include "support/hold.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr size_t kPages = 1'000, kPageItems = 20, kCandidates = 120;

class PagesConcurrencyTest : public EngineTest {
 protected:
  // The next pages of a user out of `items`, best first, as a device asks for them.
  void AskForPages(const std::string& user, const std::vector<IdRef>& items, size_t pages) {
    FilterRequest request;
    request.collection = "pages";
    request.user = IdRef(user);
    request.limit = kPageItems;
    request.record = true;
    FilterResponse answer;
    std::vector<uint32_t> got;
    size_t from = 0;
    for (size_t page = 0; page < pages;) {
      ASSERT_LT(from + kCandidates, items.size());
      request.items = std::span(items).subspan(from, kCandidates);
      const Status asked = engine_->Filter(request, &answer);
      ASSERT_TRUE(asked.ok()) << asked.ToString();
      if (answer.unseen.empty()) {  // the other device is far ahead
        from += kCandidates;
        continue;
      }
      ++page;
      for (const uint32_t index : answer.unseen) got.push_back(static_cast<uint32_t>(from) + index);
      from += answer.unseen.front();
    }
    const std::lock_guard lock(mutex_);
    for (const uint32_t index : got) ++served_[user][index];
  }

  size_t ServedTwice() const {
    size_t twice = 0;
    for (const auto& [user, items] : served_) {
      for (const auto& [item, times] : items) twice += times > 1 ? 1 : 0;
    }
    return twice;
  }

  std::mutex mutex_;
  std::map<std::string, std::map<uint32_t, int>> served_;
};

TEST_F(PagesConcurrencyTest, TwoThreadsOfOneUserAreServedNothingTwice) {
  Open();
  PolicyPatch patch;
  patch.served_is_seen = true;
  Put("pages", patch);
  const Items names = Numbered("v", 2 * kPages * kPageItems + 2 * kCandidates);
  const std::vector<IdRef> items(names.begin(), names.end());
  std::atomic<bool> done{false};
  std::thread compacts([&] {  // else every page would merge all impressions of before
    while (!done) {
      EXPECT_TRUE(engine_->Drain().ok());
      EXPECT_TRUE(engine_->Compact().ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
  std::vector<std::thread> devices;
  for (int i = 0; i < 2; ++i) devices.emplace_back([&] { AskForPages("u1", items, kPages); });
  for (std::thread& device : devices) device.join();
  done = true;
  compacts.join();
  EXPECT_EQ(ServedTwice(), 0u);
  EXPECT_GT(served_["u1"].size(), 2 * kPages * kPageItems * 95 / 100);
}

// Tests of who waits for whom: one request is held while it has its user's turn.
class PageTurnsConcurrencyTest : public EngineTest {
 protected:
  static constexpr std::chrono::milliseconds kWhile{100};
  struct Page {
    Status status;
    FilterResponse answer;
  };

  void SetUp() override { Open(); }
  FilterRequest Request(std::string_view user) const {
    FilterRequest request;
    request.user = IdRef(user);
    request.items = items_;
    request.limit = 2;
    request.record = true;
    return request;
  }
  Page Ask(const FilterRequest& request) const {
    Page page;
    page.status = engine_->Filter(request, &page.answer);
    return page;
  }
  std::future<Page> AskBeside(const FilterRequest& request) const {
    return std::async(std::launch::async, [this, request] { return Ask(request); });
  }

  const std::vector<IdRef> items_ = {IdRef(1), IdRef(2), IdRef(3), IdRef(4), IdRef(5), IdRef(6)};
};

// Whether the first one is about to read, or about to record what it read.
TEST_F(PageTurnsConcurrencyTest, TheSecondPageWaitsForTheFirstAndOthersDoNot) {
  SEENDB_NEEDS_PAUSE_POINTS();
  for (const std::string point : {"filter: turn taken", "filter: answered"}) {
    Hold hold(point);
    const std::string user = "of " + point;
    auto first = AskBeside(Request(user));
    ASSERT_TRUE(hold.WaitReached());
    auto second = AskBeside(Request(user));
    EXPECT_EQ(second.wait_for(kWhile), std::future_status::timeout);
    // Another user, and a request that records nothing.
    EXPECT_TRUE(Ask(Request("beside " + point)).answer.recorded);
    FilterRequest looks = Request(user);
    looks.record = false;
    EXPECT_EQ(Ask(looks).answer.unseen, (std::vector<uint32_t>{0, 1}));
    hold.Release();
    EXPECT_EQ(first.get().answer.unseen, (std::vector<uint32_t>{0, 1}));
    const Page page = second.get();
    EXPECT_EQ(page.answer.unseen, (std::vector<uint32_t>{2, 3}));
    EXPECT_TRUE(page.answer.recorded);
  }
}

TEST_F(PageTurnsConcurrencyTest, ADeadlineThatEndsAmidTheWaitRecordsNothing) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Hold hold("filter: turn taken");
  auto first = AskBeside(Request("u1"));
  ASSERT_TRUE(hold.WaitReached());
  FilterRequest hasty = Request("u1");
  hasty.deadline_us = 20'000;
  Page page = Ask(hasty);
  EXPECT_TRUE(page.status.ok()) << page.status.ToString();
  EXPECT_TRUE(page.answer.degraded);
  EXPECT_EQ(page.answer.missing, std::vector<std::string>{"deadline"});
  EXPECT_FALSE(page.answer.recorded);
  hasty.on_error = OnError::kFail;
  EXPECT_EQ(Ask(hasty).status.code(), StatusCode::kUnavailable);
  hold.Release();
  EXPECT_TRUE(first.get().answer.recorded);
  // Whoever gave up left the line: nothing was recorded but the first page.
  EXPECT_EQ(Ask(Request("u1")).answer.unseen, (std::vector<uint32_t>{2, 3}));
}

TEST_F(PageTurnsConcurrencyTest, ATurnComesToWhoWaitsWithoutAThread) {
  SEENDB_NEEDS_PAUSE_POINTS();
  Hold hold("filter: turn taken");
  auto first = AskBeside(Request("u1"));
  ASSERT_TRUE(hold.WaitReached());
  std::promise<FilterTurn> came;
  const FilterOnTurn on_turn = [&came](FilterTurn turn) { came.set_value(std::move(turn)); };
  FilterRequest second = Request("u1");
  second.on_turn = &on_turn;
  Page page = Ask(second);
  EXPECT_EQ(page.status.code(), StatusCode::kIncomplete);
  const FilterOnTurn drops = [](const FilterTurn&) {};  // gone meanwhile
  FilterRequest third = Request("u1");
  third.on_turn = &drops;
  EXPECT_EQ(Ask(third).status.code(), StatusCode::kIncomplete);
  auto fourth = AskBeside(Request("u1"));
  hold.Release();
  FilterTurn turn = came.get_future().get();
  EXPECT_EQ(fourth.wait_for(kWhile), std::future_status::timeout);
  second.turn = &turn;
  page = Ask(second);
  EXPECT_EQ(page.answer.unseen, (std::vector<uint32_t>{2, 3}));
  turn.reset();
  EXPECT_EQ(fourth.get().answer.unseen, (std::vector<uint32_t>{4, 5}));
  EXPECT_TRUE(first.get().answer.recorded);
}

TEST_F(PageTurnsConcurrencyTest, ThoseWhoWaitAreLimitedInNumber) {
  int came = 0;  // those still waiting at the end get their turns then
  const auto turns = std::make_shared<UserTurns>();
  FilterTurn held, other;
  ASSERT_TRUE(turns->Take("u1", UserTurns::Time::max(), nullptr, &held).ok());
  const FilterOnTurn on_turn = [&came](const FilterTurn&) { ++came; };
  for (size_t i = 0; i < UserTurns::kMaxWaitingOfUser; ++i) {
    EXPECT_EQ(turns->Take("u1", UserTurns::Time::max(), &on_turn, &other).code(),
              StatusCode::kIncomplete);
  }
  EXPECT_EQ(turns->Take("u1", UserTurns::Time::max(), &on_turn, &other).code(), StatusCode::kBusy);
  EXPECT_EQ(turns->Take("u1", UserTurns::Time::max(), nullptr, &other).code(), StatusCode::kBusy);
  EXPECT_TRUE(turns->Take("u2", UserTurns::Time::max(), nullptr, &other).ok());
  held.reset();
  EXPECT_EQ(came, 64);
  EXPECT_TRUE(turns->Take("u1", UserTurns::Time::max(), nullptr, &held).ok());

  // Places of those whose deadline has passed are free.
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (turns->Take("u1", soon, &on_turn, &other).code() == StatusCode::kIncomplete) {
  }
  std::this_thread::sleep_until(soon);
  EXPECT_EQ(turns->Take("u1", UserTurns::Time::max(), &on_turn, &other).code(),
            StatusCode::kIncomplete);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
