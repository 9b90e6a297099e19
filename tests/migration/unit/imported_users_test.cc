#include "migrated/imported_users.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace seendb::migrated::SEENDB_TEST_FILE {
namespace {

class ImportedUsersTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/imported-XXXXXX";
    db_ = mkdtemp(path.data());
  }
  void TearDown() override { std::filesystem::remove_all(db_); }

  std::unique_ptr<ImportedUsers> Open() {
    auto opened = ImportedUsers::Open(db_, "video", "watched:{user}");
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return std::move(opened).value();
  }
  static void Note(ImportedUsers& users, int begin, int end) {
    std::vector<std::string> texts;
    for (int i = begin; i < end; ++i) texts.push_back("user" + std::to_string(i));
    const std::vector<IdRef> ids(texts.begin(), texts.end());
    EXPECT_TRUE(users.Add(ids).ok());
  }
  static int CountNoted(const ImportedUsers& users, int begin, int end) {
    int noted = 0;
    for (int i = begin; i < end; ++i) {
      noted += users.Has(IdRef("user" + std::to_string(i))) ? 1 : 0;
    }
    return noted;
  }
  std::string File() const { return db_ + "/MIGRATION/video.users"; }

  std::string db_;
};

TEST_F(ImportedUsersTest, KnowsThoseAndNoOthersInTheNextProcessToo) {
  {
    const auto users = Open();
    Note(*users, 0, 5'000);
    Note(*users, 4'000, 6'000);
    EXPECT_EQ(users->count(), 6'000u);
    EXPECT_EQ(CountNoted(*users, 0, 6'000), 6'000);
    EXPECT_EQ(CountNoted(*users, 6'000, 12'000), 0);
  }
  const auto users = Open();
  EXPECT_EQ(users->count(), 6'000u);
  EXPECT_EQ(CountNoted(*users, 0, 12'000), 6'000);
}

TEST_F(ImportedUsersTest, ANumberAndItsTextAreOneUser) {
  const auto users = Open();
  const IdRef number(uint64_t{42});
  EXPECT_TRUE(users->Add({&number, 1}).ok());
  EXPECT_TRUE(users->Has(IdRef("42")));
  EXPECT_FALSE(users->Has(IdRef("042")));
}

TEST_F(ImportedUsersTest, WhatIsHalfWrittenIsCutOff) {
  Note(*Open(), 0, 100);
  const auto size = std::filesystem::file_size(File());
  Note(*Open(), 100, 200);
  std::filesystem::resize_file(File(), std::filesystem::file_size(File()) - 3);
  {
    const auto users = Open();
    EXPECT_EQ(std::filesystem::file_size(File()), size);
    EXPECT_EQ(CountNoted(*users, 0, 200), 100);
    Note(*users, 200, 300);
  }
  EXPECT_EQ(CountNoted(*Open(), 0, 300), 200);
}

TEST_F(ImportedUsersTest, DamageForgetsUsersAndInventsNone) {
  Note(*Open(), 0, 10);
  std::fstream file(File(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-5, std::ios::end);
  const int there = file.get();
  file.seekp(-5, std::ios::end);
  file.put(static_cast<char>(there ^ 0x20));
  file.close();
  EXPECT_EQ(Open()->count(), 0u);
}

TEST_F(ImportedUsersTest, ForgetsAll) {
  {
    const auto users = Open();
    Note(*users, 0, 100);
    EXPECT_TRUE(users->Clear().ok());
    EXPECT_EQ(users->count(), 0u);
    EXPECT_EQ(CountNoted(*users, 0, 100), 0);
    Note(*users, 50, 60);
  }
  EXPECT_EQ(CountNoted(*Open(), 0, 100), 10);
}

TEST_F(ImportedUsersTest, EverybodyIsNotedUntilTheNotesGo) {
  {
    const auto users = Open();
    Note(*users, 0, 10);
    EXPECT_FALSE(users->everybody());
    EXPECT_TRUE(users->AddEverybody().ok());
    EXPECT_TRUE(users->everybody());
  }
  EXPECT_TRUE(Open()->everybody());
  EXPECT_TRUE(Open()->Clear().ok());
  EXPECT_FALSE(Open()->everybody());
  EXPECT_TRUE(Open()->AddEverybody().ok());
  std::filesystem::remove(File());  // as the refusal of other keys advises
  EXPECT_FALSE(Open()->everybody());
  EXPECT_TRUE(Open()->AddEverybody().ok());
  EXPECT_TRUE(ImportedUsers::Remove(db_, "video").ok());
  EXPECT_TRUE(std::filesystem::is_empty(db_ + "/MIGRATION"));
}

TEST_F(ImportedUsersTest, OtherKeysAreRefused) {
  Note(*Open(), 0, 10);
  const auto other = ImportedUsers::Open(db_, "video", "seen:{user}");
  EXPECT_EQ(other.status().code(), StatusCode::kIncompatible);
  EXPECT_TRUE(ImportedUsers::Remove(db_, "video").ok());
  EXPECT_TRUE(ImportedUsers::Open(db_, "video", "seen:{user}").ok());
  std::ofstream(File()) << "no such file";
  EXPECT_EQ(ImportedUsers::Open(db_, "video", "seen:{user}").status().code(),
            StatusCode::kCorruption);
}

}  // namespace
}  // namespace seendb::migrated::SEENDB_TEST_FILE
