// Through the engine: users of every speed play for four months, day by day, with drains, seals
// and drops as they fall due. No played item is ever unseen within the window, and over a full
// window the share of never-played items answered seen stays under the policy's.

#include <cmath>
#include <random>

#include "support/engine_fixture.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

struct Person {
  std::string user;
  int plays_a_day = 0;
};

class WindowFprTest : public EngineTest {
 protected:
  WindowFprTest() {
    options_.list_limit = 256;
    options_.shards = 1;
    for (int i = 0; i < 60; ++i) people_.push_back({"light" + std::to_string(i), 1});
    for (int i = 0; i < 6; ++i) people_.push_back({"median" + std::to_string(i), 20});
    people_.push_back({"heavy", 300});
  }

  std::string ItemOf(const Person& person, int64_t day, int play) const {
    return person.user + "/" + std::to_string(day) + "/" + std::to_string(play);
  }

  void PlayADay(int64_t day) {
    std::vector<std::string> items;
    for (const Person& person : people_) {
      for (int p = 0; p < person.plays_a_day; ++p) items.push_back(ItemOf(person, day, p));
    }
    std::vector<seendb::Play> plays;
    size_t at = 0;
    for (const Person& person : people_) {
      for (int p = 0; p < person.plays_a_day; ++p) {
        plays.push_back({IdRef(person.user), IdRef(items[at++])});
      }
    }
    const auto recorded = engine_->RecordPlays(plays);
    ASSERT_TRUE(recorded.ok());
    ASSERT_EQ(recorded->accepted, plays.size());
  }

  std::mt19937_64 random_{test::Seed()};
  std::vector<Person> people_;
};

TEST_F(WindowFprTest, FourMonthsOfEveryKindOfUser) {
  clock_.Set(kStartMs - 9 * kDayMs + 12 * kHourMs);  // 2026-03-02
  Open();
  const int days = 115;  // into June's last week
  for (int day = 0; day < days; ++day) {
    PlayADay(day);
    clock_.Advance(kDayMs);
    RunDue();
  }
  Drain();
  int sealed = 0;
  for (const BucketInfo& bucket : engine_->Buckets())
    sealed += bucket.state == BucketState::kSealed;
  EXPECT_EQ(sealed, 3) << "March, April and May";

  const std::string salt = std::to_string(random_());
  Items never;
  for (int i = 0; i < 4000; ++i) never.push_back(salt + "/" + std::to_string(i));
  for (const char* kind : {"light", "median", "heavy"}) {
    uint64_t hits = 0, probes = 0, bytes = 0, items = 0;
    for (const Person& person : people_) {
      if (!person.user.starts_with(kind)) continue;
      Items played;
      for (int day = 0; day < days; ++day) {
        for (int p = 0; p < person.plays_a_day; ++p) played.push_back(ItemOf(person, day, p));
      }
      ASSERT_EQ(Unseen(person.user, played), Items{}) << person.user;
      ASSERT_FALSE(answer_.degraded);
      hits += never.size() - Unseen(person.user, never).size();
      probes += never.size();
      const auto report = engine_->Inspect(IdRef(person.user), "default");
      ASSERT_TRUE(report.ok());
      EXPECT_EQ(report->buckets.size(), 4u);
      for (const BucketReport& bucket : report->buckets) {
        bytes += bucket.bytes;
        items += bucket.items;
        EXPECT_LE(bucket.fpr, 0.0025 * 1.3) << person.user << " " << bucket.bucket;
      }
    }
    const double rate = static_cast<double>(hits) / static_cast<double>(probes);
    std::cout << kind << ": rate " << rate << ", "
              << static_cast<double>(bytes) / static_cast<double>(items) << " bytes an item\n";
    EXPECT_LE(rate, 0.01 + 4 * std::sqrt(0.01 / static_cast<double>(probes))) << kind;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
