// The file of the audit: lines that are never dropped.

#include "ops/audit_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ops/log.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

using std::chrono::steady_clock;

class AuditFileTest : public testing::Test {
 protected:
  AuditFileTest() {
    std::string name = testing::TempDir() + "audit-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/audit.log";
  }
  ~AuditFileTest() override { std::filesystem::remove_all(folder_); }

  void Open() {
    auto opened = AuditFile::Open(path_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    file_ = std::move(opened).value();
  }
  Status Write(const std::string& line, bool synced = false) {
    return file_->Write(line, synced, steady_clock::now() + std::chrono::minutes(1));
  }
  static std::string TextOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Await(const std::string& text) {
    for (int i = 0; i < 3'000 && TextOf(path_) != text; ++i) usleep(10'000);
    EXPECT_EQ(TextOf(path_), text);
  }
  void AwaitFailures(uint64_t least) {
    for (int i = 0; i < 3'000 && file_->failures() < least; ++i) usleep(10'000);
    ASSERT_GE(file_->failures(), least);
  }
  void Put(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }

  std::string folder_, path_;
  std::unique_ptr<AuditFile> file_;
};

TEST_F(AuditFileTest, ALineIsThereWhenWriteReturns) {
  Open();
  EXPECT_TRUE(Write("one").ok());
  EXPECT_EQ(TextOf(path_), "one\n");
  EXPECT_TRUE(Write("two", /*synced=*/true).ok());
  EXPECT_EQ(TextOf(path_), "one\ntwo\n");
  EXPECT_EQ(file_->lines(), 2u);
  EXPECT_EQ(file_->failures(), 0u);
  EXPECT_EQ(file_->Problem(), "");
  struct stat about {};
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777u & ~0640u, 0u) << "whatever the umask is";
  Open();
  EXPECT_TRUE(Write("three").ok());
  EXPECT_EQ(TextOf(path_), "one\ntwo\nthree\n");
}

TEST_F(AuditFileTest, AReservedLineIsWrittenLater) {
  Open();
  ASSERT_TRUE(file_->Reserve());
  file_->WriteReserved("later");
  Await("later\n");
  ASSERT_TRUE(file_->Reserve());
  file_->WriteReserved("at the end");
  file_.reset();
  EXPECT_EQ(TextOf(path_), "later\nat the end\n");
}

TEST_F(AuditFileTest, ReservedLinesHaveALimit) {
  Open();
  for (size_t i = 0; i < AuditFile::kReservedMost; ++i) ASSERT_TRUE(file_->Reserve());
  EXPECT_FALSE(file_->Reserve());
  file_->Release();
  EXPECT_TRUE(file_->Reserve());
  file_->WriteReserved("one");
  Await("one\n");
  for (int i = 0; i < 1'000 && !file_->Reserve(); ++i) usleep(10'000);
  EXPECT_FALSE(file_->Reserve()) << "the line has given its room back, and no more";
}

TEST_F(AuditFileTest, AFileOfOthersIsRefused) {
  Put("");
  ASSERT_EQ(chmod(path_.c_str(), 0660), 0);
  const auto writable = AuditFile::Open(path_);
  EXPECT_EQ(writable.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(writable.status().message().find("chmod go-w " + path_), std::string::npos);
  EXPECT_EQ(CheckAuditFile(path_).message(), writable.status().message());
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  EXPECT_TRUE(CheckAuditFile(path_).ok());
  EXPECT_TRUE(AuditFile::Open(path_).ok());

  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& no_file : {pipe, folder_}) {
    EXPECT_FALSE(AuditFile::Open(no_file).ok()) << no_file;
    EXPECT_EQ(CheckAuditFile(no_file).message(), no_file + " is no file");
  }
  EXPECT_EQ(AuditFile::Open(folder_ + "/no/audit.log").status().code(), StatusCode::kIOError);
  EXPECT_FALSE(CheckAuditFile(folder_ + "/no/audit.log").ok());
  EXPECT_TRUE(CheckAuditFile(folder_ + "/new.log").ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/new.log")) << "it is looked at, and not made";
}

TEST_F(AuditFileTest, AFullDiskFailsAndLosesNoReservedLine) {
  StartLog("info");
  std::filesystem::create_symlink("/dev/full", path_);
  Open();
  const Status full = Write("one", /*synced=*/true);
  EXPECT_EQ(full.code(), StatusCode::kIOError);
  EXPECT_EQ(full.message(), "No space left on device");
  EXPECT_EQ(file_->Problem(), "No space left on device");
  ASSERT_TRUE(file_->Reserve());
  ASSERT_TRUE(file_->Reserve());
  file_->WriteReserved("first");
  AwaitFailures(2);
  file_->WriteReserved("second");
  AwaitFailures(5);  // one of the first alone, or of both: they are tried again and again
  EXPECT_EQ(file_->lines(), 0u);
  std::filesystem::remove(path_);
  file_->Reopen();
  Await("first\nsecond\n");
  EXPECT_TRUE(Write("two").ok());
  EXPECT_EQ(TextOf(path_), "first\nsecond\ntwo\n");
  EXPECT_EQ(file_->lines(), 3u);
  EXPECT_EQ(file_->Problem(), "");
}

TEST_F(AuditFileTest, WhatIsUnwrittenAtTheEndIsInTheLog) {
  StartLog("info");
  std::filesystem::create_symlink("/dev/full", path_);
  Open();
  ASSERT_TRUE(file_->Reserve());
  testing::internal::CaptureStderr();
  file_->WriteReserved("left");
  file_.reset();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find(R"("event":"audit_line_unwritten","line":"left")"), std::string::npos) << log;
}

