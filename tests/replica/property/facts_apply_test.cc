// Records of exposures, marks and sets at replicas that read them at other times, and whose
// processes die at any write: all of them answer alike, as of the records' arrival.

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/cluster_doc.h"
#include "cluster/log_record.h"
#include "cluster/meta.h"
#include "replica/applier.h"
#include "replica/replicas.h"
#include "seams.h"
#include "simulation/quick_env.h"
#include "simulation/world.h"
#include "support/mem_disk.h"

namespace seendb::replica::SEENDB_TEST_FILE {
namespace {

using cluster::LogKind;

/// 2026-03-10 12:00 UTC.
constexpr int64_t kBeginMs = 1'773'144'000'000;
constexpr int64_t kDayMs = 86'400'000;
constexpr char kInit[] =
    R"({"v":1,"kind":"init","uuid":"2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f","partitions":1,)"
    R"("replicas":2,"hash":2,"key":"000102030405060708090a0b0c0d0e0f","at_ms":1,"log_version":3,)"
    R"("default_policy":{"representation":"exact",)"
    R"("history":{"enabled":true,"deleted_items":"recommend_again"}}})";

std::shared_ptr<const cluster::Meta> MetaOfInit() {
  auto meta = std::make_shared<cluster::Meta>();
  const Status taken = meta->Apply(0, kInit);
  EXPECT_TRUE(taken.ok()) << taken.ToString();
  return meta;
}

/// A record of the only user's partition.
struct Row {
  LogKind kind;
  std::string value;
};

/// One node's disk, process and clock.
class Replica {
 public:
  explicit Replica(int64_t behind_ms) : behind_ms_(behind_ms) {
    env_ = simulation::NewQuickEnv(disk_.env(), false, &points_);
    clock_.now_ms = kBeginMs + behind_ms_;
    Open();
  }
  ~Replica() { Close(); }

  /// Applies the log from where it is, dying once at the write of that number of each record; at
  /// none where it is negative.
  void Apply(const std::vector<Row>& log, int dies_at) {
    int64_t next = 0;
    std::set<int64_t> died;
    while (next < static_cast<int64_t>(log.size())) {
      clock_.now_ms = ArrivalOf(next) + behind_ms_;
      const bool dies = dies_at >= 0 && died.insert(next).second;
      if (dies) disk_.CrashAt(MemDisk::kWriting, "", dies_at);
      Applied applied;
      const Status done = ApplyOne(log[static_cast<size_t>(next)], next, &applied);
      if (disk_.crashed()) {
        Close();
        disk_.Clear();
        disk_.Revive();
        Open();
        next =
            engine_->Sources().empty() ? 0 : engine_->Sources().front().next_of_shard.value_or(0);
        continue;
      }
      disk_.Clear();
      ASSERT_TRUE(done.ok()) << next << ": " << done.ToString();
      told_[next] = std::string(StatusCodeName(applied.verdict.code())) + " " +
                    std::to_string(applied.recorded.accepted) + "/" +
                    std::to_string(applied.recorded.refused);
      ++next;
    }
    clock_.now_ms = kBeginMs + 2 * kDayMs;
  }
  const std::map<int64_t, std::string>& told() const { return told_; }
  Engine& engine() { return *engine_; }

