// A whole database written by format version 1, kept in tests/golden/v1/db: it opens, answers what
// it answered when it was written, and takes writes. Never edited; `SEENDB_WRITE_GOLDEN=1` makes
// one where there is none, for a version that has none yet.
//
// RocksDB's files are those of 7.8; OPTIONS and LOG files are left out, nothing reads them.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "seendb/repair.h"
#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

const char kGolden[] = "tests/golden/v1/db";
constexpr int64_t kFebruaryMs = kStartMs - 20 * kDayMs;

class GoldenDatabase : public EngineTest {
 protected:
  GoldenDatabase() {
    options_.shards = 2;
    options_.ring_slots = 2;
    options_.list_limit = 64;
    options_.item_hash = 1;
    options_.item_hash_key.reset();
  }

  void SetUp() override {
    if (!std::filesystem::exists(kGolden) && std::getenv("SEENDB_WRITE_GOLDEN") != nullptr) {
      Make();
    }
    ASSERT_TRUE(std::filesystem::exists(kGolden)) << "run in the project's root folder";
    std::filesystem::copy(kGolden, Path(), std::filesystem::copy_options::recursive);
    clock_.Set(kStartMs + kHourMs);
  }

  // What the golden database holds.
  void Make() {
    Open();
    PolicyPatch daily;
    daily.bucket = BucketSpec{BucketKind::kDays, 1};
    daily.window = daily.retention = 7;
    daily.served_is_seen = true;
    daily.utc_offset_minutes = 8 * 60;
    Put("daily", daily);
    PolicyPatch exact;
    exact.representation = Representation::kExact;
    exact.impressions = 3;
    Put("exact", exact);
    Play("u1", Numbered("feb", 50), kFebruaryMs);
    Play("u3", {"before"}, kFebruaryMs);
    Drain();
    ASSERT_TRUE(engine_->Seal("default", "2026-02").ok());
    Play("u1", {"feb-late"}, kFebruaryMs);
    Play("u1", Numbered("mar", 200));
    Play("u2", {"v1", "123", "\xE8\xA7\x86"});
    Play("77", {"456"});
    Play("u1", Numbered("x", 90), kFebruaryMs, "exact");
    Play("u1", {"yesterday"}, kStartMs - kDayMs, "daily");
    Drain();
    Serve("u1", {"s1", "s2"});
    Serve("u2", {"t1", "t2", "t3", "t4"}, std::nullopt, "exact");
    Serve("u2", {"served"}, std::nullopt, "daily");
    Play("u3", {"staged"});
    ASSERT_TRUE(engine_->EraseUser(IdRef("u3")).ok());
    clock_.Advance(1000);
    Play("u3", {"after"});
    Play("u4", {"staged-1", "staged-2"});
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
    std::filesystem::copy(Path(), kGolden, std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(Path());
    for (const auto& file : std::filesystem::recursive_directory_iterator(kGolden)) {
      const std::string name = file.path().filename();
      if (name.starts_with("LOG") || name.starts_with("OPTIONS") || name == "LOCK") {
        std::filesystem::remove(file.path());
      }
    }
  }

  void ExpectAnswers() {
    Items all = Numbered("feb", 50);
    const Items march = Numbered("mar", 200);
    all.insert(all.end(), march.begin(), march.end());
    all.push_back("feb-late");
    EXPECT_EQ(Unseen("u1", all), Items{});
    EXPECT_FALSE(answer_.degraded);
    EXPECT_EQ(answer_.reasons[0].bucket_index, answer_.reasons[60].bucket_index - 1);
    EXPECT_EQ(Unseen("u1", {"s1", "s2", "v1"}), Items{"v1"});
    EXPECT_EQ(answer_.reasons[0].kind, ReasonKind::kImpression);
    EXPECT_EQ(Unseen("u2", {"v1", "0123", "123", "\xE8\xA7\x86", "v2"}), (Items{"0123", "v2"}));
    EXPECT_EQ(Unseen("77", {"456", "457"}), Items{"457"});
    EXPECT_EQ(Unseen("u1", Numbered("x", 91), "exact"), Items{"x90"});
    EXPECT_EQ(Unseen("u1", {"yesterday", "served"}, "daily"), Items{"served"});
    EXPECT_EQ(Unseen("u2", {"t1", "t2", "t3", "t4"}, "exact"), Items{"t1"});
    EXPECT_EQ(Unseen("u2", {"yesterday", "served"}, "daily", kFactPlays), Items{"yesterday"});
    EXPECT_EQ(Unseen("u3", {"before", "staged", "after"}), (Items{"before", "staged"}));
    EXPECT_EQ(Unseen("u4", {"staged-1", "staged-2", "staged-3"}), Items{"staged-3"});
  }

  // tests/golden/v1/answers.tsv: collection, user, item, "seen" or "unseen"; item by item.
  void ExpectStoredAnswers() {
    std::ifstream file("tests/golden/v1/answers.tsv");
    std::string collection, user, item, verdict;
    int seen = 0, unseen = 0;
    while (std::getline(file, collection, '\t') && std::getline(file, user, '\t') &&
           std::getline(file, item, '\t') && std::getline(file, verdict)) {
      const bool is_unseen = Unseen(user, {item}, collection) == Items{item};
      EXPECT_EQ(is_unseen ? "unseen" : "seen", verdict) << collection << " " << user << " " << item;
      EXPECT_FALSE(answer_.degraded);
      ++(is_unseen ? unseen : seen);
    }
    EXPECT_GT(seen, 300);
    EXPECT_GT(unseen, 20);
  }

  void ExpectSound() {
    const Result<VerifyReport> report = engine_->Verify();
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(report->damaged, 0u);
    EXPECT_GT(report->keys, 10u);
    EXPECT_EQ(engine_->Stats().problems, std::vector<std::string>{});
  }
};

TEST_F(GoldenDatabase, AnswersAsItDid) {
  Open();
  ExpectAnswers();
  ExpectStoredAnswers();
  ExpectSound();
  const Result<UserReport> report = engine_->Inspect(IdRef("u1"), "default");
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->buckets.size(), 2u);
  EXPECT_EQ(report->buckets[0].form, FilterForm::kLayers);
  EXPECT_EQ(report->buckets[0].items, 200u);
  EXPECT_EQ(report->buckets[1].form, FilterForm::kSealed);
  EXPECT_EQ(report->buckets[1].list_items, 1u) << "the late play";
  EXPECT_EQ(report->buckets[1].items, 51u);
}