TEST_F(AuditFileTest, ALineThatWasCutShortStandsByItself) {
  const auto former = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  Open();
  EXPECT_TRUE(Write("one").ok());
  rlimit small = limit;
  small.rlim_cur = 7;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status cut = Write("twotwo");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(cut.code(), StatusCode::kIOError);
  EXPECT_EQ(TextOf(path_), "one\ntwo");
  EXPECT_TRUE(Write("three").ok());
  EXPECT_EQ(TextOf(path_), "one\ntwo\nthree\n");
  file_.reset();
  Put("cut by a crash");
  Open();
  EXPECT_TRUE(Write("four").ok());
  EXPECT_EQ(TextOf(path_), "one\ntwo\nthree\ncut by a crash\nfour\n");
  std::signal(SIGXFSZ, former);
}

TEST_F(AuditFileTest, RotationLosesNoLine) {
  constexpr int kWriters = 4, kLines = 200;
  Open();
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this] {
      for (int i = 0; i < kLines; ++i) EXPECT_TRUE(Write("line", i % 50 == 0).ok());
    });
  }
  for (int i = 0; i < 10; ++i) {
    std::error_code error;  // the last rotation may not have made the new file yet
    std::filesystem::rename(path_, path_ + "." + std::to_string(i), error);
    file_->Reopen();
    usleep(2'000);
  }
  for (std::thread& writer : writers) writer.join();
  file_.reset();
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    all += TextOf(entry.path());
  }
  std::string expected;
  for (int i = 0; i < kWriters * kLines; ++i) expected += "line\n";
  EXPECT_EQ(all, expected);
}

TEST_F(AuditFileTest, WhereThePathCantBeOpenedLinesStayInTheFileThatIs) {
  Open();
  EXPECT_TRUE(Write("one").ok());
  std::filesystem::rename(path_, folder_ + "/old");
  std::filesystem::create_directory(path_);
  file_->Reopen();
  AwaitFailures(1);
  EXPECT_TRUE(Write("two").ok());
  EXPECT_EQ(TextOf(folder_ + "/old"), "one\ntwo\n");
  EXPECT_NE(file_->Problem(), "") << "the next rotation would compress or delete that file";
  std::filesystem::remove(path_);
  file_->Reopen();
  EXPECT_TRUE(Write("three").ok());
  EXPECT_EQ(TextOf(path_), "three\n");
  EXPECT_EQ(file_->Problem(), "");
}

TEST_F(AuditFileTest, AFileThatWasDeletedIsMadeAnew) {
  Open();
  EXPECT_TRUE(Write("one").ok());
  std::filesystem::remove(path_);
  EXPECT_TRUE(Write("two").ok());
  EXPECT_EQ(TextOf(path_), "two\n");
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(Write("three").code(), StatusCode::kIOError);
  std::filesystem::create_directory(folder_);
  EXPECT_TRUE(Write("four").ok());
  EXPECT_EQ(TextOf(path_), "four\n");
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
