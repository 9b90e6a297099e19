#include "byte_source.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <unistd.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

class ByteSourceTest : public testing::Test {
 protected:
  ByteSourceTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("seendb_byte_source_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~ByteSourceTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  void Write(const std::string& path, const std::string& bytes) {
    auto sink = ByteSink::Open(path);
    ASSERT_TRUE(sink.ok());
    for (size_t at = 0; at < bytes.size(); at += 100'000) {
      ASSERT_TRUE((*sink)->Write(bytes.substr(at, 100'000)).ok());
    }
    ASSERT_TRUE((*sink)->Finish().ok());
  }

  static Result<std::string> Read(const std::string& path) {
    auto source = ByteSource::Open(path);
    if (!source.ok()) return source.status();
    std::string out;
    for (;;) {
      char piece[777];
      auto got = (*source)->Read(piece, sizeof(piece));
      if (!got.ok()) return got.status();
      if (*got == 0) break;
      out.append(piece, *got);
    }
    EXPECT_EQ((*source)->file_bytes_read(), std::filesystem::file_size(path));
    EXPECT_EQ((*source)->file_bytes(), std::filesystem::file_size(path));
    return out;
  }

  static std::string Raw(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  static std::string Sample() {
    std::string out;
    for (int i = 0; i < 100'000; ++i) out += std::to_string(i * 7919 % 10'007) + "\n";
    return out;
  }

  std::filesystem::path folder_;
};

TEST_F(ByteSourceTest, PlainFilesComeBack) {
  for (const std::string& bytes : {std::string(), std::string("ab"), Sample()}) {
    Write(Path("a.csv"), bytes);
    EXPECT_EQ(Raw(Path("a.csv")), bytes);
    EXPECT_EQ(Read(Path("a.csv")).value(), bytes);
  }
}

TEST_F(ByteSourceTest, CompressedFilesComeBackWhateverTheirName) {
  const std::string bytes = Sample();
  Write(Path("a.csv.zst"), bytes);
  EXPECT_LT(std::filesystem::file_size(Path("a.csv.zst")), bytes.size() / 2);
  EXPECT_EQ(Read(Path("a.csv.zst")).value(), bytes);
  std::filesystem::rename(Path("a.csv.zst"), Path("a.csv"));
  EXPECT_EQ(Read(Path("a.csv")).value(), bytes);
}

TEST_F(ByteSourceTest, ConcatenatedFramesAreOneStream) {
  Write(Path("a.zst"), "one ");
  Write(Path("b.zst"), "two");
  std::ofstream(Path("c.zst"), std::ios::binary) << Raw(Path("a.zst")) << Raw(Path("b.zst"));
  EXPECT_EQ(Read(Path("c.zst")).value(), "one two");
}

TEST_F(ByteSourceTest, DamageAndTruncationAreCorruption) {
  Write(Path("a.zst"), Sample());
  std::string bytes = Raw(Path("a.zst"));
  std::ofstream(Path("cut.zst"), std::ios::binary) << bytes.substr(0, bytes.size() - 5);
  EXPECT_EQ(Read(Path("cut.zst")).status().code(), StatusCode::kCorruption);
  std::ofstream(Path("bad.zst"), std::ios::binary) << bytes.substr(0, 4) + std::string(500, '\xFF');
  EXPECT_EQ(Read(Path("bad.zst")).status().code(), StatusCode::kCorruption);
}

TEST_F(ByteSourceTest, MissingFilesAreNotFound) {
  EXPECT_EQ(ByteSource::Open(Path("none")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ByteSink::Open(Path("none/a")).status().code(), StatusCode::kIOError);
}

TEST_F(ByteSourceTest, AnUnfinishedFileLeavesNothing) {
  {
    auto sink = ByteSink::Open(Path("a.csv"));
    ASSERT_TRUE(sink.ok());
    ASSERT_TRUE((*sink)->Write("half").ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ByteSourceTest, ALinkInThePlaceOfThePartIsNotFollowed) {
  Write(Path("victim"), "precious");
  std::filesystem::create_symlink(Path("victim"), Path("a.csv.part"));
  EXPECT_EQ(ByteSink::Open(Path("a.csv")).status().code(), StatusCode::kIOError);
  const Result<std::string> victim = Read(Path("victim"));
  ASSERT_TRUE(victim.ok());
  EXPECT_EQ(*victim, "precious");
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
