// A LocalFilter with a dump answers as Engine::Filter does for the same state: staged, drained,
// sealed, exact and at the ceiling, with overrides, marks, groups, impressions and exposures.

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "seendb_local.hpp"
#include "support/engine_fixture.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using seendb_local::Candidate;
using seendb_local::LocalFilter;

constexpr size_t kProbesOfRun = 60'000, kProbesOfTorture = 10'000'000;

class LocalFilterTest : public EngineTest {
 protected:
  uint64_t Below(uint64_t end) { return random_() % end; }
  std::string SomeItem() {
    const uint64_t number = Below(items_);
    return (number % 2 == 0 ? "" : "v") + std::to_string(number);
  }
  std::vector<std::string> SomeGroups(const char* kind) {
    std::vector<std::string> groups;
    if (Below(4) != 0) return groups;
    for (uint64_t left = Below(3); left > 0; --left) {
      groups.push_back(kind + std::to_string(Below(40)));
    }
    return groups;
  }
  static std::vector<std::string_view> ViewsOf(const std::vector<std::string>& groups) {
    return {groups.begin(), groups.end()};
  }

  LocalFilter Local() const {
    const ItemHashKey given = engine_->ReadItemHashKey();
    seendb_local_key key{};
    key.version = given.version;
    std::memcpy(key.secret, given.secret.data(), sizeof(key.secret));
    return LocalFilter(key);
  }