  /// Everything that is asked of a user.
  std::string Answers() {
    std::string text;
    MarksPage marks;
    EXPECT_TRUE(engine_->ReadMarks({.user = IdRef("u")}, &marks).ok());
    for (const MarkEntry& mark : marks.marks) {
      text += mark.group + " until " + std::to_string(mark.until_ms.value_or(-1)) + " said " +
              std::to_string(mark.said_ms - kBeginMs) + "\n";
    }
    UserSetList sets;
    EXPECT_TRUE(engine_->ListUserSets(IdRef("u"), &sets).ok());
    for (const UserSetInfo& set : sets.sets) {
      UserSetPage page;
      EXPECT_TRUE(engine_->ReadUserSet(IdRef("u"), set.name, "", 100, &page).ok());
      text += set.name + " of " + std::to_string(set.at_ms - kBeginMs) + ":";
      for (const std::string& item : page.items) text += " " + item;
      text += "\n";
    }
    CountsPage counts;
    EXPECT_TRUE(engine_->ReadCounts({.user = IdRef("u"), .by_name = true}, &counts).ok());
    for (const GroupCounts& group : counts.groups) {
      text += group.group;
      for (const FactCounts& fact : group.by_fact) text += " " + std::to_string(fact.events[3]);
      text += "\n";
    }
    for (const Fact fact : {Fact::kPlayed, Fact::kServed, Fact::kExposed}) {
      for (const char* surface : {"", "home"}) {
        if (fact == Fact::kPlayed && *surface != 0) continue;
        text += std::string(FactName(fact)) + " " + surface + ":" + SeenBy(fact, surface) + "\n";
      }
    }
    return text;
  }
  /// Those of the items that count as seen, by one fact.
  std::string SeenBy(Fact fact, std::string_view surface) {
    const NotEntry no[] = {{.fact = fact, .surface = surface}};
    std::vector<IdRef> items;
    for (const char* item : {"a", "b", "c", "d"}) items.emplace_back(item);
    const std::string_view same[] = {"src:9"};
    std::vector<CandidateGroups> groups(items.size() + 1);
    items.emplace_back("a repost");
    groups.back().same_as = same;
    const Question question{.no = no, .groups = groups};
    FilterResponse answer;
    const Status asked =
        engine_->Filter({.user = IdRef("u"), .items = items, .question = &question}, &answer);
    EXPECT_TRUE(asked.ok()) << asked.ToString();
    std::string seen;
    for (uint32_t i = 0; i < items.size(); ++i) {
      const bool is_unseen =
          std::find(answer.unseen.begin(), answer.unseen.end(), i) != answer.unseen.end();
      if (!is_unseen) seen += " " + items[i].ToString();
    }
    return seen;
  }

