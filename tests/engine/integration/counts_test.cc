// Events that are counted by groups: once each, however often they are recorded, and gone with
// their user, the collection's filters or their age.

#include "seendb/counts.h"

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class CountsTest : public EngineTest {
 protected:
  using Groups = std::vector<std::string_view>;

  Result<RecordResult> TryServe(const std::string& user, const std::string& item,
                                const Groups& groups, std::optional<int64_t> at_ms = {}) {
    const Impression served{.user = IdRef(user), .item = IdRef(item), .at_ms = at_ms, .of = groups};
    return engine_->RecordImpressions({&served, 1});
  }
  void Serve(const std::string& user, const std::string& item, const Groups& groups,
             std::optional<int64_t> at_ms = {}) {
    const auto result = TryServe(user, item, groups, at_ms);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(result->accepted, 1u);
  }
  /// Events of the last 30 days, as "author:3=2/0/1": served, exposed, played.
  std::string Counts(const std::string& user, std::string_view kind = "author",
                     std::string_view collection = "default") {
    const Status status =
        engine_->ReadCounts({.user = IdRef(user), .collection = collection, .kind = kind}, &page_);
    if (!status.ok()) return status.ToString();
    std::string text;
    for (const GroupCounts& group : page_.groups) {
      const auto of = [&](Fact fact) {
        return std::to_string(group.by_fact[static_cast<size_t>(fact)].events.back());
      };
      if (!text.empty()) text += " ";
      text += group.group + "=" + of(Fact::kServed) + "/" + of(Fact::kExposed) + "/" +
              of(Fact::kPlayed);
    }
    return text;
  }
  std::vector<std::string> Families() {
    std::vector<std::string> names;
    EXPECT_TRUE(engine_
                    ->Scan("counts/",
                           [&](const ScanRow& row) {
                             names.push_back(row.family);
                             return true;
                           })
                    .ok());
    return names;
  }

  CountsPage page_;
};

TEST_F(CountsTest, AllThreeFactsAreCountedByEachGroup) {
  Open();
  const Groups of{"author:3", "topic:7"};
  Serve("u", "v1", of);
  const Exposure exposed{.user = IdRef("u"), .item = IdRef("v1"), .surface = "home", .of = of};
  ASSERT_TRUE(engine_->RecordExposures({&exposed, 1}).ok());
  const struct Play played { .user = IdRef("u"), .item = IdRef("v1"), .of = of };
  ASSERT_TRUE(engine_->RecordPlays({&played, 1}).ok());
  EXPECT_EQ(Counts("u"), "author:3=1/1/1");
  EXPECT_EQ(Counts("u", "topic"), "topic:7=1/1/1");
  EXPECT_EQ(Counts("u", "topic:7"), "topic:7=1/1/1");
  EXPECT_EQ(Counts("u", "top"), "");
  EXPECT_EQ(Counts("w"), "");
  EXPECT_FALSE(page_.degraded);
}

TEST_F(CountsTest, ARepeatCountsOnceInAnyOrderAndOutlivesDrainsCompactionsAndOpenings) {
  Open();
  for (int again = 0; again < 3; ++again) {
    Serve("u", "v1", {"author:3"}, kStartMs - 1);
    Serve("u", "v2", {"author:3"}, kStartMs - 2);
    Serve("u", "v1", {"author:3"}, kStartMs - 2);
  }
  EXPECT_EQ(Counts("u"), "author:3=3/0/0");
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  Serve("u", "v1", {"author:3"}, kStartMs - 1);
  EXPECT_EQ(Counts("u"), "author:3=3/0/0");
  Reopen();
  Serve("u", "v1", {"author:3"}, kStartMs - 1);
  EXPECT_EQ(Counts("u"), "author:3=3/0/0");
  const auto verified = engine_->Verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->damaged, 0u);
}

TEST_F(CountsTest, ADatabaseWithoutAnyHasNoFamilyForThem) {
  Open();
  Serve("u", "v1", {});
  EXPECT_EQ(Counts("u"), "");
  EXPECT_EQ(Families(), std::vector<std::string>{});
  Serve("u", "v1", {"author:3"});
  EXPECT_EQ(Families(), std::vector<std::string>{"counts/default"});
}

