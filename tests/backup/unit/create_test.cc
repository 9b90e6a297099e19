// A backup of a source that is interrupted, changes and lies; and what prune does beside it.

#include "backup/create.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backup/prune.h"
#include "backup/restore.h"
#include "backup/verify.h"
#include "text/sha256.h"

namespace seendb::backup::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;

std::string SumOf(const std::string& bytes) {
  text::Sha256 sum;
  sum.Add(bytes);
  return sum.Digits();
}

/// A database of two shards in memory.
class FakeSource : public Source {
 public:
  std::map<std::string, std::string> root = {{"SEENDB", "identity"}, {"COLLECTIONS", "none"}};
  std::vector<std::map<std::string, std::string>> shards = {
      {{"000001.sst", std::string(3'000'000, 'x')}, {"CURRENT", "one"}},
      {{"000002.sst", "table two"}, {"CURRENT", "two"}}};
  std::map<std::string, std::string> items;  // a store beside the shards, where there is one
  std::function<Status(const std::string& path, uint64_t offset)> before_read = [](auto&&...) {
    return Status();
  };
  std::function<void(uint32_t shard)> taken = [](uint32_t) {};
  uint64_t bytes_read = 0;
  int takes = 0;

  Result<Origin> Describe() override {
    Origin origin{"the-database", 2, {0, 1}};
    if (!items.empty()) origin.stores = {"items"};
    return origin;
  }
  Result<std::map<std::string, std::string>> RootFiles() override { return root; }
  Result<std::vector<BackedFile>> Take(const std::string& folder) override {
    ++takes;
    std::vector<BackedFile> files;
    for (const auto& [name, bytes] : PartAt(folder)) {
      files.push_back({folder + "/" + name, bytes.size(), SumOf(bytes)});
    }
    if (folder != "items") taken(folder == "shard-0001" ? 1 : 0);
    return files;
  }
  Status Read(const BackedFile& file, uint64_t offset, uint64_t bytes, std::string* to) override {
    if (Status failed = before_read(file.path, offset); !failed.ok()) return failed;
    const size_t slash = file.path.find('/');
    *to = PartAt(file.path.substr(0, slash)).at(file.path.substr(slash + 1)).substr(offset, bytes);
    bytes_read += to->size();
    return {};
  }
  void Drop() override {}

 private:
  const std::map<std::string, std::string>& PartAt(const std::string& folder) const {
    return folder == "items" ? items : shards.at(folder == "shard-0001" ? 1 : 0);
  }
};

class CreateTest : public testing::Test {
 protected:
  CreateTest() {
    char name[] = "/tmp/seendb-backup-XXXXXX";
    home_ = mkdtemp(name);
    path_ = home_ + "/backups";
  }
  ~CreateTest() override { fs::remove_all(home_); }

  Result<BackupList> Make(CreateOptions options = {}) {
    options.pause = std::chrono::milliseconds(1);
    Meter meter(0, [] { return false; });
    return Create(path_, &source_, &meter, options);
  }
  uint64_t MakeWell() {
    const Result<BackupList> list = Make();
    EXPECT_TRUE(list.ok()) << list.status().ToString();
    return list.ok() ? list->id : 0;
  }
  Folder Opened() const { return Folder::Open(path_).value(); }
  Verified Looked() const {
    Meter meter(0, [] { return false; });
    return Verify(Opened(), &meter).value();
  }
  Status RestoreTo(const std::string& target, uint64_t id) const {
    Meter meter(0, [] { return false; });
    const Folder folder = Opened();
    const Result<BackupList> list = folder.ReadList(id);
    return list.ok() ? Restore(folder, *list, target, &meter) : list.status();
  }
  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  FakeSource source_;
  std::string home_, path_;
};

