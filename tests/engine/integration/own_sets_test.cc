// Sets of users: they exclude before others of their names, end by themselves, and go with an
// erasure.

#include <algorithm>
#include <set>

#include "format/own_set_codec.h"
#include "seendb/user_sets.h"
#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class SharedItems final : public ItemSet {
 public:
  void Find(std::span<const IdRef> items, uint8_t* hits) const override {
    for (size_t i = 0; i < items.size(); ++i) hits[i] = items[i].ToString() == "shared" ? 1 : 0;
  }
  bool damaged() const override { return false; }
};

class OwnSetsTest : public EngineTest {
 protected:
  Status Set(const std::string& user, std::string_view name, const Items& items,
             int64_t lasts_ms = kHourMs, CallTime at_ms = {}) {
    const std::vector<IdRef> ids(items.begin(), items.end());
    const auto put = engine_->PutUserSet({IdRef(user), name, ids, lasts_ms, at_ms});
    if (put.ok()) info_ = *put;
    return put.status();
  }
  bool Unset(const std::string& user, std::string_view name, CallTime at_ms = {}) {
    const auto deleted = engine_->DeleteUserSet(IdRef(user), name, at_ms);
    EXPECT_TRUE(deleted.ok()) << deleted.status().ToString();
    return deleted.ok() && *deleted;
  }
  Status Ask(const std::string& user, const Items& candidates, std::string_view name,
             const ItemSet* shared = nullptr, FilterRequest request = {}) {
    const ExcludedSet sets[] = {{name, shared}};
    Question question;
    question.exclude_sets = sets;
    const std::vector<IdRef> ids(candidates.begin(), candidates.end());
    request.user = IdRef(user);
    request.items = ids;
    request.question = &question;
    const Status asked = engine_->Filter(request, &answer_);
    unseen_.clear();
    for (const uint32_t at : answer_.unseen) unseen_.push_back(candidates[at]);
    return asked;
  }
  Items NamesOf(const std::string& user) {
    UserSetList list;
    EXPECT_TRUE(engine_->ListUserSets(IdRef(user), &list).ok());
    Items names;
    for (const UserSetInfo& set : list.sets) names.push_back(set.name);
    return names;
  }
  size_t Rows() {
    size_t rows = 0;
    EXPECT_TRUE(engine_->Scan("own", [&](const ScanRow&) { return ++rows > 0; }).ok());
    return rows;
  }

  UserSetInfo info_;
  Items unseen_;
  const SharedItems shared_{};
};

TEST_F(OwnSetsTest, ExcludeBeforeOthersOfTheirName) {
  Open();
  ASSERT_TRUE(Set("u", "s", {"b", "42", "b"}).ok());
  EXPECT_EQ(info_.count, 2u);
  EXPECT_EQ(info_.ends_ms, info_.at_ms + kHourMs);
  ASSERT_TRUE(Ask("u", {"a", "b", "42", "shared"}, "s", &shared_).ok());
  EXPECT_EQ(unseen_, (Items{"a", "shared"}));
  EXPECT_EQ(answer_.excluded, 2u);
  ASSERT_TRUE(Ask("u2", {"a", "b", "shared"}, "s", &shared_).ok());
  EXPECT_EQ(unseen_, (Items{"a", "b"})) << "another user has none";
  EXPECT_EQ(Ask("u2", {"a"}, "s").code(), StatusCode::kNotFound);
  EXPECT_EQ(Ask("u2", {"a"}, "s").field(), "/exclude_sets/0");
  EXPECT_TRUE(Set("u", "s", {}).ok());
  ASSERT_TRUE(Ask("u", {"b", "shared"}, "s", &shared_).ok());
  EXPECT_EQ(unseen_, (Items{"b", "shared"})) << "an empty one is one";
}

TEST_F(OwnSetsTest, EndToTheMillisecond) {
  Open();
  ASSERT_TRUE(Set("u", "s", {"b"}).ok());
  clock_.Advance(kHourMs - 1);
  ASSERT_TRUE(Ask("u", {"a", "b"}, "s").ok());
  EXPECT_EQ(unseen_, Items{"a"});
  EXPECT_EQ(NamesOf("u"), Items{"s"});
  clock_.Advance(1);
  EXPECT_EQ(Ask("u", {"a", "b"}, "s").code(), StatusCode::kNotFound);
  EXPECT_EQ(NamesOf("u"), Items{});
  UserSetPage page;
  EXPECT_EQ(engine_->ReadUserSet(IdRef("u"), "s", "", 1, &page).code(), StatusCode::kNotFound);
  EXPECT_FALSE(Unset("u", "s"));
}

TEST_F(OwnSetsTest, CompactionsTakeThoseThatEnded) {
  Open();
  ASSERT_TRUE(Set("u", "short", {"a"}).ok());
  ASSERT_TRUE(Set("u", "long", {"a"}, 3 * kDayMs).ok());
  clock_.Advance(kHourMs);
  ASSERT_TRUE(engine_->RunDue().ok());
  ASSERT_TRUE(engine_->Compact().ok());
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_EQ(Rows(), 1u);
  EXPECT_EQ(NamesOf("u"), Items{"long"});
}