  void PlaySome(uint64_t count, int64_t back_ms) {
    for (uint64_t i = 0; i < count; ++i) {
      const std::string item = SomeItem();
      const std::vector<std::string> groups = SomeGroups("src:");
      const std::vector<std::string_view> views = ViewsOf(groups);
      const struct Play play {
        .user = IdRef("u"), .item = IdRef(item),
        .at_ms = clock_.NowMs() - static_cast<int64_t>(Below(static_cast<uint64_t>(back_ms))),
        .same_as = views
      };
      ASSERT_TRUE(engine_->RecordPlays({&play, 1}).ok());
    }
  }
  void DeleteSome(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const std::string item = SomeItem();
      const IdRef id(item);
      ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "default", {&id, 1}).ok());
    }
  }
  void ShowSome(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const std::string item = SomeItem();
      Serve("u", {SomeItem()});
      const Exposure exposure{.user = IdRef("u"), .item = IdRef(item), .surface = "home"};
      ASSERT_TRUE(engine_->RecordExposures({&exposure, 1}).ok());
    }
  }
  void MarkSome(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const std::string group = "channel:" + std::to_string(Below(40));
      Mark mark{.group = group};
      if (Below(2) == 0) mark.until_ms = clock_.NowMs() - static_cast<int64_t>(Below(1'000));
      ASSERT_TRUE(engine_->PutMarks(IdRef("u"), {&mark, 1}).ok());
    }
  }

  /// Pages of candidates, most of them not known to the engine, until so many were asked.
  void Compare(LocalFilter& local, size_t probes) {
    FilterDump dump;
    ASSERT_TRUE(engine_->DumpFilter({.user = IdRef("u")}, &dump).ok());
    const std::string bytes = dump.Encode(DumpHashesIn(local.etag()));
    ASSERT_EQ(local.Take(bytes.data(), bytes.size()), SEENDB_LOCAL_OK);
    ASSERT_EQ(local.etag(), dump.Etag());
    EXPECT_EQ(local.info().key_id, dump.key_id);
    for (size_t asked = 0; asked < probes; asked += kPage) ComparePage(local);
  }

  void ComparePage(const LocalFilter& local) {
    std::vector<std::string> ids(kPage);
    std::vector<std::vector<std::string>> of(kPage), same(kPage);
    std::vector<std::vector<std::string_view>> of_views(kPage), same_views(kPage);
    std::vector<CandidateGroups> groups(kPage);
    std::vector<IdRef> items;
    std::vector<Candidate> candidates(kPage);
    const bool grouped = Below(4) == 0;
    for (size_t i = 0; i < kPage; ++i) {
      ids[i] = Below(2) == 0 ? SomeItem() : "x" + std::to_string(random_());
      candidates[i].id = ids[i];
      if (grouped) {
        of[i] = SomeGroups("channel:");
        same[i] = SomeGroups("src:");
        candidates[i].of = of_views[i] = ViewsOf(of[i]);
        candidates[i].same_as = same_views[i] = ViewsOf(same[i]);
        if (Below(2) == 0) {
          candidates[i].at_ms = clock_.NowMs() - static_cast<int64_t>(Below(2'000));
        }
      }
    }
    for (size_t i = 0; i < kPage; ++i) {
      items.emplace_back(ids[i]);
      groups[i] = {.of = of_views[i], .at_ms = candidates[i].at_ms, .same_as = same_views[i]};
    }
    const Question question{.groups = groups};
    FilterRequest request{.user = IdRef("u"), .items = items};
    if (grouped) request.question = &question;
    ASSERT_TRUE(engine_->Filter(request, &answer_).ok());
    const std::vector<size_t> unseen = local.Unseen(candidates);
    ASSERT_EQ(std::vector<size_t>(answer_.unseen.begin(), answer_.unseen.end()), unseen);
    seen_ += answer_.seen;
  }

  /// One life of a user, which is compared after each step.
  void Live(const PolicyPatch& patch, uint32_t version, size_t plays) {
    options_.item_hash = version;
    options_.item_hash_key.reset();
    Open();
    Put("default", patch);
    LocalFilter local = Local();
    const char* const torture = std::getenv("SEENDB_LOCAL_PROBES");
    const size_t all = torture == nullptr ? kProbesOfRun : kProbesOfTorture;
    const size_t probes = all / 8 + 1;
    items_ = 3 * plays;
    Compare(local, kPage);
    PlaySome(plays / 2, 60 * kDayMs);
    Compare(local, probes);
    Drain();
    Compare(local, probes);
    PlaySome(plays / 4, kDayMs);
    ShowSome(100);
    MarkSome(20);
    DeleteSome(100);
    Compare(local, probes);
    Drain();
    Compare(local, probes);
    clock_.Advance(30 * kDayMs);
    RunDue();
    Compare(local, probes);
    ASSERT_TRUE(engine_->SealClosed().ok());
    Compare(local, probes);
    PlaySome(plays / 4, 40 * kDayMs);
    DeleteSome(50);
    ShowSome(50);
    Compare(local, probes);
    EXPECT_GT(seen_, all / 100);
    ASSERT_TRUE(engine_->EraseUser(IdRef("u")).ok());
    Compare(local, kPage);
  }

  static constexpr size_t kPage = 500;
  std::mt19937_64 random_{test::Seed()};
  uint64_t items_ = 1;
  uint64_t seen_ = 0;
};

PolicyPatch Kept() {
  PolicyPatch patch;
  patch.history.enabled = true;
  patch.history.deleted_items = DeletedItems::kRecommendAgain;
  patch.exposed_is_seen = true;
  return patch;
}

TEST_F(LocalFilterTest, AnswersAsTheEngine) { Live(Kept(), 2, 2'000); }
TEST_F(LocalFilterTest, AnswersAsTheEngineWithoutAKey) { Live(Kept(), 1, 1'000); }
TEST_F(LocalFilterTest, AnswersAsTheEngineOfLayers) { Live(Kept(), 2, 12'000); }
TEST_F(LocalFilterTest, AnswersAsTheEngineOfExactLists) {
  PolicyPatch patch = Kept();
  patch.representation = Representation::kExact;
  Live(patch, 2, 6'000);
}
TEST_F(LocalFilterTest, AnswersAsTheEngineAtTheCeiling) {
  PolicyPatch patch = Kept();
  patch.max_filter_bytes = 4096;
  Live(patch, 2, 12'000);
}

// The vectors of the other languages, clients/conformance/local/vectors.json: made by the engine.
// SEENDB_WRITE_GOLDEN=1 writes the file where it is missing.
class LocalVectorsTest : public LocalFilterTest {
 protected:
  nlohmann::ordered_json VectorOf(const std::string& name) {
    FilterDump dump;
    EXPECT_TRUE(engine_->DumpFilter({.user = IdRef("u")}, &dump).ok());
    nlohmann::ordered_json candidates = nlohmann::ordered_json::array();
    std::vector<Candidate> asked;
    std::vector<std::string> ids = {"18446744073709551615",
                                    "007",
                                    "é",
                                    std::string(200, 'x'),
                                    std::string(255, 'y'),
                                    "m1",
                                    "m2",
                                    "m3",
                                    "m4",
                                    "a",
                                    "a"};
    for (int i = 0; i < 120; ++i) ids.push_back((i % 2 == 0 ? "v" : "") + std::to_string(i));
    for (const std::string& id : ids) candidates.push_back({{"id", id}});
    candidates[5]["of"] = candidates[6]["of"] = candidates[7]["of"] = {"channel:1", "channel:2"};
    candidates[6]["at"] = kStartMs - 5;
    candidates[7]["at"] = kStartMs - 4;
    candidates[8]["of"] = {"channel:3"};
    std::vector<std::vector<std::string>> of(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      of[i] = candidates[i].value("of", std::vector<std::string>());
      Candidate& one = asked.emplace_back(Candidate{.id = ids[i], .of = ViewsOf(of[i])});
      if (candidates[i].contains("at")) one.at_ms = candidates[i]["at"].get<int64_t>();
    }
    std::vector<CandidateGroups> groups;
    std::vector<IdRef> items;
    for (const Candidate& one : asked) {
      groups.push_back({.of = one.of, .at_ms = one.at_ms});
      items.emplace_back(one.id);
    }
    const Question question{.groups = groups};
    const FilterRequest request{.user = IdRef("u"), .items = items, .question = &question};
    EXPECT_TRUE(engine_->Filter(request, &answer_).ok());
    LocalFilter local = Local();
    const std::string bytes = dump.Encode({});
    EXPECT_EQ(local.Take(bytes.data(), bytes.size()), SEENDB_LOCAL_OK);
    EXPECT_EQ(local.Unseen(asked),
              std::vector<size_t>(answer_.unseen.begin(), answer_.unseen.end()));
    const ItemHashKey key = engine_->ReadItemHashKey();
    const std::string_view secret(reinterpret_cast<const char*>(key.secret.data()),
                                  key.version < 2 ? 0 : key.secret.size());
    return {{"name", name},
            {"key", {{"version", key.version}, {"id", Hex(key.id)}, {"secret", Hex(secret)}}},
            {"etag", dump.Etag()},
            {"dump", Hex(bytes)},
            {"candidates", candidates},
            {"unseen", answer_.unseen}};
  }
  static std::string Hex(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
      text.push_back("0123456789abcdef"[static_cast<uint8_t>(c) >> 4]);
      text.push_back("0123456789abcdef"[static_cast<uint8_t>(c) & 15]);
    }
    return text;
  }
  static std::string Hex(uint64_t value) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
    return Hex(std::string_view(bytes));
  }
  void BeginVector(uint32_t version, const std::string& name) {
    dir_ += "-" + name;
    std::filesystem::create_directories(dir_);
    engine_.reset();
    options_.item_hash = version;
    options_.item_hash_key.reset();
    if (version == 2) {
      options_.item_hash_key.emplace();
      for (uint8_t i = 0; i < 16; ++i) (*options_.item_hash_key)[i] = i;
    }
    Open();
    PolicyPatch patch = Kept();
    patch.max_filter_bytes = 4096;
    Put("default", patch);
  }
  void FillVector(int plays) {
    for (int i = 0; i < plays; ++i) {
      Play("u", {(i % 3 == 0 ? "v" : "") + std::to_string(i)}, kStartMs - 1'000);
    }
    Play("u", {"18446744073709551615", "é", std::string(200, 'x'), std::string(255, 'y')});
    Drain();
    Play("u", {"v2", "5"});
    Serve("u", {"v4"});
    const Exposure exposure{.user = IdRef("u"), .item = IdRef("7")};
    ASSERT_TRUE(engine_->RecordExposures({&exposure, 1}).ok());
    const IdRef deleted[] = {IdRef("v0"), IdRef("1")};
    ASSERT_TRUE(engine_->DeleteHistory(IdRef("u"), "default", deleted).ok());
    const Mark marks[] = {{.group = "channel:2", .until_ms = kStartMs - 5}, {.group = "channel:3"}};
    ASSERT_TRUE(engine_->PutMarks(IdRef("u"), marks).ok());
  }
};

TEST_F(LocalVectorsTest, AreWhatTheEngineSays) {
  const std::string folder = dir_;
  nlohmann::ordered_json vectors = nlohmann::ordered_json::array();
  BeginVector(2, "keyed");
  vectors.push_back(VectorOf("nothing seen"));
  FillVector(60);
  vectors.push_back(VectorOf("a list"));
  dir_ = folder;
  BeginVector(2, "layers");
  FillVector(6'000);
  vectors.push_back(VectorOf("layers at the ceiling"));
  dir_ = folder;
  BeginVector(1, "without");
  FillVector(60);
  vectors.push_back(VectorOf("without a key"));
  engine_.reset();
  for (const char* name : {"keyed", "layers", "without"}) {
    std::filesystem::remove_all(folder + "-" + name);
  }
  dir_ = folder;
  const std::string path = "clients/conformance/local/vectors.json";
  if (std::getenv("SEENDB_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
    std::filesystem::create_directories("clients/conformance/local");
    std::ofstream(path) << vectors.dump(1) << "\n";
  }
  std::ifstream in(path);
  EXPECT_EQ(nlohmann::ordered_json::parse(in), vectors) << path;
}

TEST_F(LocalFilterTest, RefusesWhatItCannotRead) {
  Open();
  Play("u", {"v1", "v2"});
  Serve("u", {"s"});
  FilterDump dump;
  ASSERT_TRUE(engine_->DumpFilter({.user = IdRef("u")}, &dump).ok());
  const std::string bytes = dump.Encode({});
  LocalFilter local = Local();
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_NE(local.Take(bytes.data(), cut), SEENDB_LOCAL_OK) << cut;
  }
  std::string longer = bytes + "x", newer = bytes;
  EXPECT_EQ(local.Take(longer.data(), longer.size()), SEENDB_LOCAL_DAMAGED);
  newer[6] = 2;
  EXPECT_EQ(local.Take(newer.data(), newer.size()), SEENDB_LOCAL_NEWER);
  const std::string head = dump.Encode(dump.Hashes());
  EXPECT_EQ(local.Take(head.data(), head.size()), SEENDB_LOCAL_LACKS);
  EXPECT_EQ(local.info().degraded, 1);
  ASSERT_EQ(local.Take(bytes.data(), bytes.size()), SEENDB_LOCAL_OK);
  EXPECT_EQ(local.Take(head.data(), head.size()), SEENDB_LOCAL_OK);
  EXPECT_EQ(local.Unseen({{.id = "v1"}, {.id = "s"}, {.id = "v3"}, {.id = "v3"}}),
            std::vector<size_t>{2});
  local.NotePlayed("v3");
  EXPECT_TRUE(local.Unseen({{.id = "v3"}}).empty());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
