// Items and sets beside the shards: damage in their files is named, a repair makes a store of what
// can be read, nothing that was damaged is served, and a second repair changes nothing.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "recovery/beside.h"
#include "seendb/item_store.h"
#include "seendb/repair.h"
#include "seendb/set_store.h"
#include "store/files.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;

constexpr int kItems = 4'000;
const ItemStoreOptions kItemOptions{.bytes = uint64_t{256} << 20};

std::string ItemId(int number) { return "item-" + std::to_string(100'000 + number); }
std::string AuthorOf(int number) { return "author " + std::to_string(number * 7919 % 100'003); }

/// A database whose shards were not made yet, with items and sets.
class StoresTest : public ::testing::Test {
 protected:
  StoresTest() {
    std::string folder = (fs::temp_directory_path() / "stores-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    root_ = folder;
    Identity identity;
    identity.id = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f";
    identity.shards = 1;
    EXPECT_TRUE(WriteIdentity(rocksdb::Env::Default(), root_, identity).ok());
  }
  ~StoresTest() override { fs::remove_all(root_); }

  std::unique_ptr<ItemStore> OpenItems(Status* failed = nullptr) const {
    auto opened = ItemStore::Open(root_ + "/items", kItemOptions);
    if (failed != nullptr) *failed = opened.status();
    if (failed == nullptr) {
      EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    }
    return opened.ok() ? std::move(opened).value() : nullptr;
  }
  void PutItems(ItemStore* store, int from, int to) {
    std::vector<std::string> ids;
    for (int i = from; i < to; ++i) ids.push_back(ItemId(i));
    std::vector<ItemUpdate> updates(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      updates[i].id = IdRef(ids[i]);
      updates[i].version = 7;
      updates[i].set = {{"author", AuthorOf(from + static_cast<int>(i))}};
    }
    ASSERT_TRUE(store->Apply(updates).ok());
  }
  /// All items in one table: an opening writes its log as one. Later ones are in the log.
  void MakeItems(int in_table = kItems, int in_log = 0) {
    auto store = OpenItems();
    ASSERT_TRUE(store->PutSchema({{"author", ItemFieldType::kText}}).ok());
    PutItems(store.get(), 0, in_table);
    ASSERT_TRUE(store->Close().ok());
    store = OpenItems();
    for (int i = in_table; i < in_table + in_log; i += 50) PutItems(store.get(), i, i + 50);
    ASSERT_TRUE(store->Close().ok());
  }
  void MakeSets() {
    auto opened = SetStore::Open(root_ + "/sets", {});
    ASSERT_TRUE(opened.ok());
    std::vector<std::string> ids;
    for (int i = 0; i < 20'000; ++i) ids.push_back(ItemId(i) + AuthorOf(i));
    for (const char* const name : {"a", "b", "c"}) {
      ASSERT_TRUE((*opened)->Put(name, std::vector<IdRef>(ids.begin(), ids.end())).ok());
    }
    ASSERT_TRUE((*opened)->Close().ok());
    opened = SetStore::Open(root_ + "/sets", {});
    ASSERT_TRUE(opened.ok() && (*opened)->Close().ok());
  }

  /// The largest file of a store whose name ends so.
  std::string Largest(const std::string& folder, const std::string& end) const {
    std::string found;
    uint64_t most = 0;
    for (const auto& entry : fs::directory_iterator(root_ + "/" + folder)) {
      const std::string name = entry.path().filename().string();
      const bool fits = name.ends_with(end) || (end.ends_with('-') && name.starts_with(end));
      if (!fits || entry.file_size() <= most) continue;
      most = entry.file_size();
      found = folder + "/" + name;
    }
    EXPECT_FALSE(found.empty()) << folder << " has no " << end;
    return found;
  }
  void Spoil(const std::string& file, double where) const {
    const std::string path = root_ + "/" + file;
    std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(static_cast<double>(fs::file_size(path)) * where));
    bytes << "spoilt";
  }

  void ExpectNamed(const std::string& file) const {
    const auto report = VerifyFiles(root_);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    ASSERT_EQ(report->damages.size(), 1u);
    EXPECT_EQ(report->damages[0].file, file) << report->damages[0].detail;
  }
  RepairReport Repaired() const {
    const bool kept_before = fs::exists(root_ + "/damaged");
    const auto dry = Repair(root_, {.dry_run = true});
    EXPECT_TRUE(dry.ok()) << dry.status().ToString();
    EXPECT_EQ(fs::exists(root_ + "/damaged"), kept_before);
    const auto report = Repair(root_, {});
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    if (!report.ok() || !dry.ok()) return {};
    EXPECT_EQ(dry->files.size(), report->files.size());
    for (const RepairedFile& one : report->files) {
      const bool kept = !one.kept_as.empty() && fs::exists(root_ + "/" + one.kept_as);
      EXPECT_TRUE(kept || one.damage.kind == "missing") << one.damage.file;
    }
    ExpectSound();
    const auto again = Repair(root_, {});
    EXPECT_TRUE(again.ok() && again->files.empty());
    return *report;
  }
  void ExpectSound() const {
    const auto files = VerifyFiles(root_);
    ASSERT_TRUE(files.ok()) << files.status().ToString();
    EXPECT_TRUE(files->damages.empty()) << files->damages[0].file;
    const auto rows = VerifyStores(root_);
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    EXPECT_EQ(rows->newer, 0u);
  }
  /// How many of the items are there; those are as they were.
  int Sound(int items) const {
    const auto store = OpenItems();
    if (store == nullptr) return 0;
    EXPECT_TRUE(store->Verify()->empty());
    int sound = 0;
    for (int i = 0; i < items; ++i) {
      const std::string id = ItemId(i);
      const IdRef ref(id);
      const auto found = store->Get({&ref, 1}, {}).value();
      if (found.empty()) continue;
      ++sound;
      EXPECT_EQ(found[0].fields, (std::vector<ItemFieldValue>{{"author", AuthorOf(i)}})) << id;
    }
    EXPECT_TRUE(store->Close().ok());
    return sound;
  }

  std::string root_;
};

TEST_F(StoresTest, WhatIsSoundIsSaidToBe) {
  ExpectSound();
  EXPECT_TRUE(VerifyStores(root_)->stores.empty());
  MakeItems();
  MakeSets();
  ExpectSound();
  const StoresReport report = VerifyStores(root_).value();
  EXPECT_EQ(report.stores, (std::vector<std::string>{"items", "sets"}));
  EXPECT_EQ(report.damaged, 0u);
  EXPECT_GT(report.rows, static_cast<uint64_t>(kItems));
  const auto repaired = Repair(root_, {});
  ASSERT_TRUE(repaired.ok()) << repaired.status().ToString();
  EXPECT_TRUE(repaired->files.empty());
}

TEST_F(StoresTest, ADamagedBlockCostsTheItemsInItAlone) {
  MakeItems();
  const std::string table = Largest("items", ".sst");
  Spoil(table, 0.4);
  ExpectNamed(table);
  EXPECT_GT(VerifyStores(root_)->damaged, 0u);
  Status refused;
  EXPECT_EQ(OpenItems(&refused), nullptr);
  EXPECT_EQ(refused.code(), StatusCode::kCorruption) << refused.ToString();
  const RepairReport report = Repaired();
  EXPECT_GE(report.notes.size(), 2u);
  const int sound = Sound(kItems);
  EXPECT_GT(sound, kItems / 2);
  EXPECT_LT(sound, kItems);
}

// A store that lost items and kept the offsets behind them would never read them again.
TEST_F(StoresTest, ARepairForgetsHowFarTopicsWereRead) {
  const ItemSource source{"items", 3, 42, -1};
  MakeItems();
  auto store = OpenItems();
  ASSERT_TRUE(store->ApplyFrom({}, {&source, 1}).ok());
  ASSERT_TRUE(store->Close().ok());
  ExpectSound();
  EXPECT_EQ(VerifyStores(root_)->damaged, 0u);
  EXPECT_EQ(OpenItems()->Sources().value(), std::vector<ItemSource>{source});
  Spoil(Largest("items", ".sst"), 0.4);
  Repaired();
  EXPECT_TRUE(OpenItems()->Sources().value().empty());
}

TEST_F(StoresTest, WithoutItsManifestNothingIsLost) {
  MakeItems();
  const std::string manifest = Largest("items", "MANIFEST-");
  Spoil(manifest, 0.1);
  ExpectNamed(manifest);
  Repaired();
  EXPECT_EQ(Sound(kItems), kItems);
  fs::remove(root_ + "/items/CURRENT");
  ExpectNamed("items/CURRENT");
  Repaired();
  EXPECT_EQ(Sound(kItems), kItems);
}

TEST_F(StoresTest, RowsThatAreInTheLogAloneAreFoundWithoutAManifest) {
  auto store = OpenItems();
  ASSERT_TRUE(store->PutSchema({{"author", ItemFieldType::kText}}).ok());
  PutItems(store.get(), 0, 500);
  ASSERT_TRUE(store->Close().ok());
  for (const auto& entry : fs::directory_iterator(root_ + "/items")) {
    ASSERT_NE(entry.path().extension(), ".sst");
  }
  Spoil(Largest("items", "MANIFEST-"), 0.1);
  Repaired();
  EXPECT_EQ(Sound(500), 500);
}

TEST_F(StoresTest, ATableWithoutItsEndIsLeftOut) {
  MakeItems(kItems, 200);
  const std::string table = Largest("items", ".sst");
  fs::resize_file(root_ + "/" + table, fs::file_size(root_ + "/" + table) / 2);
  ExpectNamed(table);
  Repaired();
  Status opened;
  const auto store = OpenItems(&opened);
  // The schema was in another table of the same log, and the newer items in the log.
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  ASSERT_TRUE(store->Close().ok());
  EXPECT_EQ(Sound(kItems + 200), 200);
}

TEST_F(StoresTest, DamageInALogCostsItsRecordsAlone) {
  MakeItems(100, 2'000);
  const std::string log = Largest("items", ".log");
  Spoil(log, 0.5);
  ExpectNamed(log);
  Repaired();
  const int sound = Sound(2'100);
  EXPECT_GT(sound, 1'000);
  EXPECT_LT(sound, 2'100);
}

TEST_F(StoresTest, ASetThatLostAPieceIsDamagedAndNeverTakenForWhole) {
  MakeSets();
  const std::string table = Largest("sets", ".sst");
  Spoil(table, 0.5);
  ExpectNamed(table);
  EXPECT_GT(VerifyStores(root_)->damaged, 0u);
  Repaired();
  auto opened = SetStore::Open(root_ + "/sets", {});
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  size_t whole = 0;
  for (const SetInfo& set : (*opened)->List()) {
    EXPECT_EQ(set.damaged, set.count != 20'000u) << set.name;
    whole += set.damaged ? 0 : 1;
  }
  EXPECT_GE(whole, 1u);
  EXPECT_LT(whole, 3u);
}

TEST_F(StoresTest, ARepairThatWasKilledIsGoneOnWith) {
  MakeItems();
  Spoil(Largest("items", ".sst"), 0.4);
  Repaired();
  const int sound = Sound(kItems);
  // Killed between the two renames, then before the first.
  fs::rename(root_ + "/items", root_ + "/items.repair");
  std::ofstream(root_ + "/items.repair/REBUILDING") << "";
  std::ofstream(root_ + "/items.repair/REBUILT") << "";
  ExpectNamed("items.repair");
  ASSERT_TRUE(Repair(root_, {}).ok());
  EXPECT_EQ(Sound(kItems), sound);
  fs::create_directory(root_ + "/items.repair");
  std::ofstream(root_ + "/items.repair/REBUILDING") << "";
  ASSERT_TRUE(Repair(root_, {}).ok());
  EXPECT_FALSE(fs::exists(root_ + "/items.repair"));
  EXPECT_EQ(Sound(kItems), sound);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