TEST_F(OwnSetsTest, TheOneSaidLastCounts) {
  Open();
  ASSERT_TRUE(Set("u", "s", {"new"}, kHourMs, kStartMs).ok());
  ASSERT_TRUE(Set("u", "s", {"old"}, kHourMs, kStartMs - 1).ok());
  EXPECT_EQ(info_.at_ms, kStartMs);
  ASSERT_TRUE(Ask("u", {"new", "old"}, "s").ok());
  EXPECT_EQ(unseen_, Items{"old"});
  ASSERT_TRUE(Set("u", "s", {"next"}).ok()) << "in the same millisecond";
  ASSERT_TRUE(Ask("u", {"new", "next"}, "s").ok());
  EXPECT_EQ(unseen_, Items{"new"});
  EXPECT_TRUE(Unset("u", "s"));
  ASSERT_TRUE(Set("u", "s", {"new"}, kHourMs, kStartMs).ok()) << "delivered again";
  EXPECT_EQ(Ask("u", {"new"}, "s").code(), StatusCode::kNotFound);
  ASSERT_TRUE(Set("u", "s", {"again"}).ok());
  ASSERT_TRUE(Ask("u", {"new", "again"}, "s").ok());
  EXPECT_EQ(unseen_, Items{"new"});
}

TEST_F(OwnSetsTest, OutliveDrainsCompactionsAndOpenings) {
  Open();
  ASSERT_TRUE(Set("u", "s", {"b", "c"}).ok());
  ASSERT_TRUE(Set("u", "gone", {"b"}).ok());
  EXPECT_TRUE(Unset("u", "gone"));
  const auto check = [&] {
    ASSERT_TRUE(Ask("u", {"a", "b", "c"}, "s").ok());
    EXPECT_EQ(unseen_, Items{"a"});
    EXPECT_EQ(NamesOf("u"), Items{"s"});
  };
  Drain();
  check();
  ASSERT_TRUE(engine_->Compact().ok());
  check();
  Reopen();
  check();
  ASSERT_TRUE(engine_->Checkpoint(dir_ + "/copy").ok());
  engine_.reset();
  std::filesystem::rename(Path(), dir_ + "/before");
  std::filesystem::rename(dir_ + "/copy", Path());
  Open();
  check();
  const auto verified = engine_->Verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->damaged, 0u);
  const auto report = engine_->Inspect(IdRef("u"), "");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->own_sets, 1u);
}

TEST_F(OwnSetsTest, AnErasureTakesThemAndAClearDoesNot) {
  Open();
  const auto mark = Mark{.group = "g"};
  ASSERT_TRUE(engine_->PutMarks(IdRef("u"), {&mark, 1}).ok());
  ASSERT_TRUE(Set("u", "s", {"b"}, kHourMs, kStartMs).ok());
  ASSERT_TRUE(Set("u", "t", {"b"}).ok());
  ASSERT_TRUE(Set("u1", "s", {"b"}).ok());
  ASSERT_TRUE(engine_->ClearHistory(IdRef("u"), {.filter = true}).ok());
  EXPECT_EQ(NamesOf("u"), (Items{"s", "t"}));
  Erasure erasure;
  ASSERT_TRUE(engine_->EraseUser(IdRef("u"), {}, &erasure).ok());
  EXPECT_EQ(NamesOf("u"), Items{});
  EXPECT_EQ(NamesOf("u1"), Items{"s"});
  EXPECT_EQ(Rows(), 1u);
  EXPECT_EQ(Set("u", "s", {"b"}, kHourMs, kStartMs).field(), "/at") << "not after the erasure";
  ASSERT_TRUE(Set("u", "s", {"b"}).ok());
  EXPECT_EQ(NamesOf("u"), Items{"s"});
}

TEST_F(OwnSetsTest, AUserWithSetsAloneIsHeld) {
  Open();
  ASSERT_TRUE(Set("u", "s", {"b"}, kHourMs, kStartMs + kHourMs / 2).ok());
  Erasure erasure;
  ASSERT_TRUE(engine_->EraseUser(IdRef("u"), {}, &erasure).ok());
  EXPECT_TRUE(erasure.known);
  EXPECT_EQ(erasure.until_ms, kStartMs + kHourMs / 2) << "it covers the newest";
  EXPECT_EQ(Rows(), 0u);
}

