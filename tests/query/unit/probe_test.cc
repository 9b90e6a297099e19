// Candidates against sources, compared with a look at every source by hand.

#include "query/probe.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "filter/sort.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

/// Sources of sorted lists and of Bloom layers, with the bytes that they point into.
class ProbeTest : public ::testing::Test {
 protected:
  void AddList(ReasonKind kind, int64_t bucket, std::vector<Fingerprint> items) {
    SortUnique(&items);
    auto& bytes = *bytes_.emplace_back(
        std::make_unique<std::vector<uint8_t>>(items.size() * kFingerprintBytes + 1));
    for (size_t i = 0; i < items.size(); ++i) {
      StoreFingerprint(items[i], bytes.data() + i * kFingerprintBytes);
    }
    SourceView& source = sources_.emplace_back();
    source.kind = kind;
    source.bucket = bucket;
    source.view.list = bytes.data();
    source.view.list_count = static_cast<uint32_t>(items.size());
    lists_.push_back(std::move(items));
  }
  void Ask(const std::vector<Fingerprint>& items) {
    candidates_.fingerprints = items;
    candidates_.verdicts.assign(items.size(), 0);
    candidates_.refuted.assign(items.size(), 0);
    candidates_.repeats.assign(items.size(), 0);
    ProbeRange(sources_, 0, items.size(), &candidates_);
  }
  uint32_t FirstWith(Fingerprint item) const {
    for (size_t s = 0; s < lists_.size(); ++s) {
      if (std::binary_search(lists_[s].begin(), lists_[s].end(), item)) {
        return static_cast<uint32_t>(s + 1);
      }
    }
    return 0;
  }

  std::vector<std::unique_ptr<std::vector<uint8_t>>> bytes_;
  std::vector<std::vector<Fingerprint>> lists_;
  std::vector<SourceView> sources_;
  Candidates candidates_;
};

Fingerprint ItemAt(uint64_t i) { return FingerprintOf(IdRef("v" + std::to_string(i))); }

TEST_F(ProbeTest, TheFirstSourceThatHasAnItemDecides) {
  for (int source = 0; source < 5; ++source) {
    std::vector<Fingerprint> items;
    for (uint64_t i = 0; i < 300; ++i) {
      if ((i * 7 + static_cast<uint64_t>(source) * 13) % 5 < 2) items.push_back(ItemAt(i));
    }
    AddList(ReasonKind::kPlay, 10 - source, items);
  }
  AddList(ReasonKind::kRing, 0, {});
  std::vector<Fingerprint> asked;
  for (uint64_t i = 0; i < 400; ++i) asked.push_back(ItemAt(i));
  Ask(asked);
  for (size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(candidates_.verdicts[i], FirstWith(asked[i])) << i;
  }
}

TEST_F(ProbeTest, ARangeLeavesTheOthersAlone) {
  AddList(ReasonKind::kPlay, 1, {ItemAt(0), ItemAt(1), ItemAt(2), ItemAt(3)});
  candidates_.fingerprints = {ItemAt(0), ItemAt(1), ItemAt(2), ItemAt(3)};
  candidates_.verdicts.assign(4, 0);
  ProbeRange(sources_, 1, 3, &candidates_);
  EXPECT_EQ(candidates_.verdicts, (std::vector<uint32_t>{0, 1, 1, 0}));
}

