// Filters with `verify`, whose Bloom filters are wrong about half the time, against an exact set:
// whatever is done to history, no seen item is ever refuted; nor, where the clock is set ahead and
// back, is it unseen but in an answer that says `degraded`.

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class VerifyPropertyTest : public EngineTest {
 protected:
  VerifyPropertyTest() {
    options_.ring_slots = 8;
    options_.list_limit = 16;  // filters early
  }
  ~VerifyPropertyTest() override { engine_.reset(); }

  size_t Below(size_t bound) { return random_() % bound; }
  bool Chance(int percent) { return static_cast<int>(Below(100)) < percent; }
  const std::string& User() { return kUsers[Below(kUsers.size())]; }
  Items SomeItems(size_t most) {
    Items items;
    for (size_t i = 0; i <= Below(most); ++i) items.push_back(kItems[Below(kItems.size())]);
    return items;
  }
  static void Check(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }

  void Change(const PolicyPatch& patch) {
    Put("c", patch);
    policy_ = ApplyPatch(policy_, patch);
  }
  void Create() {
    PolicyPatch patch;
    patch.bucket = BucketSpec{BucketKind::kDays, 1};
    patch.window = 3;
    patch.retention = 5;
    patch.fpr = 0.5;
    patch.impressions = 0;
    patch.max_future_ms = 2 * kHourMs;
    patch.history.enabled = Chance(90);
    patch.history.days = 6;
    Change(patch);
  }
  // Most of what makes history less than the filters know.
  PolicyPatch RandomPatch() {
    PolicyPatch patch;
    const size_t dice = Below(6);
    if (dice == 0) patch.history.enabled = Chance(85);
    if (dice == 1) patch.served_is_seen = Chance(12);
    if (dice == 2) patch.max_future_ms = static_cast<int64_t>(Below(Chance(80) ? 4 : 40)) * kHourMs;
    if (dice == 3) patch.history.days = 1 + static_cast<uint32_t>(Below(6));
    if (dice == 4) patch.history.max_entries = Chance(50) ? 10'000 : 5;
    if (dice == 5) patch.history.ids_only = Chance(50);
    return patch;
  }
  int64_t SomeTime() {
    const int64_t latest = policy_.max_future_ms;
    if (Chance(60)) return clock_.NowMs();
    if (Chance(40))
      return clock_.NowMs() + static_cast<int64_t>(Below(40)) * kHourMs % (latest + 1);
    return clock_.NowMs() - static_cast<int64_t>(Below(4 * 24)) * kHourMs;
  }
  void Learn(const std::string& user, const Items& items, int64_t at_ms, uint64_t accepted) {
    ASSERT_TRUE(accepted == 0 || accepted == items.size());
    if (accepted == 0) return;
    for (const std::string& item : items) {
      int64_t& newest = seen_[user].emplace(item, INT64_MIN).first->second;
      newest = std::max(newest, BucketIndexOf(policy_, at_ms));
    }
  }

  void Step() {
    const size_t dice = Below(100);
    const std::string user = User();
    if (dice < 45) {
      const Items items = SomeItems(40);
      const int64_t at_ms = SomeTime();
      Learn(user, items, at_ms, Play(user, items, at_ms, "c"));
    } else if (dice < 49) {
      const Items items = SomeItems(10);
      const uint64_t accepted = Serve(user, items, clock_.NowMs(), "c");
      if (policy_.served_is_seen) Learn(user, items, clock_.NowMs(), accepted);
    } else if (dice < 54 && policy_.history.enabled) {
      const Items items = SomeItems(6);
      const std::vector<IdRef> ids(items.begin(), items.end());
      Check(engine_->DeleteHistory(IdRef(user), "c", ids));
    } else if (dice < 55 && policy_.history.enabled) {
      Check(engine_->ClearHistory(IdRef(user)));
    } else if (dice < 57) {
      Check(engine_->SetRecording(IdRef(user), Chance(25)));
    } else if (dice < 58) {
      Check(engine_->EraseUser(IdRef(user), {.always = true}));
      seen_[user].clear();
    } else if (dice < 60) {
      Change(RandomPatch());
    } else if (dice < 78) {
      const int64_t steps[] = {1, kHourMs, 5 * kHourMs, 13 * kHourMs, kDayMs};
      if (swings_ && Chance(30)) return Swing();
      clock_.Advance(steps[Below(5)]);
    } else {
      Upkeep(dice);
    }
  }
  // The clock goes ahead for some steps, or is set back.
  void Swing() {
    const int64_t steps[] = {1, 13 * kHourMs, 3 * kDayMs, 9 * kDayMs, 200 * kDayMs};
    const int64_t step = steps[Below(5)];
    if (Chance(30)) return clock_.Advance(-std::min(step, 3 * kDayMs));
    clock_.Advance(step);
    for (size_t left = Below(4); left > 0; --left) Upkeep(78 + Below(20));
    if (Chance(30)) Check(engine_->SetRecording(IdRef(User()), Chance(25)));
    clock_.Advance(-step);
  }
  void Upkeep(size_t dice) {
    if (dice < 88) {
      Drain();
      openings_ = 0;
    } else if (dice < 92) {
      Check(engine_->SealClosed());
      // Small filters are wrong most often.
      const Status sealed =
          engine_->Seal("c", BucketLabel(policy_, BucketIndexOf(policy_, clock_.NowMs())));
      ASSERT_TRUE(sealed.ok() || sealed.code() == StatusCode::kNotFound) << sealed.ToString();
    } else if (dice < 95) {
      Check(engine_->DropExpired());
    } else {
      if (++openings_ > 5) Drain();
      if (openings_ > 5) openings_ = 1;
      if (dice >= 98) disk_.Crash();
      engine_.reset();
      disk_.Revive();
      Open();
    }
  }

  void ExpectNoneRefuted(const std::string& user) {
    const int64_t oldest =
        BucketIndexOf(policy_, clock_.NowMs()) - static_cast<int64_t>(policy_.window) + 1;
    const std::vector<IdRef> ids(kItems.begin(), kItems.end());
    FilterRequest request;
    request.collection = "c";
    request.user = IdRef(user);
    request.items = ids;
    request.facts = kFactPlays;
    request.verify = true;
    request.explain = Chance(50);
    Check(engine_->Filter(request, &answer_));
    ASSERT_EQ(answer_.unseen.size() + answer_.seen, kItems.size());
    refuted_ += answer_.refuted;
    if (swings_ && answer_.degraded) return;
    ASSERT_FALSE(answer_.degraded);
    ++certain_;
    for (const uint32_t at : answer_.unseen) {
      const auto known = seen_[user].find(kItems[at]);
      ASSERT_TRUE(known == seen_[user].end() || known->second < oldest)
          << user << " saw " << kItems[at] << " in " << BucketLabel(policy_, known->second);
    }
  }

  const Items kUsers = {"u1", "17"};
  const Items kItems = Numbered("i", 300);
  std::mt19937_64 random_{test::Seed()};
  MemDisk disk_;
  Policy policy_;
  std::map<std::string, std::map<std::string, int64_t>> seen_;  // the newest bucket of each item
  int openings_ = 0;                                            // since the last drain, or more
  uint64_t refuted_ = 0, certain_ = 0;
  bool swings_ = false;  // the clock does
};

TEST_F(VerifyPropertyTest, NoSeenItemIsRefuted) {
  env_ = disk_.env();
  Open();
  Create();
  for (int step = 0; step < 400; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    Step();
    for (const std::string& user : kUsers) ExpectNoneRefuted(user);
    if (HasFailure()) return;
  }
  RecordProperty("refuted", std::to_string(refuted_));
  std::cout << refuted_ << " refuted" << std::endl;
}

TEST_F(VerifyPropertyTest, NorWhereTheClockSwings) {
  env_ = disk_.env();
  swings_ = true;
  Open();
  Create();
  for (int step = 0; step < 400; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    Step();
    for (const std::string& user : kUsers) ExpectNoneRefuted(user);
    if (HasFailure()) return;
  }
  std::cout << certain_ << " certain, " << refuted_ << " refuted" << std::endl;
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