 private:
  static int64_t ArrivalOf(int64_t offset) { return kBeginMs + offset * 1'000; }

  void Open() {
    const auto options = Replicas::EngineOptions(*MetaOfInit()->init(), {.background = false});
    ASSERT_TRUE(options.ok()) << options.status().ToString();
    auto opened = Engine::Open("/db", *options, Seams{.clock = &clock_, .env = env_.get()});
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    engine_ = std::move(opened).value();
    if (!engine_->AttachedShards().empty()) return MakeApplier();
    ASSERT_TRUE(engine_->AttachShard(0, "").ok());
    MakeApplier();
  }
  void MakeApplier() {
    applier_ = std::make_unique<Applier>(Applier::Context{engine_.get(), "feed.log", MetaOfInit,
                                                          [](auto) { return true; }, nullptr});
  }
  void Close() {
    applier_.reset();
    engine_.reset();
  }
  Status ApplyOne(const Row& row, int64_t offset, Applied* applied) {
    const std::string header =
        cluster::EncodeLogHeader({row.kind, ArrivalOf(offset), static_cast<uint64_t>(offset), 1});
    return applier_->Apply({.partition = 0,
                            .offset = offset,
                            .time_ms = ArrivalOf(offset),
                            .key = "u",
                            .value = row.value,
                            .header = header},
                           offset, applied);
  }

  const int64_t behind_ms_;
  MemDisk disk_;
  simulation::DiskPoints points_;
  std::unique_ptr<rocksdb::Env> env_;
  simulation::SimulatedClock clock_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Applier> applier_;
  std::map<int64_t, std::string> told_;
};

std::vector<Row> Log() {
  const std::string before = std::to_string(kBeginMs - 60'000);
  return {
      {LogKind::kExposures,
       R"({"events":[{"user":"u","item":"a","surface":"home","of":["author:1"],"same_as":["src:9"]},)"
       R"({"user":"u","item":"b","at":)" +
           before + R"(}],"collection":"default"})"},
      {LogKind::kMarks,
       R"({"marks":[{"group":"g","until":5},{"group":"k","until":"always","at":)" + before + "}]}"},
      {LogKind::kExposures,
       R"({"events":[{"user":"u","item":"c","of":["author:1","topic:2"]}],"collection":"default"})"},
      {LogKind::kMarkDelete, R"({"group":"k"})"},
      {LogKind::kMarks, R"({"marks":[{"group":"k","until":9,"at":)" + before + "}]}"},  // too late
      {LogKind::kMarks, R"({"marks":[{"group":"g","until":3},{"group":"n","until":1}]})"},
      {LogKind::kMarkDelete, R"({"group":"none"})"},
      {LogKind::kMarks, R"({"marks":[{"group":"")"},  // nobody can read it
      {LogKind::kMarkDelete, R"({"no":"group"})"},
      {LogKind::kExposures, R"({"events":[{"user":"u","item":"d"}],"collection":"none"})"},
      {LogKind::kPlaysGrouped,
       R"({"events":[{"user":"u","item":"d","of":["author:1"],"same_as":["src:9"]},)"
       R"({"user":"u","item":"a"}],"collection":"default"})"},
      {LogKind::kImpressionsGrouped,
       R"({"user":"u","items":["b",{"id":"c","of":["author:1","topic:2"]}],"surface":"home"})"},
      {LogKind::kImpressionsGrouped,
       R"({"user":"u","items":[{"id":"c","of":["topic:2"]}],"at":)" + before + "}"},
      {LogKind::kPlays,
       R"({"events":[{"user":"u","item":"b","of":["author:1"]}]})"},  // not its kind
  };
}

TEST(FactsApplyTest, WhatRecordsSayIsToldAsOfTheirArrival) {
  Replica replica(0);
  replica.Apply(Log(), -1);
  EXPECT_EQ(replica.Answers(),
            "g until 5 said 5000\n"
            "n until 1 said 5000\n"
            "author:1 1 1 2\n"
            "topic:2 0 2 1\n"
            "played : a d a repost\n"
            "served : b c\n"
            "served home: b c\n"
            "exposed : a b c a repost\n"
            "exposed home: a a repost\n");
  const std::map<int64_t, std::string> told = {{0, "ok 2/0"},
                                               {1, "ok 2/0"},
                                               {2, "ok 1/0"},
                                               {3, "ok 1/0"},
                                               {4, "ok 1/0"},
                                               {5, "ok 2/0"},
                                               {6, "ok 0/0"},
                                               {7, "invalid_argument 0/0"},
                                               {8, "invalid_argument 0/0"},
                                               {9, "not_found 0/0"},
                                               {10, "ok 2/0"},
                                               {11, "ok 2/0"},
                                               {12, "ok 1/0"},
                                               {13, "invalid_argument 0/0"}};

  EXPECT_EQ(replica.told(), told);
}

TEST(FactsApplyTest, ADeletionLiftsTheGroupsThatItNames) {
  Replica replica(0);
  std::vector<Row> log = Log();
  log.push_back({LogKind::kHistoryDeleteGrouped, R"({"items":["d"],"same_as":["src:9"]})"});
  log.push_back({LogKind::kHistoryDelete, R"({"items":["a"],"same_as":["src:9"]})"});
  replica.Apply(log, -1);
  EXPECT_EQ(replica.SeenBy(Fact::kPlayed, ""), " a");
  EXPECT_EQ(replica.told().at(15), "invalid_argument 0/0");
}

TEST(FactsApplyTest, ReservationsCountWhateverTheCaps) {
  const auto served = [](Replica* replica) {
    CountsPage counts;
    EXPECT_TRUE(replica->engine().ReadCounts({.user = IdRef("u"), .kind = "ad"}, &counts).ok());
    return counts.groups.empty() ? 0 : counts.groups.front().by_fact[1].events[3];
  };
  const std::vector<Row> log = {
      {LogKind::kReserve,
       R"({"user":"u","items":[{"id":"a","of":["ad:1"]},{"id":"b","of":["ad:1"]}],"caps":[],)"
       R"("expires_ms":1000000000,"at":)" +
           std::to_string(kBeginMs) + R"(,"collection":"default"})"},
      {LogKind::kImpressionsGrouped, R"({"user":"u","items":[{"id":"a","of":["ad:1"]}]})"},
      {LogKind::kReserve, R"({"user":"u"})"}};
  for (int dies_at = -1; dies_at < 4; ++dies_at) {
    SCOPED_TRACE("dies at write " + std::to_string(dies_at));
    Replica replica(dies_at * 600'000 + 600'000);
    replica.Apply(log, dies_at);
    EXPECT_EQ(served(&replica), 2U) << "the impression takes the place of its reservation";
    // Whoever died when it was stored was not told.
    const auto told = replica.told().find(2);
    if (told != replica.told().end()) {
      EXPECT_EQ(told->second, "invalid_argument 0/0");
    }
  }
}

TEST(FactsApplyTest, TheMarksOfTheDocumentAreMarks) {
  const std::vector<std::string> page = cluster::test::DocumentBlocks("json marks");
  ASSERT_EQ(page.size(), 1U);
  Replica replica(0);
  replica.Apply({{LogKind::kMarks, page.front()}}, -1);
  EXPECT_TRUE(
      replica.Answers().starts_with("author:3 until -1 said 0\n"
                                    "channel:9 until 1773140400000 said -1000\n"))
      << replica.Answers();
}

TEST(FactsApplyTest, TheOtherKindsOfTheDocumentMeanWhatTheySay) {
  const std::vector<std::string> page = cluster::test::DocumentBlocks("json kinds");
  const std::vector<LogKind> kinds = {
      LogKind::kExposures,          LogKind::kMarkDelete,           LogKind::kPlaysGrouped,
      LogKind::kImpressionsGrouped, LogKind::kHistoryDeleteGrouped, LogKind::kReserve};
  ASSERT_EQ(page.size(), kinds.size());
  std::vector<Row> log;
  for (size_t i = 0; i < kinds.size(); ++i) log.push_back({kinds[i], page[i]});
  Replica replica(0);
  replica.Apply(log, -1);
  for (const auto& [offset, told] : replica.told()) {
    EXPECT_TRUE(told.starts_with("ok ")) << offset << " " << told;
  }
  EXPECT_EQ(replica.Answers(),
            "ad:1 0 0 0\n"
            "author:3 1 1 1\n"
            "played :\n"
            "served : c d\n"
            "served home: c d\n"
            "exposed : a\n"
            "exposed home: a\n");
}

TEST(FactsApplyTest, ReplicasThatDieAndAreLateAnswerAlike) {
  Replica first(0);
  first.Apply(Log(), -1);
  const std::string answers = first.Answers();
  for (int dies_at = 0; dies_at < 6 && !::testing::Test::HasFailure(); ++dies_at) {
    SCOPED_TRACE("dies at write " + std::to_string(dies_at));
    Replica other(dies_at * 3'600'000);
    other.Apply(Log(), dies_at);
    EXPECT_EQ(other.Answers(), answers);
  }
}

/// Puts a set that lasts for 10 days.
Row SetOf(const std::string& name, const std::string& items, const std::string& more = "") {
  return {LogKind::kUserSet, R"({"name":")" + name + R"(","items":[)" + items +
                                 R"(],"expires_ms":864000000)" + more + "}"};
}

std::vector<Row> LogOfSets() {
  const auto at = [](int64_t ms) { return ",\"at\":" + std::to_string(kBeginMs + ms); };
  std::vector<Row> log = {
      SetOf("s", R"("b",42)"),
      SetOf("s", R"("c")", at(-60'000)),  // said before the former one
      {LogKind::kUserSet, R"({"name":"t","items":["a"],"expires_ms":18500})"}};  // ends at 20.5 s
  for (int i = 0; i < 14; ++i) log.push_back(SetOf("x" + std::to_string(i), "1"));
  const std::vector<Row> then = {
      SetOf("y", R"("a")"),  // 17: too many
      {LogKind::kUserSet, R"({"name":"x0","deleted":true})"},
      SetOf("y", R"("b")"),
      SetOf("z", R"("a")"),  // 20: too many, for `t` has not ended
      SetOf("z", R"("b")"),
      {LogKind::kUserSet, R"({"name":"none","deleted":true})"},
      {LogKind::kUserSet, R"({"name":"s","items":["a"])"},  // nobody can read it
      {LogKind::kUserSet, R"({"name":"s","deleted":true,"expires_ms":1})"},
      {LogKind::kUserSet, R"({"name":"x1","deleted":true})"},
      SetOf("x1", "2", at(24'000)),  // said before its deletion
      SetOf("x2", "3", at(3'600'000)),
      SetOf("x2", "4"),  // said before that
  };
  log.insert(log.end(), then.begin(), then.end());
  return log;
}

TEST(FactsApplyTest, SetsAreThoseOfTheirArrival) {
  Replica replica(0);
  replica.Apply(LogOfSets(), -1);
  std::string expected = "s of 0: 42 b\n";
  for (const int i : {10, 11, 12, 13, 2, 3, 4, 5, 6, 7, 8, 9}) {
    expected += "x" + std::to_string(i) + " of " +
                (i == 2 ? std::string("3600000: 3") : std::to_string((i + 3) * 1'000) + ": 1") +
                "\n";
  }
  expected += "y of 19000: b\nz of 21000: b\n";
  EXPECT_TRUE(replica.Answers().starts_with(expected)) << replica.Answers();
  for (const auto& [offset, told] : replica.told()) {
    const std::string wanted = offset == 17 || offset == 20   ? "incompatible 0/0"
                               : offset == 23 || offset == 24 ? "invalid_argument 0/0"
                               : offset == 18 || offset == 25 ? "ok 1/0"
                                                              : "ok 0/0";
    EXPECT_EQ(told, wanted) << offset;
  }
}

TEST(FactsApplyTest, SetsOfReplicasThatDieAndAreLateAreAlike) {
  Replica first(0);
  first.Apply(LogOfSets(), -1);
  for (int dies_at = 0; dies_at < 5 && !::testing::Test::HasFailure(); ++dies_at) {
    SCOPED_TRACE("dies at write " + std::to_string(dies_at));
    Replica other(dies_at * 3'600'000);
    other.Apply(LogOfSets(), dies_at);
    EXPECT_EQ(other.Answers(), first.Answers());
    for (const auto& [offset, told] : other.told()) {  // a repeat says the same, but counts nothing
      const std::string& wanted = first.told().at(offset);
      EXPECT_EQ(told.substr(0, told.find(' ')), wanted.substr(0, wanted.find(' '))) << offset;
    }
  }
}

TEST(FactsApplyTest, SetsWithTimesAreFreeOfOrder) {
  std::vector<Row> log;
  for (const int64_t ms : {1, 2, 3, 4}) {
    const std::string at = ",\"at\":" + std::to_string(kBeginMs - ms);
    log.push_back(SetOf("s", std::to_string(ms), at));
    log.push_back(SetOf(ms % 2 == 0 ? "even" : "odd", std::to_string(ms), at));
  }
  log.insert(log.end(), log.begin(), log.end());  // each twice
  std::mt19937 random(1);
  for (int i = 0; i < 20 && !::testing::Test::HasFailure(); ++i) {
    std::shuffle(log.begin(), log.end(), random);
    Replica replica(0);
    replica.Apply(log, i % 5 - 1);
    EXPECT_TRUE(replica.Answers().starts_with("even of -2: 2\nodd of -1: 1\ns of -1: 1\nplayed"))
        << replica.Answers();
  }
}

TEST(FactsApplyTest, AnErasureTakesSetsThatWereSaidBefore) {
  Replica replica(0);
  std::vector<Row> log = LogOfSets();
  log.push_back({LogKind::kErase, ""});
  log.push_back(SetOf("late", "1", ",\"at\":" + std::to_string(kBeginMs)));
  // The erasure covers the newest time that it finds: that of `x2`.
  log.push_back(SetOf("new", "1", ",\"at\":" + std::to_string(kBeginMs + 3'600'001)));
  replica.Apply(log, -1);
  const int64_t erased = static_cast<int64_t>(log.size()) - 3;
  EXPECT_TRUE(replica.Answers().starts_with("new of 3600001: 1\nplayed")) << replica.Answers();
  EXPECT_EQ(replica.told().at(erased + 1), "invalid_argument 0/0");
}

TEST(FactsApplyTest, TheSetOfTheDocumentIsASet) {
  const std::vector<std::string> page = cluster::test::DocumentBlocks("json user_set");
  ASSERT_EQ(page.size(), 2U);
  Replica replica(0);
  // Lasts for an hour; what is asked is asked two days later.
  replica.Apply({{LogKind::kUserSet, page[0]}}, -1);
  EXPECT_EQ(replica.told().at(0), "ok 0/0");
  std::string lasting = page[0];
  lasting.insert(lasting.find("3600000"), "83");  // nearly ten days
  const Row deletion{LogKind::kUserSet, page[1]};
  Replica other(0);
  other.Apply({{LogKind::kUserSet, lasting}}, -1);
  EXPECT_TRUE(other.Answers().starts_with("session of -1000: 42 v1\n")) << other.Answers();
  Replica third(0);
  third.Apply({{LogKind::kUserSet, lasting}, deletion}, -1);
  EXPECT_EQ(third.told().at(1), "ok 1/0");
  EXPECT_TRUE(third.Answers().starts_with("played")) << third.Answers();
}

TEST(FactsApplyTest, AnErasureTakesWhatWasSaidBefore) {
  Replica replica(0);
  std::vector<Row> log = Log();
  log.push_back({LogKind::kErase, ""});
  log.push_back({LogKind::kMarks, R"({"marks":[{"group":"late","until":5,"at":)" +
                                      std::to_string(kBeginMs) +
                                      R"(},{"group":"new","until":5}]})"});
  replica.Apply(log, -1);
  EXPECT_TRUE(replica.Answers().starts_with("new until 5 said 15000\nplayed")) << replica.Answers();
  EXPECT_EQ(replica.told().at(15), "ok 1/1");
}

}  // namespace
}  // namespace seendb::replica::SEENDB_TEST_FILE