TEST_F(CreateTest, ASecondBackupBringsWhatIsNew) {
  ASSERT_EQ(MakeWell(), 1u);
  EXPECT_EQ(source_.bytes_read, 3'000'000u + 9 + 3 + 3);
  source_.shards[1]["000003.sst"] = "a new table";
  source_.shards[1].erase("000002.sst");
  source_.bytes_read = 0;
  ASSERT_EQ(MakeWell(), 2u);
  EXPECT_EQ(source_.bytes_read, 11u);
  const std::string old = home_ + "/old", fresh = home_ + "/fresh";
  ASSERT_TRUE(RestoreTo(old, 1).ok());
  ASSERT_TRUE(RestoreTo(fresh, 2).ok());
  EXPECT_EQ(Contents(old + "/shard-0001/000002.sst"), "table two");
  EXPECT_EQ(Contents(fresh + "/shard-0001/000003.sst"), "a new table");
  EXPECT_EQ(Contents(fresh + "/shard-0000/000001.sst"), std::string(3'000'000, 'x'));
  EXPECT_EQ(Contents(fresh + "/SEENDB"), "identity");
  EXPECT_FALSE(fs::exists(fresh + "/shard-0001/000002.sst"));
  EXPECT_EQ(RestoreTo(fresh, 1).code(), StatusCode::kIncompatible);
}

TEST_F(CreateTest, AStoreBesideTheShardsIsInIt) {
  ASSERT_EQ(MakeWell(), 1u);  // as older software leaves one
  source_.items = {{"000007.sst", "rows"}, {"CURRENT", "three"}};
  source_.before_read = [](const std::string& path, uint64_t) {
    return path == "items/CURRENT" ? Status::Unavailable("cut") : Status();
  };
  ASSERT_FALSE(Make().ok());
  EXPECT_EQ(Opened().ReadLists()->whole.size(), 1u);
  source_.before_read = [](auto&&...) { return Status(); };
  ASSERT_EQ(MakeWell(), 2u);
  source_.bytes_read = 0;
  source_.items["000008.sst"] = "more rows";
  ASSERT_EQ(MakeWell(), 3u);
  EXPECT_EQ(source_.bytes_read, 9u);
  const Lists lists = Opened().ReadLists().value();
  EXPECT_TRUE(lists.whole.at(1).Stores().empty());
  EXPECT_EQ(lists.whole.at(3).Stores(), std::set<std::string>{"items"});
  EXPECT_EQ(lists.whole.at(3).Shards(), (std::set<uint32_t>{0, 1}));
  ASSERT_TRUE(RestoreTo(home_ + "/first", 1).ok());
  EXPECT_FALSE(fs::exists(home_ + "/first/items"));
  ASSERT_TRUE(RestoreTo(home_ + "/third", 3).ok());
  EXPECT_EQ(Contents(home_ + "/third/items/000007.sst"), "rows");
  EXPECT_EQ(Contents(home_ + "/third/items/000008.sst"), "more rows");

  const Result<Pruned> pruned = Prune(Opened(), ParseKeep("1d").value());
  ASSERT_TRUE(pruned.ok()) << pruned.status().ToString();
  EXPECT_EQ(pruned->kept, std::vector<uint64_t>{3});
  EXPECT_EQ(pruned->files, 0u);
  std::fstream(Opened().FilePath(SumOf("rows")), std::ios::in | std::ios::out) << "R";
  const std::vector<Damage> damages = Looked().damages;
  ASSERT_EQ(damages.size(), 1u);
  EXPECT_EQ(damages[0].path, "items/000007.sst");
}

