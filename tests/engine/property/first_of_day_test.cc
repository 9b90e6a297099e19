// First plays of the day against a map of the days on which each user was told: whatever is played,
// erased, drained, killed or cut off from power, and wherever the clock goes.

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class FirstOfDayPropertyTest : public EngineTest {
 protected:
  struct Known {
    Policy policy;
    std::map<std::string, int64_t> days;  // by user
  };

  size_t Below(size_t bound) { return random_() % bound; }
  std::string User() { return "u" + std::to_string(Below(12)); }

  void Create(const std::string& collection, int32_t utc_offset_minutes) {
    PolicyPatch patch;
    patch.first_of_day = true;
    patch.durability = Durability::kSync;
    patch.utc_offset_minutes = utc_offset_minutes;
    Put(collection, patch);
    known_[collection].policy = ApplyPatch(Policy(), patch);
  }
  void Switch(const std::string& collection) {
    PolicyPatch patch;
    patch.first_of_day = !known_[collection].policy.first_of_day;
    Put(collection, patch);
    known_[collection].policy = ApplyPatch(known_[collection].policy, patch);
  }

  std::optional<int64_t> SomeTime() {
    const size_t dice = Below(8);
    if (dice == 0) return clock_.NowMs() - 500 * kDayMs;  // refused
    if (dice == 1) return clock_.NowMs() - static_cast<int64_t>(Below(48)) * kHourMs;
    return std::nullopt;
  }
  bool Accepted(const seendb::Play& play) const {
    const int64_t at_ms = play.at_ms.value_or(clock_.NowMs());
    const auto erased = erased_ms_.find(play.user.ToString());
    return at_ms > clock_.NowMs() - 100 * kDayMs &&
           (erased == erased_ms_.end() || at_ms > erased->second);
  }
  void Record(const std::string& collection) {
    Known& known = known_[collection];
    const int64_t today = DayOf(known.policy, clock_.NowMs());
    const std::string days[] = {"", "", "", DayText(today), DayText(today - 1), DayText(today + 1)};
    std::deque<std::string> users;
    std::vector<seendb::Play> plays;
    std::vector<uint32_t> expected;
    for (size_t i = 0; i <= Below(10); ++i) {
      const std::string& user = users.emplace_back(User());
      plays.push_back({IdRef(user), IdRef(++items_), SomeTime(), nullptr, days[Below(6)]});
      if (!known.policy.first_of_day || !Accepted(plays.back()) || plays.back().day == days[3]) {
        continue;
      }
      const auto [last, fresh] = known.days.try_emplace(user, today);
      if (fresh || last->second < today) expected.push_back(static_cast<uint32_t>(i));
      last->second = std::max(last->second, today);
    }
    auto recorded = engine_->RecordPlays(plays, {.collection = collection});
    if (recorded.status().code() == StatusCode::kBusy) {  // every opening takes a slot
      Drain();
      recorded = engine_->RecordPlays(plays, {.collection = collection});
    }
    ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
    EXPECT_EQ(recorded->first_today, expected);
    EXPECT_EQ(recorded->day, known.policy.first_of_day ? DayText(today) : "");
  }
  // Where the clock went back into an older bucket, what the user may have played ahead of it stays
  // erased as well, and the answer says until when.
  void Erase(const std::string& user) {
    Erasure done;
    ASSERT_TRUE(engine_->EraseUser(IdRef(user), {.always = true}, &done).ok());
    int64_t& at_ms = erased_ms_.try_emplace(user, clock_.NowMs()).first->second;
    at_ms = std::max(at_ms, clock_.NowMs());
    EXPECT_GE(done.until_ms, at_ms);
    EXPECT_LE(done.until_ms, std::max(at_ms, clock_.NowMs() + Policy().max_future_ms));
    at_ms = done.until_ms;
    for (auto& [name, known] : known_) known.days.erase(user);
  }
  void Restart(bool power_cut) {
    disk_.Crash();
    engine_.reset();
    if (power_cut) disk_.PowerCut(random_());
    disk_.Revive();
    Open();
  }
  void Step() {
    const std::string collection = Below(2) == 0 ? "east" : "west";
    const size_t dice = Below(100);
    if (dice < 70) return Record(collection);
    if (dice < 80) return clock_.Advance(static_cast<int64_t>(Below(10)) * kHourMs);
    if (dice < 82) return clock_.Advance(-static_cast<int64_t>(Below(30)) * kHourMs);
    if (dice < 87) return Erase(User());
    if (dice < 91) return Drain();
    if (dice < 94) return RunDue();
    if (dice < 96) return Switch(collection);
    Restart(dice < 98);
  }

  MemDisk disk_;
  std::mt19937_64 random_;
  std::map<std::string, Known> known_;
  std::map<std::string, int64_t> erased_ms_;
  uint64_t items_ = 0;
};

TEST_F(FirstOfDayPropertyTest, EachIsToldOnce) {
  random_.seed(test::Seed());
  env_ = disk_.env();
  Open();
  Create("east", 8 * 60);
  Create("west", -90);
  for (int step = 0; step < 1'500 && !HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    Step();
  }
  engine_.reset();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
