// Marks: of a group all up to a time is seen, whatever the order in which marks and deletions come.

#include "seendb/marks.h"

#include <algorithm>

#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kNone = INT64_MIN;  // of a candidate: no time

class MarksTest : public EngineTest {
 protected:
  Status TryMark(const std::string& user, std::string_view group, std::optional<int64_t> until_ms,
                 std::optional<int64_t> at_ms = {}) {
    const Mark mark{group, until_ms, at_ms};
    const auto result = engine_->PutMarks(IdRef(user), {&mark, 1});
    if (result.ok()) refused_ += result->refused;
    return result.status();
  }
  void Say(const std::string& user, std::string_view group, std::optional<int64_t> until_ms,
           std::optional<int64_t> at_ms = {}) {
    const Status marked = TryMark(user, group, until_ms, at_ms);
    ASSERT_TRUE(marked.ok()) << marked.ToString();
  }
  bool Unsay(const std::string& user, std::string_view group, CallTime at_ms = {}) {
    const auto deleted = engine_->DeleteMark(IdRef(user), group, at_ms);
    EXPECT_TRUE(deleted.ok()) << deleted.status().ToString();
    return deleted.ok() && *deleted;
  }

  struct Candidate {
    std::string id;
    std::vector<std::string_view> of = {};
    int64_t at_ms = kNone;
  };
  Status Ask(const std::string& user, const std::vector<Candidate>& candidates,
             FilterRequest request = {}) {
    ids_.clear();
    std::vector<CandidateGroups> groups;
    for (const Candidate& one : candidates) {
      ids_.emplace_back(one.id);
      groups.push_back({one.of});
      if (one.at_ms != kNone) groups.back().at_ms = one.at_ms;
    }
    const Question question{.groups = groups};
    request.user = IdRef(user);
    request.items = ids_;
    request.question = &question;
    request.explain = true;
    const Status asked = engine_->Filter(request, &answer_);
    reasons_.clear();
    for (const Reason& reason : answer_.reasons) reasons_.emplace_back(reason.group);
    return asked;
  }
  Items UnseenOf(const std::string& user, const std::vector<Candidate>& candidates,
                 const FilterRequest& request = {}) {
    const Status asked = Ask(user, candidates, request);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    Items unseen;
    for (const uint32_t at : answer_.unseen) unseen.push_back(candidates[at].id);
    return unseen;
  }
  /// How far the group is marked.
  std::optional<int64_t> UntilOf(const std::string& user, std::string_view group) {
    MarksPage page;
    EXPECT_TRUE(engine_->ReadMarks({.user = IdRef(user), .limit = 1'000}, &page).ok());
    for (const MarkEntry& mark : page.marks) {
      if (mark.group == group) return mark.until_ms.value_or(INT64_MAX);
    }
    return {};
  }
  Items Families() {
    Items names;
    EXPECT_TRUE(engine_
                    ->Scan("own",
                           [&](const ScanRow& row) {
                             names.push_back(row.family);
                             return true;
                           })
                    .ok());
    return names;
  }

  std::vector<IdRef> ids_;
  Items reasons_;
  uint64_t refused_ = 0;
};

TEST_F(MarksTest, AllOfAGroupUpToATimeIsSeen) {
  Open();
  Say("u", "channel:9", 1'000);
  const std::vector<Candidate> all{{"before", {"channel:9"}, 999},
                                   {"edge", {"channel:9"}, 1'000},
                                   {"after", {"channel:9"}, 1'001},
                                   {"other", {"channel:8"}, 1},
                                   {"second", {"channel:8", "channel:9"}, 1},
                                   {"plain"}};
  EXPECT_EQ(UnseenOf("u", all), (Items{"after", "other", "plain"}));
  EXPECT_EQ(reasons_, (Items{"channel:9", "channel:9", "", "", "channel:9", ""}));
  EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kMarked);
  EXPECT_EQ(answer_.seen, 3u);
  EXPECT_EQ(answer_.undated, 0u);
  EXPECT_EQ(answer_.examined, 6u);
  EXPECT_EQ(UnseenOf("u2", all).size(), 6u) << "the marks are another user's";
  EXPECT_EQ(engine_->Stats().marks_accepted, 1u);
}

TEST_F(MarksTest, OneWithoutATimeMeetsOnlyWhatAlwaysHolds) {
  Open();
  Say("u", "author:3", {});
  Say("u", "channel:9", 1'000);
  const std::vector<Candidate> all{{"a", {"author:3"}},
                                   {"b", {"channel:9"}},
                                   {"c", {"channel:9", "author:3"}},
                                   {"d", {"channel:7"}},
                                   {"e", {"author:3"}, INT64_MAX}};
  EXPECT_EQ(UnseenOf("u", all), (Items{"b", "d"}));
  EXPECT_EQ(answer_.undated, 1u);
  EXPECT_EQ(UnseenOf("u", all, {.limit = 1}), Items{"b"});
  EXPECT_EQ(answer_.undated, 1u);
  EXPECT_EQ(UnseenOf("u", {{"a", {"author:3"}}, {"b", {"channel:9"}}}, {.limit = 1}), Items{"b"});
}

TEST_F(MarksTest, HoldInAllCollectionsBesideWhatIsSeen) {
  Open();
  Put("video", {});
  Say("u", "channel:9", 1'000);
  Play("u", {"played"});
  const IdRef excluded("x");
  const std::vector<Candidate> all{{"played", {"channel:8"}, 1},
                                   {"x", {"channel:9"}, 1},
                                   {"y", {"channel:9"}, 1},
                                   {"y", {}, 1},
                                   {"z", {"channel:9"}, 2'000}};
  EXPECT_EQ(UnseenOf("u", all, {.exclude = {&excluded, 1}}), Items{"z"});
  EXPECT_EQ(answer_.seen, 2u);
  EXPECT_EQ(answer_.excluded, 1u);
  EXPECT_EQ(answer_.duplicates, 1u);
  EXPECT_EQ(reasons_, (Items{"", "", "channel:9", "channel:9", ""})) << "a repeat has its first's";
  EXPECT_EQ(UnseenOf("u", all, {.collection = "video"}), (Items{"played", "z"}));
}

TEST_F(MarksTest, VerifyRefutesNone) {
  Open();
  PolicyPatch patch;
  patch.history.enabled = true;
  Put("default", patch);
  Say("u", "channel:9", 1'000);
  EXPECT_EQ(UnseenOf("u", {{"v", {"channel:9"}, 1}}, {.verify = true}), Items{});
  EXPECT_EQ(answer_.refuted, 0u);
}

TEST_F(MarksTest, TheFurthestCountsInAnyOrder) {
  Open();
  Say("u", "g", 500, kStartMs - 10);
  Say("u", "g", 300, kStartMs - 5);
  Say("u", "g", 300, kStartMs - 20);
  EXPECT_EQ(UntilOf("u", "g"), 500);
  Say("u", "g", 500, kStartMs - 5);
  Say("u", "g", 700, kStartMs - 30);
  EXPECT_EQ(UntilOf("u", "g"), 700);
  Say("u", "g", {});
  EXPECT_EQ(UntilOf("u", "g"), INT64_MAX);
}

TEST_F(MarksTest, ADeletionEndsWhatWasSaidBeforeInAnyOrder) {
  Open();
  Say("u", "g", 500, kStartMs - 10);
  EXPECT_TRUE(Unsay("u", "g"));
  EXPECT_EQ(UntilOf("u", "g"), std::nullopt);
  EXPECT_FALSE(Unsay("u", "g")) << "none counts";
  Say("u", "g", 500, kStartMs - 10);
  Say("u", "g", 600, kStartMs);
  EXPECT_EQ(UntilOf("u", "g"), std::nullopt) << "said no later than the deletion";
  Say("u", "g", 400, kStartMs + 1);
  EXPECT_EQ(UntilOf("u", "g"), 400);

  EXPECT_FALSE(Unsay("u", "unknown", kStartMs - 100));
  Say("u", "unknown", 5, kStartMs - 101);
  EXPECT_EQ(UntilOf("u", "unknown"), std::nullopt) << "the deletion came first";
  Say("u", "unknown", 5, kStartMs - 99);
  EXPECT_EQ(UntilOf("u", "unknown"), 5);
  EXPECT_EQ(engine_->Stats().marks_deleted, 1u);
}

TEST_F(MarksTest, ADeletionTakesAMarkThatWasSaidAheadOfTheClock) {
  Open();
  Say("u", "g", 500, kStartMs + kHourMs);
  EXPECT_TRUE(Unsay("u", "g"));
  Say("u", "g", 500, kStartMs + kHourMs);
  EXPECT_EQ(UntilOf("u", "g"), std::nullopt);
}

TEST_F(MarksTest, OutliveDrainsCompactionsAndOpenings) {
  Open();
  Say("u", "channel:9", 1'000);
  Say("u", "gone", 1'000);
  Unsay("u", "gone");
  const std::vector<Candidate> all{{"v", {"channel:9"}, 1}, {"w", {"gone"}, 1}};
  Drain();
  EXPECT_EQ(UnseenOf("u", all), Items{"w"});
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_EQ(UnseenOf("u", all), Items{"w"});
  Reopen();
  EXPECT_EQ(UnseenOf("u", all), Items{"w"});
  ASSERT_TRUE(engine_->Checkpoint(dir_ + "/copy").ok());
  engine_.reset();
  std::filesystem::rename(Path(), dir_ + "/before");
  std::filesystem::rename(dir_ + "/copy", Path());
  Open();
  EXPECT_EQ(UnseenOf("u", all), Items{"w"});
  Say("u", "gone", 1'000, kStartMs);
  EXPECT_EQ(UnseenOf("u", all), Items{"w"}) << "the deletion's time is kept";
  const auto verified = engine_->Verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->damaged, 0u);
}

TEST_F(MarksTest, ADatabaseWithoutAnyHasNoFamilyForThem) {
  Open();
  const uint64_t families = engine_->Stats().column_families;
  EXPECT_EQ(UnseenOf("u", {{"v", {"channel:9"}, 1}}), Items{"v"});
  MarksPage page;
  ASSERT_TRUE(engine_->ReadMarks({.user = IdRef("u")}, &page).ok());
  EXPECT_TRUE(page.marks.empty());
  EXPECT_EQ(engine_->Stats().column_families, families);
  Say("u", "channel:9", 1);
  EXPECT_EQ(engine_->Stats().column_families, families + 1) << "in the user's shard alone";
  EXPECT_EQ(Families(), Items{"own"});
}

TEST_F(MarksTest, OnlyACandidateWithGroupsCostsARead) {
  Open();
  Say("u", "channel:9", 1'000);
  const auto reads_of = [&](const std::vector<Candidate>& candidates) {
    const uint64_t before = engine_->Stats().reads;
    UnseenOf("u", candidates);
    return engine_->Stats().reads - before;
  };
  EXPECT_EQ(reads_of({{"v", {"channel:9"}, 1}}), reads_of({{"v"}}) + 1);
}

TEST_F(MarksTest, AnErasureTakesThemAndAClearDoesNot) {
  Open();
  Say("u", "g", 500, kStartMs + kHourMs);
  ASSERT_TRUE(engine_->ClearHistory(IdRef("u"), {.filter = true}).ok());
  EXPECT_EQ(UntilOf("u", "g"), 500);
  Erasure erasure;
  ASSERT_TRUE(engine_->EraseUser(IdRef("u"), {}, &erasure).ok());
  EXPECT_TRUE(erasure.known) << "marks alone are held";
  EXPECT_EQ(erasure.until_ms, kStartMs + kHourMs) << "it covers the newest";
  EXPECT_EQ(UntilOf("u", "g"), std::nullopt);
  EXPECT_EQ(Families(), Items{});
  Say("u", "g", 500, kStartMs + kHourMs);
  EXPECT_EQ(refused_, 1u) << "not after the erasure";
  EXPECT_EQ(UntilOf("u", "g"), std::nullopt);
  EXPECT_EQ(engine_->Stats().marks_refused, 1u);
  clock_.Advance(kHourMs + 1);
  Say("u", "g", 500);
  EXPECT_EQ(UntilOf("u", "g"), 500);
}

TEST_F(MarksTest, OneGroupTooManyIsRefused) {
  Open();
  for (size_t begin = 0; begin < kMaxMarkedGroups; begin += kMaxMarksAtOnce) {
    const Items groups = Numbered("g" + std::to_string(begin) + ":", kMaxMarksAtOnce);
    std::vector<Mark> marks;
    for (const std::string& group : groups) marks.push_back({group, 1});
    ASSERT_TRUE(engine_->PutMarks(IdRef("u"), marks).ok());
  }
  const Mark two[] = {{"g0:0", 2}, {"one more", 1}};
  const auto refused = engine_->PutMarks(IdRef("u"), two);
  EXPECT_EQ(refused.status().code(), StatusCode::kIncompatible);
  EXPECT_EQ(refused.status().field(), "/1/group");
  EXPECT_EQ(UntilOf("u", "g0:0"), 1) << "all or none";
  EXPECT_TRUE(TryMark("u", "g0:0", 2).ok()) << "it is there already";
  EXPECT_TRUE(Unsay("u", "g0:1"));
  EXPECT_TRUE(TryMark("u", "one more", 1).ok());
  EXPECT_TRUE(TryMark("other", "one more", 1).ok());
  const auto report = engine_->Inspect(IdRef("u"));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->marked_groups, kMaxMarkedGroups);
}

TEST_F(MarksTest, ArePagedByGroup) {
  Open();
  for (const char* group : {"c", "a", "b"}) Say("u", group, 1);
  MarksPage page;
  ASSERT_TRUE(engine_->ReadMarks({.user = IdRef("u"), .limit = 2}, &page).ok());
  ASSERT_EQ(page.marks.size(), 2u);
  EXPECT_EQ(page.marks[0].group, "a");
  EXPECT_EQ(page.marks[0].until_ms, 1);
  EXPECT_EQ(page.marks[0].said_ms, kStartMs);
  EXPECT_EQ(page.after, "b");
  const std::string after = page.after;
  ASSERT_TRUE(engine_->ReadMarks({.user = IdRef("u"), .limit = 2, .after = after}, &page).ok());
  ASSERT_EQ(page.marks.size(), 1u);
  EXPECT_EQ(page.marks[0].group, "c");
  EXPECT_EQ(page.after, "");
  EXPECT_EQ(engine_->ReadMarks({.user = IdRef("u"), .limit = 0}, &page).field(), "/limit");
}

TEST_F(MarksTest, WhatIsIllFormedChangesNothing) {
  Open();
  const std::string longest(kMaxGroupBytes, 'g'), longer(kMaxGroupBytes + 1, 'g');
  EXPECT_TRUE(TryMark("u", longest, 1).ok());
  for (const std::string_view group :
       {std::string_view(), std::string_view(longer), std::string_view("\xff")}) {
    const Mark marks[] = {{"good", 1}, {group, 1}};
    const auto refused = engine_->PutMarks(IdRef("u"), marks);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(refused.status().field(), "/1/group");
    EXPECT_EQ(engine_->DeleteMark(IdRef("u"), group).status().field(), "/group");
  }
  EXPECT_EQ(TryMark("u", "g", INT64_MAX).field(), "/0/until");
  EXPECT_EQ(TryMark("u", "g", 1, kStartMs + kHourMs + 1).field(), "/0/at");
  EXPECT_EQ(TryMark("", "g", 1).field(), "/user");
  EXPECT_EQ(UntilOf("u", "good"), std::nullopt);

  EXPECT_EQ(Ask("u", {{"v"}, {"w", {"g", ""}}}).field(), "/items/1/of/1");
  EXPECT_EQ(Ask("u", {{"w", {longer}}}).field(), "/items/0/of/0");
  EXPECT_EQ(Ask("u", {{"w", std::vector<std::string_view>(17, "g")}}).field(), "/items/0/of");
  EXPECT_TRUE(Ask("u", {{"w", std::vector<std::string_view>(16, "g")}}).ok());
}

TEST_F(MarksTest, WhatCannotBeReadIsTold) {
  options_.shards = 1;
  Open();
  for (const char* user : {"sick", "sicker", "well"}) Say(user, "g", 5);
  engine_.reset();
  {
    RawShard shard(Path());
    shard.Merge("own", "sick", "no marks");
    shard.Put("own", "sicker", "no marks");
  }
  Open();
  const std::vector<Candidate> all{{"v", {"g"}, 5}};
  EXPECT_EQ(UnseenOf("well", all), Items{});
  EXPECT_FALSE(answer_.degraded);
  EXPECT_EQ(UnseenOf("sick", all), Items{});
  EXPECT_EQ(answer_.missing, Items{"own"});
  EXPECT_EQ(UnseenOf("sicker", all), Items{"v"});
  EXPECT_EQ(answer_.missing, Items{"own"});
  EXPECT_TRUE(Unseen("sicker", {"v"}).size() == 1 && !answer_.degraded) << "no groups, no read";
  MarksPage page;
  EXPECT_TRUE(engine_->ReadMarks({.user = IdRef("sick")}, &page).ok());
  EXPECT_TRUE(page.degraded);
  EXPECT_EQ(engine_->ReadMarks({.user = IdRef("sicker")}, &page).code(), StatusCode::kCorruption);
  EXPECT_TRUE(engine_->Inspect(IdRef("sicker")).ok());
  EXPECT_EQ(engine_->Verify()->damaged, 2u);
  Say("sicker", "g", 5);
  EXPECT_EQ(UnseenOf("sicker", all), Items{}) << "damage keeps nothing from being written";
  ASSERT_TRUE(engine_->EraseUser(IdRef("sicker")).ok());
  EXPECT_EQ(engine_->Verify()->damaged, 1u);
}

TEST_F(MarksTest, LostOnesAreTold) {
  options_.shards = 1;
  Open();
  for (const char* user : {"a", "u"}) Say(user, "g", 5);
  engine_.reset();
  {
    RawShard shard(Path());
    shard.Put("default", "lost_own",
              R"({"at_ms":1773144000000,"reason":"a table was damaged","users":[["75","76"]]})");
  }
  Open();
  const std::vector<Candidate> all{{"v", {"h"}, 5}};
  EXPECT_EQ(UnseenOf("a", all), Items{"v"});
  EXPECT_FALSE(answer_.degraded);
  EXPECT_EQ(UnseenOf("u", all), Items{"v"});
  EXPECT_EQ(answer_.missing, Items{"own"});
  clock_.Advance(400 * kDayMs);
  EXPECT_EQ(UnseenOf("u", all), Items{"v"});
  EXPECT_FALSE(answer_.degraded) << "as with a lost log";
}

TEST_F(MarksTest, OneFamilyTooManyIsRefused) {
  options_.shards = 1;
  Open();
  const auto families = static_cast<uint32_t>(engine_->Stats().column_families);
  engine_.reset();
  options_.max_column_families = families;
  Open();
  EXPECT_EQ(TryMark("u", "g", 1).code(), StatusCode::kIncompatible);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