TEST_F(CreateTest, AnInterruptedOneIsNotListedAndGoesOnWithinTheFile) {
  source_.before_read = [](const std::string& path, uint64_t offset) {
    return path.ends_with("1.sst") && offset >= 2u << 20 ? Status::Unavailable("cut") : Status();
  };
  EXPECT_EQ(Make().status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(Opened().ReadLists()->whole.empty());
  source_.before_read = [](auto&&...) { return Status(); };
  source_.bytes_read = 0;
  EXPECT_EQ(MakeWell(), 1u);
  EXPECT_EQ(source_.bytes_read, 3'000'000u - (2u << 20) + 9 + 3 + 3);
  EXPECT_TRUE(Looked().damages.empty());
}

TEST_F(CreateTest, APartThatIsDamagedIsBroughtAnew) {
  source_.before_read = [](const std::string& path, uint64_t offset) {
    return path.ends_with("1.sst") && offset > 0 ? Status::Unavailable("cut") : Status();
  };
  ASSERT_FALSE(Make().ok());
  const std::string part = Opened().PartPath(SumOf(source_.shards[0]["000001.sst"]));
  ASSERT_EQ(fs::file_size(part), 1u << 20);
  std::fstream(part, std::ios::in | std::ios::out) << "other";
  source_.before_read = [](auto&&...) { return Status(); };
  EXPECT_EQ(MakeWell(), 1u);
  EXPECT_TRUE(Looked().damages.empty());
}

TEST_F(CreateTest, ASourceThatGivesOtherBytesIsRefused) {
  source_.taken = [&](uint32_t shard) {
    if (shard == 1) source_.shards[1]["000002.sst"] = "TABLE TWO";
  };
  const Status failed = Make().status();
  EXPECT_EQ(failed.code(), StatusCode::kCorruption);
  EXPECT_NE(failed.message().find("shard-0001/000002.sst came damaged"), std::string::npos)
      << failed.ToString();
  EXPECT_TRUE(Opened().ReadLists()->whole.empty());
}

TEST_F(CreateTest, WhatMayPassIsTriedAgain) {
  int failures = 3;
  source_.before_read = [&](const std::string&, uint64_t) {
    return failures-- > 0 ? Status::Unavailable("the copy is gone") : Status();
  };
  CreateOptions options;
  options.silent_most = std::chrono::minutes(1);
  EXPECT_TRUE(Make(options).ok());
  EXPECT_EQ(source_.takes, 5);
}

TEST_F(CreateTest, ShardsAreTakenAgainWhereTheCollectionsChanged) {
  int changes = 2;
  source_.taken = [&](uint32_t shard) {
    if (shard == 1 && changes-- > 0) source_.root["COLLECTIONS"] += "+";
  };
  ASSERT_EQ(MakeWell(), 1u);
  EXPECT_EQ(source_.takes, 6);
  source_.taken = [&](uint32_t) { source_.root["COLLECTIONS"] += "+"; };
  EXPECT_EQ(Make().status().code(), StatusCode::kBusy);
}

TEST_F(CreateTest, PruneBesideItTakesNothingThatItNeeds) {
  ASSERT_EQ(MakeWell(), 1u);
  const auto one_day = ParseKeep("1d").value();
  source_.shards[0].erase("000001.sst");
  ASSERT_EQ(MakeWell(), 2u);  // no list but the first names the table now
  source_.shards[0]["000001.sst"] = std::string(3'000'000, 'x');
  source_.shards[1]["000003.sst"] = "begun";
  bool pruned = false;
  source_.before_read = [&](const std::string&, uint64_t) {  // shard 0 is claimed by now
    const Result<Pruned> done = Prune(Opened(), one_day);
    EXPECT_TRUE(done.ok()) << done.status().ToString();
    EXPECT_EQ(done->removed.size(), pruned ? 0u : 1u);
    EXPECT_EQ(done->files, 0u);
    pruned = true;
    return Status();
  };
  ASSERT_EQ(MakeWell(), 3u);
  EXPECT_TRUE(pruned);
  EXPECT_TRUE(Looked().damages.empty());
  EXPECT_EQ(Looked().unlisted, 0u);
}

TEST_F(CreateTest, PruneDeletesWhatNobodyNames) {
  ASSERT_EQ(MakeWell(), 1u);
  source_.shards[0]["000001.sst"] = "smaller";
  ASSERT_EQ(MakeWell(), 2u);
  source_.shards[0]["000004.sst"] = std::string(2'000'000, 'y');
  source_.before_read = [](const std::string& path, uint64_t offset) {
    return path.ends_with("4.sst") && offset > 0 ? Status::Unavailable("cut") : Status();
  };
  ASSERT_FALSE(Make().ok());
  const std::string part = Opened().PartPath(SumOf(source_.shards[0]["000004.sst"]));
  ASSERT_TRUE(fs::exists(part));
  const Result<Pruned> pruned = Prune(Opened(), ParseKeep("1d").value());
  ASSERT_TRUE(pruned.ok());
  EXPECT_EQ(pruned->removed, std::vector<uint64_t>{1});
  EXPECT_EQ(pruned->kept, std::vector<uint64_t>{2});
  EXPECT_EQ(pruned->bytes, 3'000'000u);
  EXPECT_FALSE(fs::exists(part));
  EXPECT_TRUE(Looked().damages.empty());
}

TEST_F(CreateTest, PruneDeletesNothingBesideAListThatItCannotRead) {
  ASSERT_EQ(MakeWell(), 1u);
  source_.shards[0]["000001.sst"] = "smaller";
  ASSERT_EQ(MakeWell(), 2u);
  std::ofstream(Opened().ListPath(2), std::ios::app) << "x";
  EXPECT_EQ(Prune(Opened(), ParseKeep("1d").value()).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(Opened().ReadLists()->whole.size(), 1u);
  EXPECT_EQ(Looked().damages.size(), 1u);
  ASSERT_EQ(MakeWell(), 3u);  // a number is not given twice
}

TEST_F(CreateTest, OneRunsAtATimeAndOfOneDatabase) {
  source_.taken = [&](uint32_t) {
    Meter meter(0, [] { return false; });
    FakeSource other;
    EXPECT_EQ(Create(path_, &other, &meter, {}).status().code(), StatusCode::kBusy);
  };
  ASSERT_EQ(MakeWell(), 1u);
  EXPECT_EQ(Folder::OpenFor(path_, "another").status().code(), StatusCode::kIncompatible);
  fs::create_directory(home_ + "/mine");
  std::ofstream(home_ + "/mine/thing") << "x";
  EXPECT_EQ(Folder::OpenFor(home_ + "/mine", "any").status().code(), StatusCode::kIncompatible);
  EXPECT_EQ(Folder::Open(home_ + "/mine").status().code(), StatusCode::kNotFound);
}

TEST_F(CreateTest, DamageIsNamedAndKeepsABackupFromBeingRestored) {
  ASSERT_EQ(MakeWell(), 1u);
  const std::string table = Opened().FilePath(SumOf("table two"));
  std::fstream(table, std::ios::in | std::ios::out) << "T";
  std::vector<Damage> damages = Looked().damages;
  ASSERT_EQ(damages.size(), 1u);
  EXPECT_EQ(damages[0].file, table);
  EXPECT_EQ(damages[0].what, "damaged");
  EXPECT_EQ(damages[0].path, "shard-0001/000002.sst");
  const Status refused = RestoreTo(home_ + "/new", 1);
  EXPECT_EQ(refused.code(), StatusCode::kCorruption);
  EXPECT_NE(refused.message().find(table), std::string::npos) << refused.ToString();
  fs::remove(table);
  EXPECT_EQ(Looked().damages.at(0).what, "missing");
  EXPECT_NE(RestoreTo(home_ + "/new", 1).message().find("lacks " + table), std::string::npos);
  EXPECT_FALSE(fs::exists(home_ + "/new"));
  EXPECT_FALSE(fs::exists(home_ + "/new.restoring"));
  ASSERT_EQ(MakeWell(), 2u);  // brings it again, for the first one too
  EXPECT_TRUE(Looked().damages.empty());
  fs::create_directory(home_ + "/new.restoring");  // as a killed one leaves it
  std::ofstream(home_ + "/new.restoring/RESTORING") << "";
  std::ofstream(home_ + "/new.restoring/SEENDB") << "half";
  EXPECT_TRUE(RestoreTo(home_ + "/new", 1).ok());
  EXPECT_EQ(Contents(home_ + "/new/SEENDB"), "identity");
}

}  // namespace
}  // namespace seendb::backup::SEENDB_TEST_FILE
