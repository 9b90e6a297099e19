#include "store/log_file.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "store/inventory.h"
#include "store/shard_logs.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int kRecords = 200;
constexpr size_t kBlock = 32 << 10;

// A log as RocksDB writes it, of records that span some blocks.
class LogFileTest : public ::testing::Test {
 protected:
  LogFileTest() : env_(rocksdb::NewMemEnv(rocksdb::Env::Default())) {
    rocksdb::Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    rocksdb::DB* opened = nullptr;
    EXPECT_TRUE(rocksdb::DB::Open(options, "/db", &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    for (int i = 0; i < kRecords; ++i) {
      const std::string value(1000, static_cast<char>('a' + i % 26));
      EXPECT_TRUE(db->Put({}, "key" + std::to_string(i), value).ok());
    }
    const auto numbers = LogNumbers(env_.get(), "/db");
    EXPECT_TRUE(numbers.ok() && numbers->size() == 1);
    path_ = "/db/" + LogName(numbers->front());
    EXPECT_TRUE(rocksdb::ReadFileToString(env_.get(), path_, &bytes_).ok());
  }

  // What is read of a log with these bytes.
  LogExtent Read(const std::string& bytes) {
    EXPECT_TRUE(rocksdb::WriteStringToFile(env_.get(), bytes, "/db/damaged").ok());
    LogExtent extent;
    sizes_.clear();
    const Status status = ReadLogFile(
        env_.get(), "/db/damaged", [&](std::string_view r) { sizes_.push_back(r.size()); },
        &extent);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(sizes_.size(), extent.records);
    return extent;
  }

  const std::unique_ptr<rocksdb::Env> env_;
  std::string path_, bytes_;
  std::vector<size_t> sizes_;
};

TEST_F(LogFileTest, AllRecordsOfASoundLogAreRead) {
  const LogExtent extent = Read(bytes_);
  EXPECT_EQ(extent.records, kRecords);
  EXPECT_EQ(extent.bytes, bytes_.size());
  EXPECT_EQ(extent.sound_bytes, bytes_.size());
  EXPECT_EQ(extent.damaged_bytes, 0U);
}

// Its writer was killed: nobody was told of the last record.
TEST_F(LogFileTest, ATornTailIsNoDamage) {
  const LogExtent extent = Read(bytes_.substr(0, bytes_.size() - 10));
  EXPECT_EQ(extent.records, kRecords - 1);
  EXPECT_LT(extent.sound_bytes, extent.bytes);
  EXPECT_EQ(extent.damaged_bytes, 0U);
}

TEST_F(LogFileTest, WhatLiesBehindADamagedBlockIsRead) {
  std::string damaged = bytes_;
  damaged[kBlock + 500] = static_cast<char>(damaged[kBlock + 500] ^ 1);
  const LogExtent extent = Read(damaged);
  EXPECT_GT(extent.damaged_bytes, 0U);
  EXPECT_GE(extent.sound_bytes, kBlock - 2000);
  EXPECT_LE(extent.sound_bytes, kBlock + 500);
  // The rest of the damaged block is lost, and the record that reaches into the next.
  EXPECT_LT(extent.records, kRecords - 20);
  EXPECT_GT(extent.records, kRecords - 40);
}

TEST_F(LogFileTest, AFileThatIsNotThereIsNamed) {
  LogExtent extent;
  const Status status = ReadLogFile(
      env_.get(), "/db/none.log", [](std::string_view) {}, &extent);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find("none.log"), std::string::npos);
}

// RFC 3720, B.4.
TEST(Crc32cTest, KnownSums) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43U);
}

/// A write batch as a log has it: sequence, count of rows, rows.
std::string Batch(uint64_t sequence, char rows, const std::string& text) {
  std::string batch;
  for (int byte = 0; byte < 8; ++byte) batch += static_cast<char>(sequence >> (8 * byte));
  return batch + rows + std::string(3, '\0') + text;
}

TEST(LogRepeatsTest, RecordsThatAreThereAgain) {
  LogRepeats repeats;
  for (const uint64_t sequence : {5u, 7u, 8u, 300u}) {
    EXPECT_FALSE(repeats.Has(Batch(sequence, 1, "a"))) << sequence;
  }
  for (const uint64_t sequence : {5u, 7u, 8u, 300u}) {
    EXPECT_TRUE(repeats.Has(Batch(sequence, 1, "a"))) << sequence;
  }
  EXPECT_FALSE(repeats.Has(Batch(301, 1, "a")));
}

TEST(LogRepeatsTest, NoneWhereAWriterMayLeaveTheSame) {
  LogRepeats repeats;
  EXPECT_FALSE(repeats.Has(Batch(5, 2, "a")));
  EXPECT_FALSE(repeats.Has(Batch(5, 2, "b"))) << "a write that failed used the sequence up";
  EXPECT_FALSE(repeats.Has(Batch(7, 0, "")));
  EXPECT_FALSE(repeats.Has(Batch(7, 0, ""))) << "nothing was written";
  EXPECT_FALSE(repeats.Has("short"));
}

TEST_F(LogFileTest, ALogThatIsThereTwiceIsNamed) {
  const auto text_of = [this](const std::string& bytes) {
    EXPECT_TRUE(rocksdb::WriteStringToFile(env_.get(), bytes, path_).ok());
    ShardLogs logs;
    EXPECT_TRUE(ReadLogs(env_.get(), "/db", &logs).ok());
    return RepeatsText(logs);
  };
  EXPECT_EQ(text_of(bytes_), "");
  // A block that is not full is filled up with nothing, as a writer does.
  const std::string whole = bytes_.substr(0, kBlock * (bytes_.size() / kBlock));
  EXPECT_NE(text_of(whole + whole).find(".log has records again behind byte"), std::string::npos);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
