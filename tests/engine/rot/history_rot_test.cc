// Watch history after each kind of damage to each file, before and after a repair: what an answer
// shows was recorded, what it may lack it says, nobody suffers for another shard, and a verified
// filter refutes nothing that was played: not where history lost entries, nor where what clears and
// pauses took from it is not known any more.

#include "seendb/repair.h"
#include "support/rot_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kWeekMs = 7 * kDayMs;
constexpr int kNeverPlayed = 300;
// What was done to some of the users besides.
constexpr int kPausedUser = 6, kClearedUser = 7;

struct State {
  int64_t at_ms;
  int32_t progress_s;
  bool operator<(const State& other) const {
    return std::tie(at_ms, progress_s) < std::tie(other.at_ms, other.progress_s);
  }
  bool operator==(const State&) const = default;
};

class HistoryRotTest : public RotFixture, public ::testing::WithParamInterface<Damage> {
 protected:
  HistoryRotTest() { options_.list_limit = 16; }

  void Watched(int user, const std::string& prefix, int from, int to, int64_t at_ms,
               bool kept = true) {
    std::vector<Watch> watches;
    std::vector<seendb::Play> plays;
    Items items;
    for (int i = from; i < to; ++i) {
      items.push_back(prefix + std::to_string(i));
      watches.push_back({.progress_s = i + 1, .duration_s = 1'000});
    }
    const std::string name = UserName(user);
    for (size_t i = 0; i < items.size(); ++i) {
      plays.push_back({IdRef(name), IdRef(items[i]), at_ms, &watches[i]});
      played_[user].insert(items[i]);
      if (!kept) continue;
      shown_[user][items[i]] = {at_ms, *watches[i].progress_s};
      known_[user][items[i]].insert({at_ms, *watches[i].progress_s});
    }
    const auto recorded = engine_->RecordPlays(plays, {.collection = "video"});
    ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
    ASSERT_EQ(recorded->accepted, plays.size());
  }
  void WatchedByAll(const std::string& prefix, int from, int to, int64_t at_ms) {
    for (int user = 0; user < kUsers; ++user) Watched(user, prefix, from, to, at_ms);
  }
  void DeletedByAll(const std::string& prefix, int from, int to) {
    for (int user = 0; user < kUsers; ++user) {
      Items items;
      for (int i = from; i < to; ++i) items.push_back(prefix + std::to_string(i));
      const std::vector<IdRef> ids(items.begin(), items.end());
      const std::string name = UserName(user);
      ASSERT_TRUE(engine_->DeleteHistory(IdRef(name), "video", ids).ok());
      for (const std::string& item : items) shown_[user].erase(item);
    }
  }

  // Two sealed buckets and an open one, whole but for what one user paused and another cleared;
  // deletions, heartbeats behind plays; in tables, in the log and in the ring.
  void MakeWatched() {
    Open();
    PolicyPatch patch;
    patch.bucket = BucketSpec{BucketKind::kDays, 7};
    patch.window = 3;
    patch.retention = 8;
    patch.fpr = 0.5;
    patch.max_future_ms = kHourMs;
    patch.history.enabled = true;
    Put("video", patch);
    clock_.Advance(kWeekMs);
    WatchedByAll("a", 0, 60, kStartMs + kWeekMs);
    const std::string paused = UserName(kPausedUser);
    ASSERT_TRUE(engine_->SetRecording(IdRef(paused), true).ok());
    clock_.Advance(kHourMs);
    Watched(kPausedUser, "p", 0, 60, kStartMs + kWeekMs + kHourMs / 2, false);
    ASSERT_TRUE(engine_->SetRecording(IdRef(paused), false).ok());
    Drain();
    clock_.Advance(kWeekMs);
    WatchedByAll("b", 0, 60, kStartMs + 2 * kWeekMs);
    WatchedByAll("a", 0, 10, kStartMs + 2 * kWeekMs);
    DeletedByAll("a", 50, 55);
    Drain();
    const std::string cleared = UserName(kClearedUser);
    ASSERT_TRUE(engine_->ClearHistory(IdRef(cleared)).ok());
    shown_[kClearedUser].clear();
    FlushRaw({"users", "history/", "timeline/"});
    clock_.Advance(kWeekMs);
    WatchedByAll("c", 0, 60, kStartMs + 3 * kWeekMs);
    DeletedByAll("b", 50, 55);
    Drain();
    ASSERT_TRUE(engine_->SealClosed().ok());
    ASSERT_TRUE(engine_->Compact().ok());
    WatchedByAll("d", 0, 20, kStartMs + 3 * kWeekMs);
    Drain();
    FlushRaw({"history/", "timeline/"});
    WatchedByAll("e", 0, 10, kStartMs + 3 * kWeekMs);
    ASSERT_NO_FATAL_FAILURE(CheckAll("", true));
    EXPECT_GT(refuted_, 0) << "a sound history refutes";
    ASSERT_NO_FATAL_FAILURE(KeepSound());
  }

  // Whether the file may concern the user, by where it is.
  bool Concerns(const fs::path& file, const std::string& user) const {
    return file.parent_path() == ShardPath("", engine_->ShardOf(IdRef(user))).substr(1);
  }

  // `exact`: nothing was lost that answers don't speak of.
  void CheckUser(int user, const fs::path& file, bool exact) {
    const std::string name = UserName(user);
    SCOPED_TRACE(name);
    HistoryPage page;
    const Status read = engine_->ReadHistory({.user = IdRef(name), .limit = 1'000}, &page);
    ASSERT_TRUE(read.ok()) << read.ToString();
    EXPECT_EQ(page.degraded, !page.missing.empty());
    if (!Concerns(file, name)) {
      EXPECT_FALSE(page.degraded) << "is of another shard";
    }
    std::map<std::string, State> found;
    for (const HistoryEntry& entry : page.entries) {
      const State state{entry.at_ms, entry.progress_s};
      EXPECT_TRUE(found.emplace(entry.item, state).second) << entry.item << " twice";
      EXPECT_TRUE(known_[user][entry.item].contains(state)) << entry.item << " was never so";
    }
    if (!page.degraded && exact) {
      EXPECT_EQ(found, shown_[user]);
    }
    CheckLookup(user, exact);
    CheckVerified(user, repaired_ && page.degraded);
    if (page.degraded) ++degraded_;
  }
  void CheckLookup(int user, bool exact) {
    const std::string name = UserName(user);
    const Items items(played_[user].begin(), played_[user].end());
    const std::vector<IdRef> ids(items.begin(), items.end());
    HistoryLookup found;
    const Status looked = engine_->LookupHistory(IdRef(name), "video", ids, &found);
    ASSERT_TRUE(looked.ok()) << looked.ToString();
    for (size_t i = 0; i < items.size(); ++i) {
      const auto shown = shown_[user].find(items[i]);
      if (found.entries[i]) {
        const State state{found.entries[i]->at_ms, found.entries[i]->progress_s};
        EXPECT_TRUE(known_[user][items[i]].contains(state)) << items[i];
      }
      if (found.degraded || !exact) continue;
      ASSERT_EQ(found.entries[i].has_value(), shown != shown_[user].end()) << items[i];
    }
  }
  // Nothing played is refuted, and nothing at all where history has `lost` something for good.
  void CheckVerified(int user, bool lost) {
    const std::string name = UserName(user);
    Items items(played_[user].begin(), played_[user].end());
    const size_t played = items.size();
    for (const std::string& item : Numbered("never", kNeverPlayed)) items.push_back(item);
    const std::vector<IdRef> ids(items.begin(), items.end());
    FilterRequest request;
    request.collection = "video";
    request.user = IdRef(name);
    request.items = ids;
    request.facts = kFactPlays;
    request.verify = request.explain = true;
    const Status asked = engine_->Filter(request, &answer_);
    ASSERT_TRUE(asked.ok()) << asked.ToString();
    for (size_t i = 0; i < played; ++i) {
      if (answer_.degraded) continue;
      EXPECT_NE(answer_.reasons[i].kind, ReasonKind::kRefuted) << items[i] << " was played";
      EXPECT_NE(answer_.reasons[i].kind, ReasonKind::kUnseen) << items[i];
    }
    if (lost) {
      EXPECT_EQ(answer_.refuted, 0u);
    }
    refuted_ += answer_.refuted;
  }
  void CheckAll(const fs::path& file, bool exact) {
    for (int user = 0; user < kUsers; ++user) {
      ASSERT_NO_FATAL_FAILURE(CheckUser(user, file, exact));
    }
  }

  std::string FamilyOf(const fs::path& file) const {
    const auto at = families_.find(file);
    return at == families_.end() ? "" : at->second;
  }
  // New plays, deletions and a clear, while something is lost.
  void GoOn(const fs::path& file) {
    const int64_t now_ms = kStartMs + 3 * kWeekMs;
    const std::string name = "somebody new";
    ASSERT_EQ(Play(name, {"n1", "n2"}, now_ms, "video"), 2u);
    const std::vector<IdRef> one{IdRef("n1")};
    ASSERT_TRUE(engine_->DeleteHistory(IdRef(name), "video", one).ok());
    ASSERT_TRUE(engine_->Drain().ok());
    ASSERT_TRUE(engine_->SealClosed().ok());
    ASSERT_TRUE(engine_->Compact().ok());
    HistoryPage page;
    ASSERT_TRUE(engine_->ReadHistory({.user = IdRef(name)}, &page).ok());
    ASSERT_EQ(page.entries.size(), 1u);
    EXPECT_EQ(page.entries[0].item, "n2");
    if (!Concerns(file, name)) {
      EXPECT_FALSE(page.degraded);
    }
  }

  std::map<int, std::map<std::string, State>> shown_;
  std::map<int, std::map<std::string, std::set<State>>> known_;
  std::map<int, std::set<std::string>> played_;
  uint64_t refuted_ = 0;
  bool repaired_ = false;
};

// Every kind of damage in one test: making the database takes longer than the cases.
TEST_F(HistoryRotTest, IsRefusedOrSaid) {
  ASSERT_NO_FATAL_FAILURE(MakeWatched());
  std::array<int, kDamageNames.size()> opened{}, degraded{};
  for (const fs::path& file : Files()) {
    const std::string family = FamilyOf(file);
    if (!family.starts_with("history/") && !family.starts_with("timeline/")) continue;
    const size_t begun = files_begun_++;
    for (size_t kind = 0; kind < kDamageNames.size(); ++kind) {
      if (!test::Sampled(begun + kind)) continue;
      SCOPED_TRACE(file.string() + " " + family + " " + kDamageNames[kind]);
      CopySound();
      Apply(fs::path(Path()) / file, static_cast<Damage>(kind), &random_);
      Status refused;
      if (!TryOpen(&refused)) {
        EXPECT_NE(refused.message().find(file.filename().string()), std::string::npos)
            << refused.ToString();
        continue;
      }
      ++opened[kind];
      degraded_ = 0;
      ASSERT_NO_FATAL_FAILURE(CheckAll(file, true));
      degraded[kind] += degraded_;
    }
  }
  for (size_t kind = 0; AllTried() && kind < kDamageNames.size(); ++kind) {
    SCOPED_TRACE(kDamageNames[kind]);
    EXPECT_GT(opened[kind], 0);
    EXPECT_TRUE(static_cast<Damage>(kind) < Damage::kHalf || degraded[kind] > 0);
  }
}

TEST_P(HistoryRotTest, IsRepaired) {
  ASSERT_NO_FATAL_FAILURE(MakeWatched());
  // Families that history is told by; the others are as without history.
  const std::set<std::string> kTold{"history", "timeline", "users", "default"};
  degraded_ = 0;
  repaired_ = true;
  std::set<std::string> kinds;
  for (const fs::path& file : Files()) {
    const std::string family = FamilyOf(file);
    const std::string kind = family.substr(0, family.find('/'));
    if (!kTold.contains(kind) && file.extension() != ".log") continue;
    SCOPED_TRACE(file.string() + " " + family);
    kinds.insert(kind);
    if (!Tried(static_cast<size_t>(GetParam()))) continue;
    CopySound();
    Apply(fs::path(Path()) / file, GetParam(), &random_);
    Seams seams;
    seams.clock = &clock_;
    const Result<RepairReport> report = Repair(Path(), {}, seams);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    Status refused;
    ASSERT_TRUE(TryOpen(&refused)) << refused.ToString();
    // What clears took may be back, where it is not known any more that they were.
    const bool exact = family != "users";
    ASSERT_NO_FATAL_FAILURE(CheckAll(file, exact));
    ASSERT_NO_FATAL_FAILURE(GoOn(file));
    ASSERT_NO_FATAL_FAILURE(CheckAll(file, exact));
    const Result<VerifyReport> values = engine_->Verify();
    ASSERT_TRUE(values.ok()) << values.status().ToString();
    EXPECT_EQ(values->damaged, 0u);
    ASSERT_TRUE(engine_->Close().ok());
    ASSERT_TRUE(TryOpen(&refused)) << refused.ToString();
    ASSERT_NO_FATAL_FAILURE(CheckAll(file, exact));
  }
  for (const std::string& kind : kTold) EXPECT_TRUE(kinds.contains(kind)) << kind;
  EXPECT_TRUE(kinds.contains("")) << "logs";
  EXPECT_TRUE(degraded_ > 0 || !AllTried());
}

INSTANTIATE_TEST_SUITE_P(Every, HistoryRotTest, EveryDamage(), DamageName);

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
