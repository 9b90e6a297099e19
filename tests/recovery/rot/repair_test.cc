// Repair, after each kind of damage to each file: the database opens strictly, answers as before
// outside the damaged file, says `degraded` where something may be lost, keeps the damaged file,
// and a second repair changes nothing.

#include "seendb/repair.h"

#include "format/filter_codec.h"
#include "format/journal_codec.h"
#include "support/poison.h"
#include "support/rot_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class RepairTest : public RotFixture, public ::testing::WithParamInterface<Damage> {
 protected:
  Result<RepairReport> Run(bool dry_run = false) {
    Seams seams;
    seams.clock = &clock_;
    return Repair(Path(), {.dry_run = dry_run}, seams);
  }
  RepairReport Repaired() {
    const Result<RepairReport> report = Run();
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? *report : RepairReport{};
  }
  void ExpectNamed(const RepairReport& report, const fs::path& file) {
    ASSERT_FALSE(report.files.empty());
    const bool named = std::any_of(report.files.begin(), report.files.end(),
                                   [&](const auto& one) { return one.damage.file == file; });
    EXPECT_TRUE(named) << report.files[0].damage.file;
    for (const RepairedFile& one : report.files) {
      EXPECT_FALSE(one.action.empty());
      EXPECT_EQ(one.kept_as.empty(), one.damage.kind == "missing") << one.damage.file;
    }
  }
  // The bytes as they were damaged are somewhere.
  void ExpectKept(const RepairReport& report, const fs::path& file, const std::string& bytes) {
    for (const RepairedFile& one : report.files) {
      if (one.damage.file != file || one.kept_as.empty()) continue;
      EXPECT_TRUE(one.kept_as.starts_with("damaged/")) << one.kept_as;
      EXPECT_EQ(Bytes(fs::path(Path()) / one.kept_as), bytes) << one.kept_as;
    }
  }
  static std::string Bytes(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void ExpectWorks(const fs::path& file) {
    Status refused;
    options_.open_damaged = false;
    ASSERT_TRUE(TryOpen(&refused)) << refused.ToString();
    degraded_ = 0;
    ExpectNothingHidden(file);
    ExpectNoOffsetAboveLostPlays();
    const bool may_lose = file.extension() == ".sst" || file.extension() == ".log";
    if (!may_lose) {
      EXPECT_EQ(degraded_, 0) << "nothing is lost with this file";
    }
    Unseen(kErased, Numbered("gone", 30));
    EXPECT_TRUE(answer_.degraded || answer_.unseen.size() == 30) << "the erasure is forgotten";
    Play("new user", {"new item"});
    EXPECT_EQ(Unseen("new user", {"new item"}), Items{});
    ASSERT_TRUE(engine_->Drain().ok());
    ASSERT_TRUE(engine_->SealClosed().ok());
    ASSERT_TRUE(engine_->Compact().ok());
    ExpectNothingHidden(file);
    const Result<VerifyReport> values = engine_->Verify();
    ASSERT_TRUE(values.ok()) << values.status().ToString();
    EXPECT_EQ(values->damaged, 0u);
    ASSERT_TRUE(engine_->Close().ok());
    ASSERT_TRUE(TryOpen(&refused)) << refused.ToString();
    ExpectNothingHidden(file);
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
  }
};

