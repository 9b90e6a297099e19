// When items were seen last, beside a plain walk over the same sources.

#include "query/repeats.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/durations.h"
#include "format/bytes.h"
#include "query/probe.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kNowMs = 1'773'144'000'000;  // 2026-03-10 12:00 UTC

const AdmitRepeat kAnyItem = [](uint32_t) { return true; };

Policy Daily() {
  Policy policy;
  policy.bucket = {BucketKind::kDays, 1};
  return policy;
}

// A source with bytes of its own.
struct Made {
  SourceView view;
  std::vector<uint8_t> packed;
  std::vector<ItemTime> times;

  Made(ReasonKind kind, int64_t bucket, std::vector<ItemTime> items) : times(std::move(items)) {
    view.kind = kind;
    view.bucket = view.newest_bucket = bucket;
    std::sort(times.begin(), times.end(), [](const ItemTime& a, const ItemTime& b) {
      return a.item != b.item ? a.item < b.item : a.at_ms > b.at_ms;
    });
    for (const ItemTime& one : times) {
      if (view.view.list_count > 0 && LoadFingerprint(&packed[packed.size() - 6]) == one.item) {
        continue;
      }
      packed.resize(packed.size() + kFingerprintBytes);
      StoreFingerprint(one.item, &packed[packed.size() - kFingerprintBytes]);
      ++view.view.list_count;
    }
    view.view.list = packed.data();
    if (kind == ReasonKind::kImpression || kind == ReasonKind::kExposed) view.times = times;
  }
};

TEST(Repeats, ATimeIsTheLatestOfAllSources) {
  std::mt19937 dice(11);
  const Policy policy = Daily();
  const int64_t today = BucketIndexOf(policy, kNowMs);
  const auto some = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most)(dice);
  };
  for (int round = 0; round < 300; ++round) {
    std::map<Fingerprint, int64_t> latest;
    std::vector<Made> made;
    made.reserve(6);
    for (const ReasonKind kind : {ReasonKind::kImpression, ReasonKind::kExposed, ReasonKind::kRing,
                                  ReasonKind::kPlay, ReasonKind::kPlay, ReasonKind::kPlay}) {
      const bool list = kind == ReasonKind::kImpression || kind == ReasonKind::kExposed;
      const int64_t bucket = today - some(30);
      std::vector<ItemTime> items;
      for (int64_t i = some(8); i > 0; --i) {
        const auto item = static_cast<Fingerprint>(some(20) + 1);
        const int64_t at_ms = list ? kNowMs - some(30 * kMsPerDay) : kNeverMs;
        items.push_back({item, at_ms});
        const int64_t counts_ms = list ? at_ms : BucketBeginMs(policy, bucket + 1);
        latest[item] = std::max(latest.contains(item) ? latest[item] : kNeverMs, counts_ms);
      }
      made.emplace_back(kind, bucket, std::move(items));
    }
    std::vector<SourceView> sources;
    for (const Made& one : made) sources.push_back(one.view);
    Candidates candidates;
    for (Fingerprint item = 1; item <= 21; ++item) candidates.fingerprints.push_back(item);
    candidates.verdicts.assign(21, 0);
    candidates.repeats.assign(21, 0);
    ProbeRange(sources, 0, 21, &candidates);
    Candidates scratch;
    const std::vector<SeenCandidate> seen =
        SeenByFacts(sources, candidates, policy, nullptr, &scratch);
    ASSERT_EQ(seen.size(), latest.size());
    for (const SeenCandidate& one : seen) {
      EXPECT_EQ(std::max(one.listed_ms, one.played_ms),
                latest.at(candidates.fingerprints[one.position]));
    }
    const WhenShort asked{.need = 1, .gap_ms = some(30 * kMsPerDay) + 1, .max = 4};
    std::vector<uint32_t> repeats;
    TakeRepeats(seen, asked, kNowMs, kAnyItem, &repeats);
    std::vector<std::pair<int64_t, uint32_t>> model;
    for (const auto& [item, at_ms] : latest) {
      if (at_ms <= kNowMs - asked.gap_ms)
        model.emplace_back(at_ms, static_cast<uint32_t>(item - 1));
    }
    std::sort(model.begin(), model.end());
    if (model.size() > 4) model.resize(4);
    ASSERT_EQ(repeats.size(), model.size());
    for (size_t i = 0; i < model.size(); ++i) EXPECT_EQ(repeats[i], model[i].second);
  }
}

TEST(Repeats, WhatNoFactMadeSeenIsLeftOut) {
  const Policy policy = Daily();
  const int64_t old = BucketIndexOf(policy, kNowMs) - 30;
  std::vector<Made> made;
  made.reserve(3);
  made.emplace_back(ReasonKind::kExcluded, 0, std::vector<ItemTime>{{1}});
  made.emplace_back(ReasonKind::kMarked, 0, std::vector<ItemTime>{});
  made.emplace_back(ReasonKind::kPlay, old, std::vector<ItemTime>{{1}, {2}, {3}, {4}});
  const std::vector<SourceView> sources{made[0].view, made[1].view, made[2].view};
  Candidates candidates;
  candidates.fingerprints = {1, 2, 3, 3, 4, 5};
  candidates.verdicts = {1, 2, 3, 3, 3, 0};
  candidates.repeats = {0, 0, 0, 1, 0, 0};
  CollectionMarks lifts;
  lifts.overrides[4] = {.at_ms = kNowMs, .seq = 1};
  Candidates scratch;
  const std::vector<SeenCandidate> seen =
      SeenByFacts(sources, candidates, policy, &lifts, &scratch);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].position, 2u);
  EXPECT_EQ(seen[0].played_bucket, old);
  EXPECT_EQ(seen[1].position, 4u);
  EXPECT_FALSE(seen[1].played_bucket) << "a deletion lifts the play";
  std::vector<uint32_t> repeats;
  SeenCandidate timeless;
  timeless.position = 7;
  TakeRepeats({timeless}, {.need = 1, .gap_ms = 1, .max = 1}, kNowMs, kAnyItem, &repeats);
  EXPECT_TRUE(repeats.empty()) << "nothing is known of its time";
}

TEST(Repeats, WhatThePageDoesNotTakeMakesRoomForTheNext) {
  std::vector<SeenCandidate> seen;
  for (uint32_t i = 0; i < 5; ++i) {
    seen.emplace_back().position = i;
    seen.back().listed_ms = kNowMs - 100 + int64_t{i};
  }
  std::vector<uint32_t> repeats;
  const auto odd = [](uint32_t position) { return position % 2 == 1; };
  TakeRepeats(seen, {.need = 5, .gap_ms = 1, .max = 2}, kNowMs, odd, &repeats);
  EXPECT_EQ(repeats, (std::vector<uint32_t>{1, 3}));
}

TEST(Repeats, AnAnswerIsShortByItsUnseenOnes) {
  Question question;
  FilterRequest request{.question = &question};
  FilterResponse response;
  EXPECT_FALSE(IsShort(request, response)) << "not asked";
  question.when_short = WhenShort{.need = 2};
  response.unseen = {0};
  EXPECT_TRUE(IsShort(request, response));
  request.limit = 1;
  EXPECT_FALSE(IsShort(request, response));
  request.limit = 0;
  response.degraded = true;
  EXPECT_FALSE(IsShort(request, response));
  response.degraded = false;
  response.unseen = {0, 1};
  EXPECT_FALSE(IsShort(request, response));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
