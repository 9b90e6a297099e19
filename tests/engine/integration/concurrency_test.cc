// Everything at once: writers, readers, erasers, changes of policy, drains, seals, drops,
// rotations, on background threads and by hand. A thread that was told its play is recorded sees
// it in its next filter request, always.

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using Time = std::chrono::steady_clock;

class ConcurrencyTest : public EngineTest {
 protected:
  ConcurrencyTest() {
    options_.background = true;
    options_.shards = 2;
    options_.ring_slots = 3;
    options_.slot_ms = 50;
    options_.slot_bytes_max = 1 << 20;
    options_.sync_interval_ms = 20;
    options_.list_limit = 64;
    options_.maintenance_end_minute = 0;  // the whole day
  }

  void Start(const std::function<void()>& work) {
    threads_.emplace_back([this, work] {
      while (!stop_) work();
    });
  }
  // Lets the threads work for `time`, then for as long as `enough` is false, a minute at most: how
  // much a thread gets done in a time is the machine's affair.
  void RunFor(std::chrono::milliseconds time, const std::function<bool()>& enough) {
    std::this_thread::sleep_for(time);
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!enough() && !stop_ && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // Whether all of `items` are seen, by one request of this thread.
  bool AllSeen(const std::string& user, const Items& items, const std::string& collection) {
    const std::vector<IdRef> ids(items.begin(), items.end());
    FilterRequest request;
    request.collection = collection;
    request.user = IdRef(user);
    request.items = ids;
    thread_local FilterResponse answer;
    const Status s = engine_->Filter(request, &answer);
    if (!s.ok() || answer.degraded || !answer.unseen.empty()) {
      ADD_FAILURE() << user << " in " << collection << ": " << s.ToString() << ", "
                    << answer.unseen.size() << " of " << items.size() << " unseen, first "
                    << (answer.unseen.empty() ? "" : items[answer.unseen[0]])
                    << (answer.degraded ? ", degraded" : "");
      return false;
    }
    return true;
  }
  // Records, and looks at once: at the new items and at all before.
  void PlayAndLook(const std::string& user, Items* played, const std::string& collection) {
    const size_t before = played->size();
    for (size_t i = 0; i < 7; ++i) played->push_back(user + "-" + std::to_string(before + i));
    std::vector<seendb::Play> plays;
    for (size_t i = before; i < played->size(); ++i) {
      plays.push_back({IdRef(user), IdRef((*played)[i])});
    }
    const auto recorded = engine_->RecordPlays(plays, {.collection = collection});
    if (!recorded.ok()) {
      played->resize(before);
      if (recorded.status().code() != StatusCode::kBusy) {
        ADD_FAILURE() << recorded.status().ToString();
      }
      return;
    }
    if (recorded->accepted != plays.size()) ADD_FAILURE() << "refused";
    if (!AllSeen(user, *played, collection)) stop_ = true;
    acknowledged_ += plays.size();
    if (played->size() > 3000) played->erase(played->begin(), played->begin() + 1500);
  }
  // A play of a user that this thread erases now and then.
  void PlayAndErase(const std::string& user, int* round) {
    const std::string item = "r" + std::to_string(++*round);
    // After the erasure by the clock, or it would be refused.
    const seendb::Play play{IdRef(user), IdRef(item), engine_->NowMs() + 60'000};
    const auto recorded = engine_->RecordPlays({&play, 1});
    if (!recorded.ok()) return;
    if (!AllSeen(user, {item}, "default")) stop_ = true;
    if (*round % 3 != 0) return;
    const Status erased = engine_->EraseUser(IdRef(user));
    if (!erased.ok()) ADD_FAILURE() << erased.ToString();
    const IdRef id(item);
    FilterRequest request;
    request.user = IdRef(user);
    request.items = {&id, 1};
    thread_local FilterResponse answer;
    const Status s = engine_->Filter(request, &answer);
    if (!s.ok() || answer.unseen.size() != 1) {
      ADD_FAILURE() << "still seen after the erasure";
      stop_ = true;
    }
  }
  void Expect(const Status& status, const char* what) {
    if (!status.ok()) {
      ADD_FAILURE() << what << ": " << status.ToString();
      stop_ = true;
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> acknowledged_{0};
  std::vector<std::thread> threads_;
};

TEST_F(ConcurrencyTest, EveryAcknowledgedPlayIsSeenAtOnceWhateverElseGoesOn) {
  // The machine's clock: background work and event time move by themselves.
  Result<std::unique_ptr<Engine>> opened = Engine::Open(Path(), options_);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  engine_ = std::move(opened).value();
  PolicyPatch days;
  days.bucket = BucketSpec{BucketKind::kDays, 1};
  days.window = 3;
  days.retention = 4;
  days.served_is_seen = true;
  Put("days", days);

  std::vector<Items> played(4);
  for (size_t writer = 0; writer < 4; ++writer) {
    const std::string user = "w" + std::to_string(writer);
    Start([this, user, mine = &played[writer], writer] {
      PlayAndLook(user, mine, writer % 2 == 0 ? "default" : "days");
    });
  }
  int erasures[2] = {0, 0};
  for (size_t i = 0; i < 2; ++i) {
    Start([this, i, &erasures] { PlayAndErase("e" + std::to_string(i), &erasures[i]); });
  }
  int served = 0;
  Start([this, &served] {
    const std::string item = "s" + std::to_string(++served);
    const Impression impression{IdRef("shown"), IdRef(item)};
    const auto recorded = engine_->RecordImpressions({&impression, 1}, {.collection = "days"});
    if (recorded.ok() && !AllSeen("shown", {item}, "days")) stop_ = true;
  });
  uint32_t change = 0;
  Start([this, &change] {
    PolicyPatch patch;
    patch.retention = 4 + ++change % 3;
    patch.impressions = 50 + change % 50;
    patch.max_filter_bytes = (1 << 20) + change;
    Expect(engine_->PutCollection("days", patch), "policy");
    Expect(engine_->DropExpired(), "drop");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  Start([this] {
    Expect(engine_->Drain(), "drain");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  });
  Start([this] {
    for (const BucketInfo& bucket : engine_->Buckets()) {
      const Status sealed = engine_->Seal(bucket.collection, bucket.bucket);
      if (sealed.code() != StatusCode::kNotFound) Expect(sealed, "seal");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  Start([this] {
    Expect(engine_->RunDue(), "due");
    Expect(engine_->Sync(), "sync");
    EXPECT_TRUE(engine_->Inspect(IdRef("w1")).ok());
    EXPECT_TRUE(engine_->Verify().ok());
    EXPECT_EQ(engine_->Stats().shards, 2u);
    EXPECT_EQ(engine_->Ring().size(), 6u);
    EXPECT_TRUE(engine_->Scan("", [](const ScanRow&) { return true; }).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  RunFor(std::chrono::milliseconds(2500),
         [this] { return acknowledged_ > 100 && engine_->Stats().drains > 0; });

  EXPECT_GT(acknowledged_.load(), 100u);
  const EngineStats stats = engine_->Stats();
  EXPECT_EQ(stats.damaged, 0u);
  EXPECT_GT(stats.drains, 0u);
  for (const std::string& problem : stats.problems) ADD_FAILURE() << problem;
  ASSERT_TRUE(engine_->Close().ok());
  options_.background = false;
  opened = Engine::Open(Path(), options_);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  engine_ = std::move(opened).value();
  for (size_t writer = 0; writer < 4; ++writer) {
    AllSeen("w" + std::to_string(writer), played[writer], writer % 2 == 0 ? "default" : "days");
  }
}

// Days go by in moments: buckets are made, sealed and dropped under the writers' feet.
TEST_F(ConcurrencyTest, DaysGoByUnderTheWriters) {
  options_.background = false;
  options_.slot_ms = kHourMs;
  Open();
  PolicyPatch days;
  days.bucket = BucketSpec{BucketKind::kDays, 1};
  days.window = 2;
  days.retention = 2;
  Put("days", days);
  std::atomic<uint64_t> turns{0};
  for (int writer = 0; writer < 3; ++writer) {
    const std::string user = "w" + std::to_string(writer);
    Start([this, user, round = 0]() mutable {
      const std::string item = user + "-" + std::to_string(++round);
      const seendb::Play play{IdRef(user), IdRef(item)};
      const int64_t before = clock_.NowMs();
      const auto recorded = engine_->RecordPlays({&play, 1}, {.collection = "days"});
      if (!recorded.ok()) return;
      const IdRef id(item);
      FilterRequest request;
      request.collection = "days";
      request.user = play.user;
      request.items = {&id, 1};
      thread_local FilterResponse answer;
      const Status s = engine_->Filter(request, &answer);
      // Between recording and asking the window may have moved on.
      if (clock_.NowMs() - before >= kDayMs) return;
      if (!s.ok() || answer.degraded || !answer.unseen.empty()) {
        ADD_FAILURE() << item << " is unseen " << s.ToString();
        stop_ = true;
      }
      ++acknowledged_;
    });
  }
  Start([this, &turns] {
    clock_.Advance(5 * kHourMs);
    Expect(engine_->RunDue(), "due");
    ++turns;
  });
  RunFor(std::chrono::milliseconds(2500),
         [this, &turns] { return acknowledged_ > 50 && turns > 5; });
  EXPECT_GT(acknowledged_.load(), 50u);
  EXPECT_GT(turns.load(), 5u);
  EXPECT_EQ(engine_->Stats().damaged, 0u);
  ASSERT_TRUE(engine_->DropExpired().ok());
  size_t buckets = 0;
  for (const BucketInfo& bucket : engine_->Buckets()) buckets += bucket.collection == "days";
  EXPECT_LE(buckets, 4u);
}

// Many threads fill slots; the ring turns once for each that is full, not once for each thread.
TEST_F(ConcurrencyTest, AFullSlotTurnsOnce) {
  options_.background = false;
  options_.shards = 1;
  options_.ring_slots = 64;
  options_.slot_ms = kHourMs * 24;
  options_.slot_bytes_max = 600'000;
  Open();
  const Items items = Numbered("v", 300);
  std::atomic<int> batch{0};
  for (int thread = 0; thread < 8; ++thread) {
    threads_.emplace_back([this, &items, &batch] {
      for (int n = batch++; n < 320; n = batch++) {
        const std::string user = "u" + std::to_string(n);
        std::vector<seendb::Play> plays;
        for (const std::string& item : items) plays.push_back({IdRef(user), IdRef(item)});
        const auto recorded = engine_->RecordPlays(plays);
        if (!recorded.ok()) ADD_FAILURE() << recorded.status().ToString();
      }
    });
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  int closed = 0;
  for (const SlotInfo& slot : engine_->Ring()) {
    if (slot.state != "closed") continue;
    ++closed;
    EXPECT_GE(slot.bytes, options_.slot_bytes_max / 2) << "closed before it was full";
  }
  EXPECT_GE(closed, 1);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