TEST_P(RepairTest, IsTheWayBack) {
  Make();
  int salvaged = 0;
  for (const fs::path& file : Files()) {
    if (IsDiary(file) || !Tried(static_cast<size_t>(GetParam()))) continue;
    if (GetParam() == Damage::kRemoved && !IsMissed(file)) continue;
    SCOPED_TRACE(file.string() + (families_.contains(file) ? " " + families_[file] : ""));
    CopySound();
    const fs::path path = fs::path(Path()) / file;
    Apply(path, GetParam(), &random_);
    const std::string bytes = fs::exists(path) ? Bytes(path) : "";
    const auto damaged = Listing(Path());
    const Result<RepairReport> plan = Run(true);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    ExpectNamed(*plan, file);
    ASSERT_TRUE(plan->dry_run);
    ASSERT_EQ(Listing(Path()), damaged) << "a dry run changed something";
    const RepairReport report = Repaired();
    ExpectNamed(report, file);
    ExpectKept(report, file, bytes);
    for (const RepairedFile& one : report.files) salvaged += one.salvaged > 0 ? 1 : 0;
    const auto repaired = Listing(Path());
    EXPECT_TRUE(Repaired().files.empty());
    ASSERT_EQ(Listing(Path()), repaired) << "a second repair changed something";
    const auto sound = VerifyFiles(Path());
    ASSERT_TRUE(sound.ok()) << sound.status().ToString();
    EXPECT_TRUE(sound->damages.empty()) << sound->damages[0].file << sound->damages[0].detail;
    ASSERT_NO_FATAL_FAILURE(ExpectWorks(file));
  }
  if (GetParam() <= Damage::kZeroBlock && AllTried()) {
    EXPECT_GT(salvaged, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, RepairTest, EveryDamage(), DamageName);

// RocksDB ends the process over such a log.
TEST_F(RepairTest, ALogThatIsThereTwice) {
  Make();
  for (const fs::path& file : Files()) {
    if (file.extension() != ".log") continue;
    SCOPED_TRACE(file.string());
    CopySound();
    const fs::path path = fs::path(Path()) / file;
    const std::string bytes = Bytes(path);
    if (bytes.empty()) continue;
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
    Status refused;
    options_.open_damaged = true;
    EXPECT_FALSE(TryOpen(&refused));
    EXPECT_NE(refused.message().find("has records again behind byte"), std::string_view::npos)
        << refused.ToString();
    const std::string damaged = Bytes(path);
    const RepairReport report = Repaired();
    ASSERT_FALSE(report.files.empty());
    EXPECT_EQ(report.files[0].damage.file, file);
    EXPECT_TRUE(report.notes.empty()) << report.notes.front() << ": no shard is made anew";
    ExpectKept(report, file, damaged);
    EXPECT_TRUE(Repaired().files.empty());
    ASSERT_NO_FATAL_FAILURE(ExpectWorks(file));
  }
}

TEST_F(RepairTest, RefusesWhatIsInUseOrNoDatabase) {
  EXPECT_EQ(Run().status().code(), StatusCode::kNotFound);
  Open();
  EXPECT_EQ(Run().status().code(), StatusCode::kBusy);
}

// A node of a cluster has some of the shards: none is to be made empty.
TEST_F(RepairTest, AShardThatIsNotOfTheFolderIsNotMade) {
  Make();
  CopySound();
  fs::remove_all(Path() + "/shard-0001");
  const Result<FilesReport> files = VerifyFiles(Path(), /*as_found=*/true);
  ASSERT_TRUE(files.ok()) << files.status().ToString();
  EXPECT_TRUE(files->damages.empty());
  const Result<RepairReport> repaired = Repair(Path(), {.as_found = true});
  ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
  EXPECT_TRUE(repaired->files.empty());
  EXPECT_FALSE(fs::exists(Path() + "/shard-0001"));
}

TEST_F(RepairTest, AWholeShard) {
  Make();
  CopySound();
  fs::remove_all(Path() + "/shard-0001");
  EXPECT_EQ(VerifyFiles(Path())->damages[0].file, "shard-0001");
  const RepairReport report = Repaired();
  EXPECT_FALSE(report.losses.empty());
  ASSERT_NO_FATAL_FAILURE(ExpectWorks("shard-0001/000001.log"));
  EXPECT_GT(degraded_, 0);
}

// A call that moves shards was killed, or let one go: the shard lies beside its place, and is put
// there, whole.
TEST_F(RepairTest, AShardBesideItsPlaceIsPutBack) {
  Make();
  CopySound();
  const std::string place = Path() + "/shard-0001";
  for (const std::string suffix : {".replaced", ".detached", ".removed"}) {
    SCOPED_TRACE(suffix);
    fs::rename(place, place + suffix);
    const Result<FilesReport> files = VerifyFiles(Path());
    ASSERT_TRUE(files.ok()) << files.status().ToString();
    ASSERT_EQ(files->damages.size(), 1U);
    EXPECT_EQ(files->damages[0].file, "shard-0001");
    EXPECT_EQ(files->damages[0].kind, "missing");
    EXPECT_NE(files->damages[0].detail.find("shard-0001" + suffix), std::string::npos);
    const Result<RepairReport> dry = Repair(Path(), {.dry_run = true});
    ASSERT_TRUE(dry.ok()) << dry.status().ToString();
    EXPECT_FALSE(fs::exists(place));
    const RepairReport report = Repaired();
    EXPECT_TRUE(report.losses.empty());
    ASSERT_EQ(report.files.size(), 1U);
    EXPECT_EQ(report.files[0].action, "shard-0001" + suffix + " is put in its place");
    EXPECT_FALSE(fs::exists(place + suffix));
    EXPECT_TRUE(VerifyFiles(Path())->damages.empty());
  }
  ASSERT_NO_FATAL_FAILURE(ExpectWorks("shard-0001/CURRENT"));
}

// Of a node's folder, which has some of the shards, only a replacement that was not finished is.
TEST_F(RepairTest, AShardThatWasLetGoIsNotPutBackInANodesFolder) {
  Make();
  CopySound();
  const std::string place = Path() + "/shard-0001";
  for (const std::string suffix : {".detached", ".removed"}) {
    fs::rename(place, place + suffix);
    const Result<RepairReport> repaired = Repair(Path(), {.as_found = true});
    ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
    EXPECT_TRUE(repaired->files.empty());
    EXPECT_TRUE(fs::exists(place + suffix));
    fs::rename(place + suffix, place);
  }
  fs::rename(place, place + ".replaced");
  EXPECT_EQ(VerifyFiles(Path(), /*as_found=*/true)->damages.size(), 1U);
  const Result<RepairReport> repaired = Repair(Path(), {.as_found = true});
  ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
  EXPECT_TRUE(fs::exists(place));
}

// What was to take the place is damaged: the former shard is put back, the other is kept.
TEST_F(RepairTest, ADamagedReplacementGivesItsPlaceBack) {
  Make();
  CopySound();
  const std::string place = Path() + "/shard-0001";
  fs::copy(place, place + ".replaced", fs::copy_options::recursive);
  fs::remove(place + "/CURRENT");
  const RepairReport report = Repaired();
  EXPECT_TRUE(report.losses.empty());
  EXPECT_TRUE(fs::exists(Path() + "/damaged/0001/shard-0001"));
  EXPECT_FALSE(fs::exists(place + ".replaced"));
  ASSERT_NO_FATAL_FAILURE(ExpectWorks("shard-0001/CURRENT"));
}

// Nothing is deleted before the database is open: an opening that is refused leaves what a repair
// puts back.
TEST_F(RepairTest, AnOpeningThatIsRefusedDeletesNothing) {
  Make();
  CopySound();
  Status refused;
  const std::string place = Path() + "/shard-0001";
  for (const std::string suffix : {".detached", ".removed"}) {
    fs::rename(place, place + suffix);
    EXPECT_FALSE(TryOpen(&refused));
    ASSERT_TRUE(fs::exists(place + suffix));
    EXPECT_TRUE(Repaired().losses.empty());
    EXPECT_TRUE(fs::exists(place));
  }
  fs::rename(place, place + ".replaced");
  fs::remove(Path() + "/shard-0000/CURRENT");
  EXPECT_FALSE(TryOpen(&refused));
  EXPECT_TRUE(fs::exists(place)) << "it is the shard again";
}

// The opening itself may be in the part of the log that is lost: its sequences are not given again,
// or new journal records would take the place of old ones, and be taken for erased.
TEST_F(RepairTest, NoSequenceIsGivenTwice) {
  options_.shards = 1;
  Open();
  Play("u1", {"first"});
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  for (const bool repaired : {false, true}) {
    SCOPED_TRACE(repaired ? "repaired" : "open_damaged");
    Open();
    ASSERT_TRUE(engine_->Sync().ok());
    ASSERT_TRUE(engine_->EraseUser(IdRef("u2")).ok());
    ASSERT_TRUE(engine_->Close().ok());
    engine_.reset();
    std::vector<fs::path> logs;
    for (const auto& file : fs::directory_iterator(Path() + "/shard-0000")) {
      if (file.path().extension() == ".log") logs.push_back(file.path());
    }
    const fs::path newest = *std::max_element(logs.begin(), logs.end());
    const auto epoch = [&] {
      const std::string stored = RawShard(Path()).All("default")["ring"];
      return std::stoll(stored.substr(stored.find_first_of("0123456789")));
    };
    const auto erased_in = epoch();
    fs::resize_file(newest, 0);
    if (repaired) {
      EXPECT_FALSE(Repaired().losses.empty());
    } else {
      options_.open_damaged = true;
      Open();
      engine_.reset();
      options_.open_damaged = false;
    }
    EXPECT_GT(epoch(), erased_in);
  }
}

// A shard made anew has a filter of a newer version as it was; what can't be decided without its
// journal or erasures is left alone.
TEST_F(RepairTest, LosesNoValueOfANewerVersion) {
  Make();
  CopySound();
  const auto halve_manifest = [&] {
    for (const auto& file : fs::directory_iterator(Path() + "/shard-0000")) {
      if (!file.path().filename().string().starts_with("MANIFEST")) continue;
      fs::resize_file(file.path(), fs::file_size(file.path()) / 2);
    }
  };
  const std::string family = "seen/default/2026-03";
  std::string delta;
  EncodeDelta(kStartMs, std::vector<Fingerprint>(1, 7), &delta);
  {
    RawShard raw(Path());
    raw.Merge(family, "newer", Newer(delta));
    raw.Flush(family);
  }
  halve_manifest();
  EXPECT_FALSE(Repaired().files.empty());
  {
    RawShard raw(Path());
    const std::string value = raw.All(family)["newer"];
    FilterView view;
    DamageSet kept;
    ASSERT_TRUE(view.Parse(value));
    ASSERT_TRUE(DamageSet::Read(view.damage, &kept));
    EXPECT_EQ(kept.newer, std::vector<std::string>{Newer(delta)});
    JournalEncoder encoder;
    encoder.Begin("default", 0);
    raw.Put("ring/2", SequenceKey(1), Newer(std::string(encoder.Finish())));
  }
  halve_manifest();
  const auto before = Listing(Path());
  const Status refused = Run().status();
  EXPECT_EQ(refused.code(), StatusCode::kIncompatible) << refused.ToString();
  EXPECT_NE(refused.message().find("journal record version 2 is newer"), std::string::npos)
      << refused.ToString();
  EXPECT_EQ(Listing(Path()), before);
}

// A kill between any two steps: what was begun is refused by name, and gone on with.
TEST_F(RepairTest, GoesOnWithWhatWasBegun) {
  Make();
  CopySound();
  std::ofstream(Path() + "/shard-0000/REPAIR") << "000001.log is damaged";
  Status refused;
  ASSERT_FALSE(TryOpen(&refused));
  EXPECT_NE(refused.message().find("seendb repair"), std::string::npos) << refused.ToString();
  EXPECT_EQ(VerifyFiles(Path())->damages[0].kind, "unfinished");
  EXPECT_FALSE(Repaired().losses.empty());
  ASSERT_NO_FATAL_FAILURE(ExpectWorks("shard-0000/000001.log"));
  EXPECT_GT(degraded_, 0) << "the loss is marked";
  // Half of a shard's copy, and a whole one not yet in its place.
  CopySound();
  fs::create_directory(Path() + "/shard-0001.repair");
  EXPECT_FALSE(VerifyFiles(Path())->damages.empty());
  EXPECT_TRUE(Repaired().files.empty());
  EXPECT_FALSE(fs::exists(Path() + "/shard-0001.repair"));
  ASSERT_NO_FATAL_FAILURE(ExpectWorks("SEENDB"));
  CopySound();
  fs::create_directory(Path() + "/shard-0001.repair");
  std::ofstream(Path() + "/shard-0001.repair/REBUILDING") << "";
  std::ofstream(Path() + "/shard-0001.repair/000001.log") << "half";
  Repaired();
  EXPECT_FALSE(fs::exists(Path() + "/shard-0001.repair"));
  ASSERT_NO_FATAL_FAILURE(ExpectWorks("SEENDB"));
  CopySound();
  fs::rename(Path() + "/shard-0001", Path() + "/shard-0001.repair");
  std::ofstream(Path() + "/shard-0001.repair/REBUILT") << "";
  Repaired();
  ASSERT_NO_FATAL_FAILURE(ExpectWorks("SEENDB"));
}

TEST_F(RepairTest, FindsTheKeyOfTheHashInTheShards) {
  Make();
  const std::string sound = Bytes(dir_ + "/sound/SEENDB");
  const size_t key = sound.find("000102030405060708090a0b0c0d0e0f");
  ASSERT_NE(key, std::string::npos) << sound;
  std::string forged = sound;
  forged[key] = 'f';
  for (const std::string& left : {std::string(), forged}) {
    CopySound();
    fs::remove(Path() + "/SEENDB");
    if (!left.empty()) std::ofstream(Path() + "/SEENDB") << left;
    ASSERT_EQ(VerifyFiles(Path())->damages.size(), 1u);
    EXPECT_EQ(VerifyFiles(Path())->damages[0].file, "SEENDB");
    Repaired();
    EXPECT_EQ(Bytes(Path() + "/SEENDB"), sound);
    EXPECT_EQ(fs::status(Path() + "/SEENDB").permissions() & fs::perms::all,
              fs::perms::owner_read | fs::perms::owner_write);
    ASSERT_NO_FATAL_FAILURE(ExpectWorks("SEENDB"));
  }
}

TEST_F(RepairTest, LeavesAFolderAloneThatItDidNotMake) {
  Make();
  CopySound();
  const std::string begun = Path() + "/shard-0001.repair";
  fs::create_directory(begun);
  std::ofstream(begun + "/000012.sst") << "somebody's copy";
  const auto refused = Repair(Path(), RepairOptions{});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kIncompatible) << refused.status().ToString();
  EXPECT_TRUE(fs::exists(begun + "/000012.sst"));
  // Nor through a link, whatever lies behind it.
  const std::string aside = dir_ + "/aside";
  fs::rename(begun, aside);
  fs::create_directory_symlink(aside, begun);
  for (const char* mark : {"REBUILDING", "REBUILT"}) {
    std::ofstream(aside + "/" + mark) << "";
    EXPECT_EQ(Repair(Path(), RepairOptions{}).status().code(), StatusCode::kIncompatible) << mark;
    EXPECT_TRUE(fs::exists(aside + "/000012.sst")) << mark;
    EXPECT_TRUE(fs::is_symlink(begun)) << mark;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