TEST_F(GoldenDatabase, TakesWritesAndReopens) {
  Open();
  const Items fresh = Numbered("new", 100);
  EXPECT_EQ(Play("u1", fresh), fresh.size());
  EXPECT_EQ(Play("u1", {"feb-later"}, kFebruaryMs), 1u);
  Serve("u4", {"w1"});
  Drain();
  for (const bool reopened : {false, true}) {
    if (reopened) Reopen();
    ExpectAnswers();
    ExpectStoredAnswers();
    EXPECT_EQ(Unseen("u1", fresh), Items{});
    EXPECT_EQ(Unseen("u1", {"feb-later"}), Items{});
    EXPECT_EQ(Unseen("u4", {"w1", "staged-1"}), Items{});
    ExpectSound();
  }
  ASSERT_TRUE(engine_->Seal("default", "2026-02").ok());
  ASSERT_TRUE(engine_->Seal("default", "2026-03").ok());
  ASSERT_TRUE(engine_->Compact().ok());
  ExpectAnswers();
  ExpectStoredAnswers();
  EXPECT_EQ(Unseen("u1", fresh), Items{});
  ExpectSound();
  Reopen();
  ExpectStoredAnswers();
}

// What verify says of a database written before FILES was; a write brings it up to date.
TEST_F(GoldenDatabase, VerifiesAfterAWrite) {
  const auto before = VerifyFiles(Path());
  ASSERT_TRUE(before.ok()) << before.status().ToString();
  for (const FileDamage& damage : before->damages) {
    EXPECT_TRUE(damage.file.ends_with("/FILES") && damage.kind == "missing") << damage.file;
  }
  Open();
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  const auto after = VerifyFiles(Path());
  ASSERT_TRUE(after.ok()) << after.status().ToString();
  EXPECT_TRUE(after->damages.empty()) << after->damages[0].file << " " << after->damages[0].kind;
}

TEST_F(GoldenDatabase, IsReadWithoutBeingTouched) {
  const auto files = [](const std::filesystem::path& folder) {
    std::map<std::string, std::string> bytes;  // by path below the folder
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = file.path().filename();
      if (!file.is_regular_file() || name.starts_with("LOG")) continue;  // RocksDB's own log
      std::ostringstream text;
      text << std::ifstream(file.path(), std::ios::binary).rdbuf();
      bytes[file.path().lexically_relative(folder)] = text.str();
    }
    return bytes;
  };
  options_.read_only = true;
  Open();
  ExpectAnswers();
  engine_.reset();
  EXPECT_TRUE(files(Path()) == files(kGolden));
}

TEST_F(GoldenDatabase, OthersAreRefusedByName) {
  const std::string path = Path() + "/SEENDB";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string changed = text.str();
    const size_t at = changed.find(from);
    if (at == std::string::npos) return "no " + from + " in " + path;
    std::ofstream(path) << changed.replace(at, from.size(), to);
    Seams seams;
    seams.clock = &clock_;
    const auto opened = Engine::Open(Path(), options_, seams);
    if (opened.ok()) return std::string("it opened");
    return opened.status().ToString();
  };
  EXPECT_NE(refusal("\"format\": 1", "\"format\": 3").find("incompatible"), std::string::npos);
  EXPECT_NE(refusal("\"format\": 1", "\"format\": 3").find("format 3"), std::string::npos);
  EXPECT_NE(refusal("\"hash\": 1", "\"hash\": 9").find("hash is 9"), std::string::npos);
  EXPECT_NE(refusal("seendb.seen.v1", "seendb.seen.v7").find("seendb.seen.v7"), std::string::npos);
  EXPECT_NE(refusal("\"shards\": 2", "\"shards\": 3").find("3"), std::string::npos);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
