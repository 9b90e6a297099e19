#include "base/whole_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

class WholeFileTest : public testing::Test {
 protected:
  ~WholeFileTest() override { std::remove(path_.c_str()); }

  std::string Write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }

  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("seendb-whole-file-" + std::to_string(::getpid())))
          .string();
};

TEST_F(WholeFileTest, IsReadUpToItsLimit) {
  for (const size_t size : {0u, 1u, 65'536u, 65'537u, 200'000u}) {
    const std::string text(size, 'x');
    EXPECT_EQ(ReadWholeFile(Write(text), size).value(), text) << size;
    if (size == 0) continue;
    const Status over = ReadWholeFile(path_, size - 1).status();
    EXPECT_EQ(over.code(), StatusCode::kInvalidArgument) << size;
    EXPECT_NE(over.message().find(path_ + " is over "), std::string::npos) << over.ToString();
  }
}

TEST_F(WholeFileTest, WhatHasNoEndIsOverTheLimit) {
  EXPECT_EQ(ReadWholeFile("/dev/zero", 1'000'000).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(WholeFileTest, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(ReadWholeFile(path_, 10).status().code(), StatusCode::kNotFound);
  const Status folder = ReadWholeFile("/", 10).status();
  EXPECT_EQ(folder.code(), StatusCode::kIOError);
  EXPECT_NE(folder.message().find("can't read /"), std::string::npos) << folder.ToString();
}

TEST_F(WholeFileTest, TheFirstLineHasNoEnd) {
  EXPECT_EQ(ReadFirstLine(Write("secret\r\nmore\n")).value(), "secret");
  EXPECT_EQ(ReadFirstLine(Write("secret")).value(), "secret");
  EXPECT_EQ(ReadFirstLine(Write("")).value(), "");
  EXPECT_FALSE(ReadFirstLine(Write(std::string(65'537, 'x'))).ok());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
