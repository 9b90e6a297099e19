// VerifyFiles names the very file that is damaged, whatever the damage, and nothing where there is
// none; it changes nothing.

#include "seendb/repair.h"
#include "support/rot_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string Names(const FilesReport& report) {
  std::string names;
  for (const FileDamage& damage : report.damages) {
    names += damage.file + " " + damage.kind + " " + damage.family + " " + damage.detail + "\n";
  }
  return names;
}

class VerifyFilesTest : public RotFixture {
 protected:
  FilesReport Verified() {
    const auto before = Listing(Path());
    const Result<FilesReport> report = VerifyFiles(Path());
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(Listing(Path()), before) << "something was written";
    return report.ok() ? *report : FilesReport{};
  }
  void ExpectNamed(const fs::path& file, const std::string& how) {
    const FilesReport report = Verified();
    ASSERT_FALSE(report.damages.empty()) << how << " of " << file << " is not found";
    for (const FileDamage& damage : report.damages) {
      EXPECT_EQ(damage.file, file.string()) << how << " of " << file << ":\n" << Names(report);
    }
    EXPECT_EQ(report.damages[0].kind == "missing", how == "Removed") << Names(report);
    const auto family = families_.find(file);
    if (family != families_.end() && report.damages[0].kind != "unreadable") {
      EXPECT_EQ(report.damages[0].family, family->second);
    }
  }
};

TEST_F(VerifyFilesTest, NamesTheFile) {
  Make();
  CopySound();
  const FilesReport sound = Verified();
  EXPECT_TRUE(sound.damages.empty()) << Names(sound);
  EXPECT_GT(sound.files, 20u);
  EXPECT_GT(sound.bytes, 10'000u);
  for (const fs::path& file : Files()) {
    if (IsDiary(file)) continue;
    const size_t begun = files_begun_++;
    for (size_t kind = 0; kind < kDamageNames.size(); ++kind) {
      if (!test::Sampled(begun + kind)) continue;
      if (static_cast<Damage>(kind) == Damage::kRemoved && !IsMissed(file)) continue;
      CopySound();
      Apply(fs::path(Path()) / file, static_cast<Damage>(kind), &random_);
      ExpectNamed(file, kDamageNames[kind]);
    }
  }
}

TEST_F(VerifyFilesTest, BitsAllOverTheTablesAndTheSmallFiles) {
  Make();
  CopySound();
  std::set<std::string> done;
  for (const fs::path& file : Files()) {
    const fs::path path = fs::path(Path()) / file;
    const std::string kind =
        file.extension() == ".sst" ? families_[file] : file.filename().string();
    if (IsDiary(file) || kind.starts_with("OPTIONS") || kind.starts_with("MANIFEST") ||
        file.extension() == ".log" || fs::file_size(path) > 3000 || !done.insert(kind).second) {
      continue;
    }
    for (uint64_t at = 23 * test::SampleTurn(); at < fs::file_size(path);
         at += 23 * test::SampleEvery()) {
      FlipBits(path, at, static_cast<int>(1u << (at % 8)));
      const Result<FilesReport> report = VerifyFiles(Path());
      ASSERT_TRUE(report.ok()) << file << " byte " << at << ": " << report.status().ToString();
      ASSERT_FALSE(report->damages.empty()) << file << " byte " << at;
      EXPECT_EQ(report->damages[0].file, file.string()) << "byte " << at;
      FlipBits(path, at, static_cast<int>(1u << (at % 8)));
    }
  }
  EXPECT_TRUE(done.contains("SEENDB"));
  EXPECT_TRUE(Verified().damages.empty());
}

// Read beside a running engine, whose files come and go.
TEST_F(VerifyFilesTest, RunsBesideAnEngine) {
  Open();
  for (int round = 0; round < 10; ++round) {
    PlayEverywhereInDefault(round);
    if (round % 3 == 0) Drain();
    if (round % 4 == 0) {
      ASSERT_TRUE(engine_->Compact().ok());
    }
    const Result<FilesReport> report = VerifyFiles(Path());
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_TRUE(report->damages.empty()) << Names(*report);
  }
  // As a killed process leaves it; and what a checkpoint makes.
  const std::string copy = dir_ + "/copy";
  fs::copy(Path(), copy, fs::copy_options::recursive);
  EXPECT_TRUE(VerifyFiles(copy)->damages.empty()) << Names(*VerifyFiles(copy));
  ASSERT_TRUE(engine_->Checkpoint(dir_ + "/checkpoint").ok());
  EXPECT_TRUE(VerifyFiles(dir_ + "/checkpoint")->damages.empty())
      << Names(*VerifyFiles(dir_ + "/checkpoint"));
}

TEST_F(VerifyFilesTest, NoDatabase) {
  EXPECT_EQ(VerifyFiles(Path()).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