TEST_F(ProbeTest, ALimitEndsTheExamination) {
  AddList(ReasonKind::kExcluded, 0, {ItemAt(0)});
  AddList(ReasonKind::kPlay, 7, {ItemAt(2)});
  Ask({ItemAt(0), ItemAt(1), ItemAt(2), ItemAt(3), ItemAt(4)});
  FilterRequest request;
  request.limit = 2;
  request.explain = true;
  FilterResponse answer;
  EXPECT_TRUE(Collect(sources_, candidates_, request, 0, 5, &answer));
  EXPECT_EQ(answer.unseen, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(answer.examined, 4u);
  EXPECT_EQ(answer.seen, 1u);
  EXPECT_EQ(answer.excluded, 1u);
  ASSERT_EQ(answer.reasons.size(), 4u);
  EXPECT_EQ(answer.reasons[2].bucket_index, 7);
}

TEST_F(ProbeTest, WithoutALimitBothWaysOfCollectingAgree) {
  AddList(ReasonKind::kPlay, 7, {ItemAt(2), ItemAt(5), ItemAt(8)});
  std::vector<Fingerprint> asked;
  for (uint64_t i = 0; i < 10; ++i) asked.push_back(ItemAt(i));
  Ask(asked);
  FilterResponse plain, explained;
  FilterRequest request;
  EXPECT_FALSE(Collect(sources_, candidates_, request, 0, 10, &plain));
  request.explain = true;
  EXPECT_FALSE(Collect(sources_, candidates_, request, 0, 10, &explained));
  EXPECT_EQ(plain.unseen, explained.unseen);
  EXPECT_EQ(plain.seen, 3u);
  EXPECT_EQ(plain.seen, explained.seen);
  EXPECT_EQ(plain.examined, explained.examined);
}

TEST_F(ProbeTest, ARepeatIsReturnedAndCountedOnceBothWays) {
  AddList(ReasonKind::kExcluded, 0, {ItemAt(0)});
  AddList(ReasonKind::kPlay, 7, {ItemAt(2)});
  const std::vector<uint64_t> kAsked = {1, 2, 1, 0, 2, 0, 3, 1, 4};
  std::vector<std::string> texts;
  std::vector<Fingerprint> asked;
  for (const uint64_t i : kAsked) {
    asked.push_back(ItemAt(i));
    texts.push_back("v" + std::to_string(i));
  }
  const std::vector<IdRef> items(texts.begin(), texts.end());
  Ask(asked);
  candidates_.distinct.Begin(items.size());
  MarkRepeats(items, 0, 4, &candidates_);
  MarkRepeats(items, 4, items.size(), &candidates_);
  FilterRequest request;
  FilterResponse plain, explained, limited;
  EXPECT_FALSE(Collect(sources_, candidates_, request, 0, 9, &plain));
  request.explain = true;
  EXPECT_FALSE(Collect(sources_, candidates_, request, 0, 9, &explained));
  for (const FilterResponse* answer : {&plain, &explained}) {
    EXPECT_EQ(answer->unseen, (std::vector<uint32_t>{0, 6, 8}));
    EXPECT_EQ(answer->duplicates, 4u);
    EXPECT_EQ(answer->examined, 9u);
  }
  EXPECT_EQ(plain.seen, 2u);  // nothing is excluded where the request excludes nothing
  EXPECT_EQ(explained.seen, 1u);
  EXPECT_EQ(explained.excluded, 1u);
  EXPECT_EQ(explained.reasons[4].kind, ReasonKind::kPlay);
  EXPECT_EQ(explained.reasons[7].kind, ReasonKind::kUnseen);
  request.limit = 2;
  EXPECT_TRUE(Collect(sources_, candidates_, request, 0, 9, &limited));
  EXPECT_EQ(limited.unseen, (std::vector<uint32_t>{0, 6}));
  EXPECT_EQ(limited.examined, 7u);
}

// An override lifts what plays say, and not what impressions or the request say.
TEST_F(ProbeTest, OverridesLiftPlaysAlone) {
  AddList(ReasonKind::kExcluded, 0, {ItemAt(0)});
  AddList(ReasonKind::kImpression, 0, {ItemAt(1)});
  AddList(ReasonKind::kRing, 0, {ItemAt(2)});
  AddList(ReasonKind::kPlay, 3, {ItemAt(3), ItemAt(4)});
  Ask({ItemAt(0), ItemAt(1), ItemAt(2), ItemAt(3), ItemAt(4)});
  CollectionMarks marks;
  for (uint64_t i = 0; i < 4; ++i) marks.overrides[ItemAt(i)] = Override{.at_ms = 5, .seq = 1};
  LiftOverrides(sources_, marks, 0, 5, &candidates_);
  EXPECT_EQ(candidates_.verdicts, (std::vector<uint32_t>{1, 2, 0, 0, 4}));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
