// How far topics were read: written with the items, there after an opening, each partition's by
// itself.

#include <rocksdb/db.h>

#include "items/item_operator.h"
#include "items/source_codec.h"
#include "items/store_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using ItemSources = StoreTest;

const ItemSource kFirst{"items", 0, 42, 1'773'144'000'000}, kSecond{"items", 11, 7, -1},
    kOther{"a/b", 2, INT64_MAX, 5};

TEST_F(ItemSources, AreWrittenWithTheItemsAndThereAfterAnOpening) {
  OpenWithSchema();
  EXPECT_TRUE(store_->Sources()->empty());
  const ItemUpdate update = SetFields("v1", 7, {{"public", true}});
  const std::vector<ItemSource> notes = {kSecond, kOther, kFirst};
  const auto report = store_->ApplyFrom({&update, 1}, notes);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->applied, 1u);
  for (const bool again : {false, true}) {
    if (again) Open();
    EXPECT_EQ(*store_->Sources(), (std::vector<ItemSource>{kOther, kFirst, kSecond}));
    EXPECT_EQ(Get("v1").version, 7u);
    EXPECT_TRUE(store_->Verify()->empty());
  }
  ItemSource later = kFirst;
  later.next_offset = 43;
  ASSERT_TRUE(store_->ApplyFrom({&update, 1}, {&later, 1}).ok());  // nothing changed but the note
  Open();
  EXPECT_EQ(*store_->Sources(), (std::vector<ItemSource>{kOther, later, kSecond}));
}

TEST_F(ItemSources, NeedNoSchemaWithoutUpdates) {
  Open();
  ASSERT_TRUE(store_->ApplyFrom({}, {&kFirst, 1}).ok());
  EXPECT_EQ(*store_->Sources(), std::vector<ItemSource>{kFirst});
  const ItemUpdate update = SetFields("v1", 7, {});
  EXPECT_EQ(store_->ApplyFrom({&update, 1}, {&kSecond, 1}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(store_->Apply({}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(*store_->Sources(), std::vector<ItemSource>{kFirst});
}

TEST_F(ItemSources, AreNotNotedWhereTheUpdatesAreRefused) {
  OpenWithSchema();
  const ItemUpdate wrong = SetFields("v1", 7, {{"nobody", true}});
  const auto refused = store_->ApplyFrom({&wrong, 1}, {&kFirst, 1});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(store_->Sources()->empty());
}

// The caller sets it aside first.
TEST_F(ItemSources, AreNotNotedWhereOneUpdateIsRefused) {
  OpenWithSchema();
  const std::vector<ItemUpdate> updates = {
      SetFields("large", 1, {{"author", std::string(kMaxItemBytes, 'a')}}),
      SetFields("v1", 7, {{"public", true}})};
  const auto report = store_->ApplyFrom(updates, {&kFirst, 1});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  ASSERT_EQ(report->refused.size(), 1u);
  EXPECT_EQ(report->refused[0].position, 0u);
  EXPECT_EQ(Get("v1").version, 7u);
  EXPECT_TRUE(store_->Sources()->empty());
}

TEST_F(ItemSources, WrongOnesAreNamedAndChangeNothing) {
  OpenWithSchema();
  const std::vector<std::pair<ItemSource, const char*>> wrong = {
      {{"", 0, 0, -1}, "/sources/1/topic"},
      {{std::string(250, 't'), 0, 0, -1}, "/sources/1/topic"},
      {{"t", -1, 0, -1}, "/sources/1/partition"},
      {{"t", 0, -1, -1}, "/sources/1/next_offset"},
      {{"t", 0, 0, -2}, "/sources/1/last_time_ms"}};
  const ItemUpdate update = SetFields("v1", 7, {});
  for (const auto& [source, field] : wrong) {
    const std::vector<ItemSource> notes = {kFirst, source};
    const auto refused = store_->ApplyFrom({&update, 1}, notes);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(refused.status().field(), field);
  }
  EXPECT_EQ(Get("v1").version, 0u);
  EXPECT_TRUE(store_->Sources()->empty());
}

TEST_F(ItemSources, ADamagedNoteIsNoPosition) {
  OpenWithSchema();
  ASSERT_TRUE(store_->ApplyFrom({}, {&kFirst, 1}).ok());
  store_.reset();
  rocksdb::ColumnFamilyOptions with_merge;
  with_merge.merge_operator = items::NewItemOperator(std::make_shared<std::atomic<uint64_t>>(0));
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, Path(),
                                {{rocksdb::kDefaultColumnFamilyName, {}}, {"items", with_merge}},
                                &families, &db)
                  .ok());
  ASSERT_TRUE(db->Put({}, families[0], items::SourceKey(kFirst), "noise").ok());
  for (rocksdb::ColumnFamilyHandle* family : families) db->DestroyColumnFamilyHandle(family);
  delete db;
  Open();
  EXPECT_EQ(store_->Sources().status().code(), StatusCode::kCorruption);
  ASSERT_TRUE(store_->ApplyFrom({}, {&kFirst, 1}).ok());
  EXPECT_EQ(*store_->Sources(), std::vector<ItemSource>{kFirst});
}

TEST(ItemSourceCodec, ReadsWhatItWroteAndNothingElse) {
  const std::string key = items::SourceKey(kOther), value = items::EncodeSource(kOther);
  EXPECT_EQ(key, "source/2/a/b");
  ItemSource read;
  ASSERT_TRUE(items::ParseSource(key, value, &read));
  EXPECT_EQ(read, kOther);
  for (size_t i = 0; i < value.size(); ++i) {
    std::string flipped = value;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_FALSE(items::ParseSource(key, flipped, &read)) << i;
    EXPECT_FALSE(items::ParseSource(key, value.substr(0, i), &read)) << i;
  }
  for (const char* other : {"schema", "source/", "source/2", "source/2/", "source/x/t",
                            "source/-1/t", "source/99999999999/t"}) {
    EXPECT_FALSE(items::ParseSource(other, value, &read)) << other;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