TEST_F(CountsTest, AFilterThatRecordsCountsWhatItReturns) {
  Open();
  const Groups of{"author:3"};
  const std::vector<IdRef> items{IdRef("v1"), IdRef("v2"), IdRef("v3")};
  const std::vector<CandidateGroups> groups{{.of = of}, {}, {.of = of}};
  const Question question{.groups = groups};
  FilterRequest request{.user = IdRef("u"), .items = items, .question = &question, .record = true};
  request.memory_only = true;
  EXPECT_EQ(engine_->Filter(request, &answer_).code(), StatusCode::kIncomplete)
      << "a family is to be made, which waits";
  request.memory_only = false;
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_TRUE(answer_.recorded);
  EXPECT_EQ(Counts("u"), "author:3=2/0/0");
  request.memory_only = true;
  ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
  EXPECT_EQ(Counts("u"), "author:3=2/0/0") << "all were served";
}

TEST_F(CountsTest, GoWithTheUserTheFiltersAndTheCollection) {
  Open();
  Serve("u", "v1", {"author:3"}, kStartMs - 1);
  Serve("w", "v1", {"author:3"}, kStartMs - 1);
  ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
  EXPECT_EQ(Counts("u"), "");
  EXPECT_EQ(Counts("w"), "author:3=1/0/0");
  EXPECT_EQ(TryServe("u", "v1", {"author:3"}, kStartMs - 1)->refused, 1u);
  EXPECT_EQ(Counts("u"), "");
  ASSERT_TRUE(engine_->ClearHistory(IdRef("w"), {.filter = true}).ok());
  EXPECT_EQ(Counts("w"), "");
  Reopen();
  EXPECT_EQ(Counts("u") + Counts("w"), "");
  Put("shorts", {});
  const Groups of{"author:3"};
  const Impression served{.user = IdRef("w"), .item = IdRef("v2"), .of = of};
  ASSERT_TRUE(engine_->RecordImpressions({&served, 1}, {.collection = "shorts"}).ok());
  EXPECT_EQ(Counts("w", "author", "shorts"), "author:3=1/0/0");
  ASSERT_TRUE(engine_->DeleteCollection("shorts").ok());
  Put("shorts", {});
  EXPECT_EQ(Counts("w", "author", "shorts"), "");
}

TEST_F(CountsTest, LeaveWhenTheyAreTooOldToCount) {
  Open();
  Serve("u", "v1", {"author:3"}, kStartMs);
  clock_.Set(kStartMs + kCountedForMs);
  EXPECT_EQ(Counts("u"), "author:3=1/0/0");
  clock_.Set(kStartMs + kCountedForMs + 1);
  EXPECT_EQ(Counts("u"), "");
}

TEST_F(CountsTest, RefusesWhatIsMalformedAndChangesNothing) {
  Open();
  const std::string longest(kMaxGroupBytes, 'g'), longer(kMaxGroupBytes + 1, 'g');
  Serve("u", "v", {longest});
  EXPECT_EQ(TryServe("u", "v", {"a", ""}).status().field(), "/0/of/1");
  EXPECT_EQ(TryServe("u", "v", {longer}).status().field(), "/0/of/0");
  EXPECT_EQ(TryServe("u", "v", {"\xff"}).status().field(), "/0/of/0");
  EXPECT_EQ(TryServe("u", "v", Groups(kMaxCandidateGroups + 1, "a")).status().field(), "/0/of");
  EXPECT_EQ(Counts("u", "a"), "");
  const auto field = [&](const CountsRequest& request) {
    return std::string(engine_->ReadCounts(request, &page_).field());
  };
  EXPECT_EQ(field({.user = IdRef("u"), .kind = longer}), "/kind");
  EXPECT_EQ(field({.user = IdRef(""), .kind = "a"}), "/user");
  EXPECT_EQ(field({.user = IdRef("u"), .kind = "a", .limit = 0}), "/limit");
  EXPECT_EQ(field({.user = IdRef("u"), .kind = "a", .limit = kMaxCountedGroups + 1}), "/limit");
  EXPECT_EQ(
      engine_->ReadCounts({.user = IdRef("u"), .collection = "none", .kind = "a"}, &page_).code(),
      StatusCode::kNotFound);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
