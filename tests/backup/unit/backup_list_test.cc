// The text of a list: what is written is read again, and nothing else.

#include "backup/backup_list.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::backup::SEENDB_TEST_FILE {
namespace {

const std::string kSumA(64, 'a'), kSumB(64, 'b');

BackupList Sample() {
  BackupList list;
  list.id = 7;
  list.database = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f";
  list.partitions = 4;
  list.began_ms = 1773144000000;
  list.ended_ms = 1773144012345;
  list.new_bytes = 412;
  list.files = {{"SEENDB", 412, kSumA},
                {"shard-0000/000012.sst", 1048576, kSumB},
                {"shard-0003/CURRENT", 412, kSumA}};
  return list;
}

TEST(BackupListTest, IsReadAsItWasWritten) {
  const std::string text = ListToText(Sample());
  EXPECT_TRUE(text.starts_with("seendb-backup 1\nid 7\ndatabase 2f0c6a0e-")) << text;
  EXPECT_NE(text.find("file " + kSumB + " 1048576 shard-0000/000012.sst\n"), std::string::npos);
  const Result<BackupList> list = ListFromText(text);
  ASSERT_TRUE(list.ok()) << list.status().ToString();
  EXPECT_EQ(ListToText(*list), text);
  EXPECT_EQ(list->Bytes(), 412u + 1048576u + 412u);
  EXPECT_EQ(list->Shards(), (std::set<uint32_t>{0, 3}));
}

TEST(BackupListTest, EveryShorterTextAndEveryOtherByteIsRefused) {
  const std::string text = ListToText(Sample());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ListFromText(text.substr(0, size)).ok()) << size;
  }
  for (size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(ListFromText(other).ok()) << at;
  }
  EXPECT_FALSE(ListFromText(text + "\n").ok());
}

TEST(BackupListTest, NewerVersionsAreToldFromDamage) {
  EXPECT_EQ(ListFromText("seendb-backup 3\nanything").status().code(), StatusCode::kIncompatible);
  EXPECT_EQ(ListFromText("anything").status().code(), StatusCode::kCorruption);
}

TEST(BackupListTest, OlderSoftwareReadsOneWithoutStoresAndRefusesOneWithThem) {
  BackupList list = Sample();
  EXPECT_TRUE(list.Stores().empty());
  list.files.push_back({"items/000012.sst", 7, kSumB});
  list.files.push_back({"sets/CURRENT", 7, kSumB});
  const std::string text = ListToText(list);
  EXPECT_TRUE(text.starts_with("seendb-backup 2\n")) << text;
  const Result<BackupList> read = ListFromText(text);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->Stores(), (std::set<std::string>{"items", "sets"}));
  EXPECT_EQ(read->Shards(), (std::set<uint32_t>{0, 3}));
}

TEST(BackupListTest, PathsStayWithinTheDatabase) {
  for (const char* const path : {"SEENDB", "COLLECTIONS", "cluster.json", "shard-0003/CURRENT",
                                 "shard-1023/OPTIONS-000007", "items/000012.sst", "sets/CURRENT"}) {
    EXPECT_TRUE(IsBackedPath(path)) << path;
  }
  for (const char* const path :
       {"", "/etc/passwd", "LOCK", "../SEENDB", "shard-0003", "shard-0003/", "shard-0003/..",
        "shard-0003/.x", "shard-0003/a/b", "shard-3/CURRENT", "shard-00003/CURRENT",
        "shard-+003/CURRENT", "shard-0003.removed/CURRENT", "shard-0003/a b", "items", "items/",
        "items/../SEENDB", "sets/a/b", "damaged/000012.sst"}) {
    EXPECT_FALSE(IsBackedPath(path)) << path;
    BackupList list = Sample();
    list.files.push_back({path, 1, kSumA});
    EXPECT_FALSE(ListFromText(ListToText(list)).ok()) << path;
  }
}

TEST(BackupListTest, APathIsThereOnceAndTheIdentityIsThere) {
  BackupList list = Sample();
  list.files.push_back(list.files.back());
  EXPECT_FALSE(ListFromText(ListToText(list)).ok());
  list = Sample();
  list.files.erase(list.files.begin());
  EXPECT_FALSE(ListFromText(ListToText(list)).ok());
}

}  // namespace
}  // namespace seendb::backup::SEENDB_TEST_FILE
