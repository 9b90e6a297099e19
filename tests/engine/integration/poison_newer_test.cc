// Values of newer versions inside a database of this one: told from damage and named, never lost.
// A journal record or an erasure refuses the opening, which then changes nothing; a filter's or
// impressions' operand is kept whole by every merge, and answers that lack it say so.

#include <map>

#include "format/filter_codec.h"
#include "format/impressions_codec.h"
#include "format/journal_codec.h"
#include "format/user_codec.h"
#include "support/engine_fixture.h"
#include "support/poison.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr char kSeen[] = "seen/default/2026-03";
constexpr char kImpressions[] = "impressions/default";
constexpr char kNewer[] = " version 2 is newer than this software (1)";
constexpr char kNewerImpressions[] = "impressions version 4 is newer than this software (3)";

using Contents = std::map<std::string, std::map<std::string, std::string>>;

class NewerTest : public EngineTest {
 protected:
  NewerTest() { options_.shards = 1; }

  void SetUp() override {
    Open();
    Play("u", Numbered("v", 40));
    Serve("u", {"served"});
    Drain();
    Play("u", {"staged"});
    engine_.reset();
  }
  Contents All() const {
    Contents contents;
    RawShard shard(Path());
    for (const std::string& family : shard.families()) contents[family] = shard.All(family);
    return contents;
  }
  // Refused by name, again and again, and however it is opened for writing.
  void ExpectRefused(const std::string& what) {
    const Contents before = All();
    for (const bool damaged_too : {false, true}) {
      options_.open_damaged = damaged_too;
      const Status refused = TryOpen();
      ASSERT_EQ(refused.code(), StatusCode::kIncompatible) << refused.ToString();
      EXPECT_NE(refused.message().find(what + kNewer), std::string::npos) << refused.ToString();
      EXPECT_NE(refused.message().find("shard-0000"), std::string::npos) << refused.ToString();
      EXPECT_EQ(All(), before);
    }
    options_.open_damaged = false;
    options_.read_only = true;
    EXPECT_EQ(TryOpen().code(), StatusCode::kIncompatible);
    // Only to look at the rest.
    options_.open_damaged = true;
    Open();
    EXPECT_EQ(Unseen("u", {"v1", "new"}), Items{"new"});
    EXPECT_EQ(answer_.missing, Items{"log"});
    ExpectVerified(1, 0);
    engine_.reset();
    options_.read_only = options_.open_damaged = false;
    EXPECT_EQ(All(), before);
  }
  void ExpectVerified(uint64_t newer, uint64_t damaged) {
    const auto report = engine_->Verify();
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(report->newer, newer);
    EXPECT_EQ(report->damaged, damaged);
    ASSERT_EQ(report->damages.size(), newer + damaged);
    for (const DamageReport& one : report->damages) {
      const bool named = one.reason.find(kNewer) != std::string::npos ||
                         one.reason.find(kNewerImpressions) != std::string::npos;
      EXPECT_EQ(one.newer, named) << one.reason;
    }
  }
  bool IsAProblem(const std::string& text) {
    const EngineStats stats = engine_->Stats();
    return std::any_of(
        stats.problems.begin(), stats.problems.end(),
        [&](const std::string& problem) { return problem.find(text) != std::string::npos; });
  }
  // Longer than what is kept of damage.
  std::string NewerDelta(Fingerprint first) const {
    std::vector<Fingerprint> items;
    for (Fingerprint i = 0; i < 200; ++i) items.push_back(first + i);
    std::string delta;
    EncodeDelta(kStartMs, items, &delta);
    return Newer(delta);
  }
  // What merges have set aside in u's filter.
  DamageSet SetAside() const {
    RawShard shard(Path());
    const std::string value = shard.All(kSeen)["u"];
    FilterView view;
    DamageSet damage;
    EXPECT_TRUE(view.Parse(value));
    EXPECT_TRUE(view.damage.empty() || DamageSet::Read(view.damage, &damage));
    return damage;
  }
};

TEST_F(NewerTest, AJournalRecordRefusesTheOpening) {
  JournalEncoder encoder;
  encoder.Begin("default", 0);
  encoder.Add("u", 0, 1);
  const std::string record = Newer(std::string(encoder.Finish()));
  {
    RawShard shard(Path());
    shard.Put("ring/3", SequenceKey(uint64_t{1} << 40 | 9), record);
  }
  ExpectRefused("ring/3, 1:9: journal record");
  {
    RawShard shard(Path());
    ASSERT_TRUE(
        shard.db()->Delete({}, shard.family("ring/3"), SequenceKey(uint64_t{1} << 40 | 9)).ok());
  }
  Open();
  EXPECT_EQ(Unseen("u", {"staged", "new"}), Items{"new"});
  EXPECT_FALSE(answer_.degraded);
}

TEST_F(NewerTest, AnErasureRefusesTheOpening) {
  std::string record;
  UserRecord{7, kStartMs, false}.Encode(&record);
  {
    RawShard shard(Path());
    shard.Put("users", "someone", Newer(record));
  }
  ExpectRefused("users, someone: user record");
}