TEST_F(OwnSetsTest, TooManyAreRefused) {
  Open();
  for (const std::string& name : Numbered("s", int{kMaxUserSets})) {
    ASSERT_TRUE(Set("u", name, {"b"}).ok());
  }
  EXPECT_EQ(Set("u", "more", {"b"}).code(), StatusCode::kIncompatible);
  EXPECT_TRUE(Set("u2", "more", {"b"}).ok());
  EXPECT_TRUE(Set("u", "s0", {"c"}).ok()) << "in place of itself";
  EXPECT_TRUE(Unset("u", "s0"));
  EXPECT_TRUE(Set("u", "more", {"b"}).ok());
  EXPECT_EQ(Set("u", "x", Numbered("i", int{kMaxUserSetItems} + 1)).field(), "/items");
  EXPECT_EQ(Set("u", "x", {"a", ""}).field(), "/items/1");
  EXPECT_EQ(Set("u", "", {"a"}).field(), "/name");
  EXPECT_EQ(Set("", "x", {"a"}).field(), "/user");
  EXPECT_EQ(Set("u", "x", {"a"}, 0).field(), "/expires_ms");
  EXPECT_EQ(Set("u", "x", {"a"}, kMaxUserSetLastsMs + 1).field(), "/expires_ms");
  EXPECT_EQ(Set("u", "x", {"a"}, 1, kStartMs + 2 * kHourMs).field(), "/at");
}

TEST_F(OwnSetsTest, ArePagedInTheOrderOfTheirBytes) {
  Open();
  ASSERT_TRUE(Set("u", "s", Numbered("i", 25)).ok());
  Items all;
  UserSetPage page;
  do {
    const std::string after = page.after;
    ASSERT_TRUE(engine_->ReadUserSet(IdRef("u"), "s", after, 10, &page).ok());
    all.insert(all.end(), page.items.begin(), page.items.end());
  } while (!page.after.empty());
  Items expected = Numbered("i", 25);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(all, expected);
  EXPECT_EQ(page.info.count, 25u);
}

TEST_F(OwnSetsTest, ADatabaseWithoutAnyHasNoFamilyForThem) {
  Open();
  const uint64_t families = engine_->Stats().column_families;
  EXPECT_EQ(Ask("u", {"a"}, "s").code(), StatusCode::kNotFound);
  EXPECT_FALSE(Unset("u", "s"));
  EXPECT_EQ(NamesOf("u"), Items{});
  EXPECT_EQ(engine_->Stats().column_families, families);
  ASSERT_TRUE(Set("u", "s", {"b"}).ok());
  EXPECT_EQ(engine_->Stats().column_families, families + 1);
}

TEST_F(OwnSetsTest, WhatCannotBeReadIsTold) {
  options_.shards = 1;
  Open();
  for (const char* user : {"sick", "sicker", "well"}) ASSERT_TRUE(Set(user, "s", {"b"}).ok());
  engine_.reset();
  {
    RawShard shard(Path());
    shard.Merge("own", OwnSetKey("sick", "s"), "no set");
    shard.Put("own", OwnSetKey("sicker", "s"), "no set");
  }
  Open();
  ASSERT_TRUE(Ask("well", {"a", "b"}, "s").ok());
  EXPECT_EQ(unseen_, Items{"a"});
  EXPECT_FALSE(answer_.degraded);
  ASSERT_TRUE(Ask("sick", {"a", "b"}, "s").ok());
  EXPECT_EQ(unseen_, Items{"a"});
  EXPECT_EQ(answer_.missing, Items{"set:s"});
  ASSERT_TRUE(Ask("sicker", {"a", "b", "shared"}, "s", &shared_).ok());
  EXPECT_EQ(unseen_, (Items{"a", "b"})) << "the shared one excludes all the same";
  EXPECT_EQ(answer_.missing, Items{"set:s"});
  UserSetList list;
  ASSERT_TRUE(engine_->ListUserSets(IdRef("sicker"), &list).ok());
  EXPECT_TRUE(list.degraded);
  UserSetPage page;
  EXPECT_EQ(engine_->ReadUserSet(IdRef("sicker"), "s", "", 1, &page).code(),
            StatusCode::kCorruption);
  EXPECT_EQ(engine_->Verify()->damaged, 2u);
  ASSERT_TRUE(engine_->EraseUser(IdRef("sicker")).ok());
  EXPECT_EQ(engine_->Verify()->damaged, 1u);
}

TEST_F(OwnSetsTest, LostOnesAreTold) {
  options_.shards = 1;
  Open();
  ASSERT_TRUE(Set("a", "t", {"b"}).ok());
  engine_.reset();
  {
    RawShard shard(Path());
    shard.Put("default", "lost_own",
              R"({"at_ms":1773144000000,"reason":"a table was damaged","users":[["75","76"]]})");
  }
  Open();
  EXPECT_EQ(Ask("a", {"b"}, "s").code(), StatusCode::kNotFound);
  ASSERT_TRUE(Ask("u", {"b", "shared"}, "s", &shared_).ok());
  EXPECT_EQ(unseen_, Items{"b"});
  EXPECT_EQ(answer_.missing, Items{"set:s"});
  clock_.Advance(70 * kDayMs);
  EXPECT_EQ(Ask("u", {"b"}, "s").code(), StatusCode::kNotFound) << "it would have ended";
}

TEST_F(OwnSetsTest, MemoryAloneTellsOfWhatItHas) {
  Open();
  ASSERT_TRUE(Set("u", "s", {"b"}).ok());
  ASSERT_TRUE(Ask("u", {"a", "b"}, "s", nullptr, {.memory_only = true}).ok());
  EXPECT_EQ(unseen_, Items{"a"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
