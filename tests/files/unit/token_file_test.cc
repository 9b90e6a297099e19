#include "files/token_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/tokens.h"

namespace seendb::files::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;
using Entry = nlohmann::ordered_json;

class TokenFileTest : public testing::Test {
 protected:
  TokenFileTest() : folder_(testing::TempDir() + "token_file_test." + std::to_string(getpid())) {
    fs::create_directory(folder_);
    path_ = folder_ + "/tokens.json";
  }
  ~TokenFileTest() override { fs::remove_all(folder_); }

  static Entry Named(const std::string& name) {
    return {{"name", name}, {"sha256", DigestOf(name)}, {"role", "write"}};
  }
  std::string Text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t Count() const {
    const auto read = LoadTokens(path_);
    return read.ok() ? (*read)->tokens.size() : SIZE_MAX;
  }
  mode_t Mode() const {
    struct stat about {};
    EXPECT_EQ(stat(path_.c_str(), &about), 0);
    return about.st_mode & 07777;
  }
  void Write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }

  std::string folder_, path_;
};

TEST(NewTokens, Have256BitsOfTheirOwn) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const auto token = MakeToken();
    ASSERT_TRUE(token.ok());
    EXPECT_EQ(token->size(), 43u);
    EXPECT_EQ(token->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-_"),
              std::string::npos);
    tokens.insert(*token);
  }
  EXPECT_EQ(tokens.size(), 100u);
}

TEST(NewTokens, TheirDigestIsTheOneThatTheFileHas) {
  EXPECT_EQ(DigestOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(TokenFileTest, IsMadeForItsOwnerAlone) {
  ASSERT_TRUE(AddToken(path_, Named("a")).ok());
  EXPECT_EQ(Mode(), 0600u);
  ASSERT_TRUE(AddToken(path_, Named("b")).ok());
  const auto read = LoadTokens(path_);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ((*read)->Find("a")->name, "a");
  EXPECT_EQ((*read)->Find("b")->name, "b");
  EXPECT_FALSE(fs::exists(path_ + ".part"));
}

TEST_F(TokenFileTest, KeepsItsModeAndWhatItSays) {
  Write(R"([ {"role":"read", "name":"old","expires":"2027-01-15T16:00:00+08:00",
             "sha256":")" +
            DigestOf("old") + "\"}]",
        0640);
  ASSERT_TRUE(AddToken(path_, Named("new")).ok());
  EXPECT_EQ(Mode(), 0640u);
  EXPECT_EQ(Text(),
            "[\n  {\"role\":\"read\",\"name\":\"old\",\"expires\":\"2027-01-15T16:00:00+08:00\","
            "\"sha256\":\"" +
                DigestOf("old") + "\"},\n  " + Named("new").dump() + "\n]\n");
  ASSERT_TRUE(RemoveToken(path_, "old").ok());
  ASSERT_TRUE(RemoveToken(path_, "new").ok());
  EXPECT_EQ(Text(), "[]\n");
  EXPECT_EQ(Mode(), 0640u);
}

TEST_F(TokenFileTest, WhatIsRefusedChangesNothing) {
  ASSERT_TRUE(AddToken(path_, Named("a")).ok());
  const std::string before = Text();
  EXPECT_EQ(AddToken(path_, Named("a")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(AddToken(path_, Named("a b")).code(), StatusCode::kInvalidArgument);
  Entry twin = Named("twin");
  twin["sha256"] = DigestOf("a");
  EXPECT_EQ(AddToken(path_, twin).field(), "/1/sha256");
  EXPECT_EQ(RemoveToken(path_, "b").code(), StatusCode::kNotFound);
  EXPECT_EQ(Text(), before);
  for (const mode_t mode : {0620u, 0602u}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_EQ(AddToken(path_, Named("c")).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(RemoveToken(path_, "a").code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(Text(), before);
  Write("[{]");
  EXPECT_EQ(AddToken(path_, Named("c")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Text(), "[{]");
  EXPECT_FALSE(fs::exists(path_ + ".part"));
  EXPECT_EQ(RemoveToken(folder_ + "/none", "a").code(), StatusCode::kIOError);
  EXPECT_FALSE(fs::exists(folder_ + "/none"));
}

TEST_F(TokenFileTest, ThereIsNoMoreThanTheServerReads) {
  Entry all = Entry::array();
  for (size_t i = 0; i < kMaxTokens; ++i) all.push_back(Named("t" + std::to_string(i)));
  Write(all.dump());
  EXPECT_EQ(AddToken(path_, Named("more")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Count(), kMaxTokens);
}

TEST_F(TokenFileTest, ALinkStays) {
  const std::string real = folder_ + "/real.json";
  fs::create_symlink(real, path_);
  EXPECT_EQ(AddToken(path_, Named("a")).code(), StatusCode::kIOError);
  std::ofstream(real) << "[]";
  ASSERT_EQ(chmod(real.c_str(), 0600), 0);
  ASSERT_TRUE(AddToken(path_, Named("b")).ok());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_NE((*LoadTokens(real))->FindName("b"), nullptr);
}

TEST_F(TokenFileTest, AFileBesideOfSomebodyElseIsNotTaken) {
  ASSERT_TRUE(AddToken(path_, Named("a")).ok());
  const std::string other = folder_ + "/other";
  std::ofstream(other) << "kept";
  fs::create_symlink(other, path_ + ".part");
  EXPECT_FALSE(AddToken(path_, Named("b")).ok());
  fs::remove(path_ + ".part");
  fs::create_hard_link(other, path_ + ".part");
  EXPECT_FALSE(AddToken(path_, Named("b")).ok());
  EXPECT_EQ(fs::file_size(other), 4u);
  fs::remove(path_ + ".part");
  std::ofstream(path_ + ".part") << "what a killed process left, longer than what follows";
  EXPECT_TRUE(AddToken(path_, Named("b")).ok());
  EXPECT_EQ(Count(), 2u);
}

TEST_F(TokenFileTest, NoChangeIsLostBesideOthers) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([this, writer] {
      for (int i = 0; i < 10; ++i) {
        const std::string name = std::to_string(writer) + "." + std::to_string(i);
        EXPECT_TRUE(AddToken(path_, Named(name)).ok());
        if (i % 2 == 1) {
          EXPECT_TRUE(RemoveToken(path_, name).ok());
        }
      }
    });
  }
  for (std::thread& one : writers) one.join();
  EXPECT_EQ(Count(), 20u);
}

}  // namespace
}  // namespace seendb::files::SEENDB_TEST_FILE
