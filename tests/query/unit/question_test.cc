// A question's answer for every event by itself, beside the words of its entries.

#include "query/question.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/durations.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kNowMs = 1'773'144'000'000;  // 2026-03-10 12:00 UTC

Policy TenDays() {
  Policy policy;
  policy.bucket = {BucketKind::kDays, 10};
  policy.window = 3;
  policy.retention = 6;
  return policy;
}

CountedFacts Counted(const std::vector<NotEntry>& no, const Policy& policy) {
  const Question question{.no = no};
  const FilterRequest request{.question = &question};
  EXPECT_TRUE(CheckQuestion(question, policy).ok());
  return FactsCounted(request, policy, kNowMs);
}

TEST(Question, WithoutOneThePolicyAndTheFactsCount) {
  Policy policy = TenDays();
  const int64_t window = BucketIndexOf(policy, kNowMs) - 2;
  CountedFacts facts = FactsCounted({}, policy, kNowMs);
  EXPECT_TRUE(facts.played);
  EXPECT_EQ(facts.oldest_bucket, window);
  EXPECT_EQ(facts.touched_bucket, window);
  EXPECT_EQ(facts.oldest_read, window);
  EXPECT_EQ(facts.served.oldest_ms(), BucketBeginMs(policy, window));
  EXPECT_TRUE(facts.exposed.empty());
  EXPECT_FALSE(facts.asked);
  policy.exposed_is_seen = true;
  facts = FactsCounted({.facts = kFactImpressions}, policy, kNowMs);
  EXPECT_FALSE(facts.played);
  EXPECT_EQ(facts.exposed.oldest_ms(), BucketBeginMs(policy, window)) << "less than 30 days";
}

// An entry by the words of its members.
bool Meets(const NotEntry& entry, const Policy& policy, int64_t at_ms) {
  const int64_t bucket = BucketIndexOf(policy, at_ms), now = BucketIndexOf(policy, kNowMs);
  const bool names_none = !entry.window && !entry.within_ms;
  if (entry.window && bucket <= now - static_cast<int64_t>(*entry.window)) return false;
  if (names_none && bucket <= now - static_cast<int64_t>(policy.window)) return false;
  return !entry.within_ms || at_ms >= kNowMs - *entry.within_ms;
}

TEST(Question, EveryEventAsItsEntriesSay) {
  std::mt19937 dice(7);
  const Policy policy = TenDays();
  const auto some = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(1, most)(dice);
  };
  for (int round = 0; round < 2'000; ++round) {
    std::vector<NotEntry> no(static_cast<size_t>(some(3)));
    for (NotEntry& entry : no) {
      entry.fact = static_cast<Fact>(some(3) - 1);
      if (some(2) == 1) entry.window = static_cast<uint32_t>(some(6));
      if (some(2) == 1) entry.within_ms = some(50 * kMsPerDay);
    }
    const CountedFacts facts = Counted(no, policy);
    for (int i = 0; i < 50; ++i) {
      const int64_t at_ms = kNowMs - some(59 * kMsPerDay);
      bool played = false, served = false, exposed = false;
      for (const NotEntry& entry : no) {
        bool& which = entry.fact == Fact::kPlayed   ? played
                      : entry.fact == Fact::kServed ? served
                                                    : exposed;
        which = which || Meets(entry, policy, at_ms);
      }
      const int64_t bucket = BucketIndexOf(policy, at_ms);
      const bool kept = bucket >= OldestBucket(policy, kNowMs);
      if (played && kept) {
        EXPECT_TRUE(facts.played && bucket >= facts.touched_bucket);
      }
      if (!played && facts.played) {
        EXPECT_LT(bucket, facts.oldest_bucket) << "counts and is not told as coarse";
      }
      if (facts.played && kept && bucket >= facts.touched_bucket && bucket < facts.oldest_bucket) {
        EXPECT_EQ(at_ms >= facts.played_from_ms, played) << "what history can tell apart";
      }
      EXPECT_EQ(facts.served.Count(0, at_ms, {}), served);
      const bool young = at_ms >= kNowMs - 30 * kMsPerDay;
      EXPECT_EQ(facts.exposed.Count(0, at_ms, {}), exposed && young);
      if (served || (exposed && young) || (played && kept)) {
        EXPECT_LE(facts.oldest_read, bucket);
      }
    }
    EXPECT_GE(facts.touched_bucket, facts.oldest_bucket - 1) << "one bucket is touched at most";
  }
}

TEST(Question, SurfacesAndPlacesAreOfTheSameEntry) {
  const CountedFacts facts = Counted({{.fact = Fact::kServed, .surface = "home", .last = 2},
                                      {.fact = Fact::kServed, .surface = "search"}},
                                     TenDays());
  EXPECT_TRUE(facts.served.Count(1, kNowMs, "home"));
  EXPECT_FALSE(facts.served.Count(2, kNowMs, "home"));
  EXPECT_TRUE(facts.served.Count(2, kNowMs, "search"));
  EXPECT_FALSE(facts.served.Count(0, kNowMs, ""));
}

TEST(Question, TooManyEntriesAreRefused) {
  const std::vector<NotEntry> most(kMaxNotEntries), more(kMaxNotEntries + 1);
  EXPECT_TRUE(CheckQuestion({.no = most}, {}).ok());
  EXPECT_EQ(CheckQuestion({.no = more}, {}).field(), "/not");
  const NotEntry unknown{.fact = static_cast<Fact>(3)};
  EXPECT_EQ(CheckQuestion({.no = {&unknown, 1}}, {}).field(), "/not/0/fact");
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
