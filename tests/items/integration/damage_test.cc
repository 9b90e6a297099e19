// Rows that are no rows: the opening names them, serves the others, and an update makes the item
// anew.

#include <rocksdb/db.h>

#include "items/item_operator.h"
#include "items/store_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using ItemDamage = StoreTest;

/// Puts bytes in place of a row, or under a key of the family `default`.
void PutRaw(const std::string& path, bool meta, const std::string& key, const std::string& value) {
  rocksdb::ColumnFamilyOptions with_merge;
  with_merge.merge_operator = items::NewItemOperator(std::make_shared<std::atomic<uint64_t>>(0));
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, path,
                                {{rocksdb::kDefaultColumnFamilyName, {}}, {"items", with_merge}},
                                &families, &db)
                  .ok());
  ASSERT_TRUE(db->Put({}, families[meta ? 0 : 1], key, value).ok());
  for (rocksdb::ColumnFamilyHandle* family : families) db->DestroyColumnFamilyHandle(family);
  delete db;
}

TEST_F(ItemDamage, ARowThatCantBeReadIsNamedAndSkipped) {
  OpenWithSchema();
  Apply({SetFields("v1", 7, {{"public", true}}), SetFields("v2", 7, {{"public", true}})});
  store_.reset();
  PutRaw(Path(), false, "v1", "noise");
  Open();
  EXPECT_EQ(store_->Stats().damaged, 1u);
  EXPECT_EQ(store_->Stats().damaged_ids, std::vector<std::string>{"v1"});
  EXPECT_EQ(*store_->Verify(), std::vector<std::string>{"v1"});
  EXPECT_EQ(Get("v1").version, 0u);
  EXPECT_EQ(Get("v2").version, 7u);
  Apply({SetFields("v1", 8, {{"public", false}})});
  for (const bool again : {false, true}) {
    if (again) Open();
    EXPECT_EQ(Get("v1").fields, (std::vector<ItemFieldValue>{{"public", false}}));
    EXPECT_TRUE(store_->Verify()->empty());
  }
}

TEST_F(ItemDamage, ANewerFormatAndASchemaThatIsNoneAreRefused) {
  OpenWithSchema();
  store_.reset();
  PutRaw(Path(), true, "format", "2");
  EXPECT_EQ(ItemStore::Open(Path(), options_).status().code(), StatusCode::kIncompatible);
  PutRaw(Path(), true, "format", "1");
  PutRaw(Path(), true, "schema", "{");
  EXPECT_EQ(ItemStore::Open(Path(), options_).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
