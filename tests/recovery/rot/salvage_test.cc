// A table with some blocks damaged gives every key of the others, and bounds what it lost; a log
// with a damaged part gives the records on both sides.

#include "recovery/salvage.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>

#include "recovery/log.h"
#include "recovery/rebuilt_shard.h"
#include "store/log_file.h"
#include "support/rot_fixture.h"
#include "tables/table_set.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

constexpr int kKeys = 4000;

std::string KeyOf(int i) {
  const std::string number = std::to_string(i);
  return "user" + std::string(6 - number.size(), '0') + number;
}

class SalvageTest : public RotFixture {
 protected:
  void Write() {
    rocksdb::Options options(OptionsOfDatabase(rocksdb::Env::Default()), ReadingOptions("ring/0"));
    rocksdb::SstFileWriter writer({}, options);
    ASSERT_TRUE(writer.Open(path_).ok());
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(writer.Put(KeyOf(i), std::string(100, static_cast<char>(i))).ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
  }
  SalvagedTable Read() {
    read_.clear();
    const rocksdb::Options options(OptionsOfDatabase(rocksdb::Env::Default()),
                                   ReadingOptions("ring/0"));
    return SalvageTable(options, path_, KeyOf(0), KeyOf(kKeys - 1),
                        [this](std::string_view key, std::string_view value) {
                          EXPECT_EQ(value, std::string(100, value[0]));
                          read_.insert(std::string(key));
                        });
  }
  // Every key is read, or lies in a range that says so.
  void ExpectAccounted(const SalvagedTable& table) {
    DataLoss losses;
    losses.users = table.lost;
    for (int i = 0; i < kKeys; ++i) {
      if (read_.contains(KeyOf(i))) continue;
      EXPECT_TRUE(!table.lost.empty() && losses.MayConcern(KeyOf(i))) << KeyOf(i);
    }
  }

  const std::string path_ = dir_ + "/000007.sst";
  std::set<std::string> read_;
};

TEST_F(SalvageTest, AllOfASoundTable) {
  Write();
  const SalvagedTable table = Read();
  EXPECT_TRUE(table.whole());
  EXPECT_EQ(read_.size(), size_t{kKeys});
}

TEST_F(SalvageTest, TheOtherBlocks) {
  Write();
  const uint64_t bytes = fs::file_size(path_);
  for (int damaged = 1; damaged <= 4; ++damaged) {
    Write();
    for (int i = 0; i < damaged; ++i) {
      FlipBits(path_, bytes / 20 + bytes / 2 * static_cast<uint64_t>(i) / 2, 0x20);
    }
    SCOPED_TRACE(damaged);
    const SalvagedTable table = Read();
    ExpectAccounted(table);
    EXPECT_FALSE(table.lost.empty());
    EXPECT_GE(read_.size(), size_t(kKeys - 200 * damaged)) << "a block has some 140 keys";
    EXPECT_LT(read_.size(), size_t{kKeys});
    EXPECT_GT(table.bytes_left, 0u);
  }
}

TEST_F(SalvageTest, NothingOfATableThatDoesNotOpen) {
  Write();
  fs::resize_file(path_, fs::file_size(path_) / 2);
  const SalvagedTable table = Read();
  EXPECT_EQ(table.keys, 0u);
  ExpectAccounted(table);
  EXPECT_GT(table.bytes_left, 0u);
}

TEST_F(SalvageTest, ALogOnBothSidesOfTheDamage) {
  std::vector<std::string> records;
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    const size_t size = i % 50 == 0 ? 80'000 : static_cast<size_t>(random_() % 900);
    records.push_back(std::to_string(i) + ":" + std::string(size, 'x'));
    AppendLogRecord(records.back(), &bytes);
  }
  const std::string log = dir_ + "/000003.log";
  std::ofstream(log, std::ios::binary) << bytes;
  rocksdb::Env* const env = rocksdb::Env::Default();
  LogExtent extent;
  std::vector<std::string> read;
  const auto take = [&](std::string_view record) { read.emplace_back(record); };
  ASSERT_TRUE(ReadLogFile(env, log, take, &extent).ok());
  EXPECT_EQ(read, records);
  FlipBits(log, bytes.size() / 2, 1);
  read.clear();
  ASSERT_TRUE(ReadLogFile(env, log, take, &extent).ok());
  const std::vector<std::string> sound = read;
  EXPECT_LT(sound.size(), records.size());
  EXPECT_EQ(sound.back(), records.back());
  ASSERT_TRUE(RewriteLog(env, log, log + ".tmp").ok());
  read.clear();
  ASSERT_TRUE(ReadLogFile(env, log + ".tmp", take, &extent).ok());
  EXPECT_EQ(read, sound);
  EXPECT_EQ(extent.damaged_bytes, 0u);
  EXPECT_EQ(extent.sound_bytes, extent.bytes);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