// The same where a merge has met it before the opening looks.
TEST_F(NewerTest, AMergedErasureRefusesTheOpening) {
  std::string record;
  UserRecord{7, kStartMs, false}.Encode(&record);
  {
    RawShard shard(Path());
    shard.Merge("users", "someone", Newer(record));
    shard.Merge("users", "someone", record);
    shard.Merge("users", "someone", Newer(record));
    shard.Flush("users");
    ASSERT_TRUE(shard.db()->CompactRange({}, shard.family("users"), nullptr, nullptr).ok());
    UserRecord merged;
    ASSERT_TRUE(merged.Parse(shard.All("users")["someone"]));
    EXPECT_EQ(merged.newer, std::vector<std::string>{Newer(record)});
    EXPECT_EQ(merged.erased_seq, 7u);
    EXPECT_FALSE(merged.damaged);
  }
  ExpectRefused("users, someone: set aside: user record");
}

TEST_F(NewerTest, AFiltersOperandsAreKeptWhole) {
  {
    RawShard shard(Path());
    shard.Merge(kSeen, "u", NewerDelta(1));
    shard.Flush(kSeen);
    shard.Merge(kSeen, "u", NewerDelta(2));
  }
  Open();
  EXPECT_EQ(Unseen("u", {"v1", "new"}), Items{"new"}) << "the others count";
  EXPECT_EQ(answer_.missing, Items{"2026-03"});
  EXPECT_TRUE(IsAProblem(std::string("default/2026-03: set aside: seen filter") + kNewer));
  ExpectVerified(1, 0);
  Play("u", {"after"});
  Drain();
  ASSERT_TRUE(engine_->Compact().ok());
  ASSERT_TRUE(engine_->Seal("default", "2026-03").ok());
  EXPECT_EQ(Unseen("u", {"after", "v39", "new"}), Items{"new"});
  EXPECT_TRUE(answer_.degraded);
  ExpectVerified(1, 0);
  const auto report = engine_->Inspect(IdRef("u"));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->buckets.at(0).damaged, 2u);
  engine_.reset();
  const DamageSet kept = SetAside();
  EXPECT_TRUE(kept.entries.empty());
  EXPECT_EQ(kept.newer.size(), 2u);
  for (const std::string& value : kept.newer) {
    EXPECT_TRUE(value == NewerDelta(1) || value == NewerDelta(2));
  }
}

TEST_F(NewerTest, AFiltersValueIsKeptWholeUnderWhatIsMergedOntoIt) {
  {
    RawShard shard(Path());
    shard.Put(kSeen, "u", NewerDelta(1));
    shard.Flush(kSeen);
  }
  Open();
  Unseen("u", {"v1"});
  EXPECT_EQ(answer_.missing, Items{"2026-03"});
  EXPECT_TRUE(IsAProblem(std::string("default/2026-03: seen filter") + kNewer));
  EXPECT_EQ(engine_->Inspect(IdRef("u"))->buckets.at(0).error, std::string("seen filter") + kNewer);
  ASSERT_TRUE(engine_->Compact().ok());
  ExpectVerified(1, 0);
  Drain();  // what was staged
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_EQ(Unseen("u", {"staged", "new"}), Items{"new"});
  EXPECT_TRUE(answer_.degraded);
  engine_.reset();
  EXPECT_EQ(SetAside().newer, std::vector<std::string>{NewerDelta(1)});
}

// Many damaged operands push none of them out.
TEST_F(NewerTest, DamageBesideItIsDamage) {
  {
    RawShard shard(Path());
    for (int i = 0; i < 12; ++i) shard.Merge(kSeen, "u", "noise " + std::to_string(i));
    shard.Merge(kSeen, "u", NewerDelta(1));
  }
  Open();
  ASSERT_TRUE(engine_->Compact().ok());
  ExpectVerified(0, 1);
  engine_.reset();
  EXPECT_EQ(SetAside().newer, std::vector<std::string>{NewerDelta(1)});
}

TEST_F(NewerTest, ImpressionsAreKeptWhole) {
  ImpressionList list;
  for (uint32_t i = 0; i < 100; ++i) {
    list.entries.push_back({kStartMs, 5, 100 - i, i, "id", "home"});
  }
  std::string served;
  list.Encode(&served);
  {
    RawShard shard(Path());
    shard.Merge(kImpressions, "u", Newer(served));
    shard.Flush(kImpressions);
    shard.Put(kImpressions, "w", Newer(served));
  }
  Open();
  EXPECT_EQ(Unseen("u", {"served", "new"}), Items{"new"});
  EXPECT_EQ(answer_.missing, Items{"impressions"});
  EXPECT_TRUE(IsAProblem(std::string("default/impressions: set aside: ") + kNewerImpressions));
  EXPECT_EQ(engine_->Inspect(IdRef("w"))->impressions.at(0).error, kNewerImpressions);
  Serve("w", {"then"});
  Serve("u", {"then"});
  ASSERT_TRUE(engine_->Compact().ok());
  EXPECT_EQ(Unseen("w", {"then", "new"}), Items{"new"});
  EXPECT_EQ(answer_.missing, Items{"impressions"});
  ExpectVerified(2, 0);
  engine_.reset();
  RawShard shard(Path());
  for (const auto& [user, value] : shard.All(kImpressions)) {
    ASSERT_TRUE(list.Parse(value)) << user;
    EXPECT_EQ(list.damage.newer, std::vector<std::string>{Newer(served)}) << user;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
