// A set that is put is there, whole, also after an opening; one that does not fit changes nothing.

#include <rocksdb/db.h>

#include "format/bytes.h"
#include "sets/piece_codec.h"
#include "sets/store_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::vector<std::string> Numbered(size_t count, size_t from = 0) {
  std::vector<std::string> texts;
  for (size_t i = from; i < from + count; ++i) texts.push_back("v" + std::to_string(i));
  return texts;
}

std::string TextOfKilobytes(size_t i) { return std::to_string(i) + std::string(240, 'x'); }

TEST_F(SetStoreTest, IsReplacedWholeAndReadAgain) {
  Open();
  EXPECT_EQ(store_->Find("blocked"), nullptr);
  EXPECT_TRUE(store_->List().empty());
  const SetInfo info = Put("blocked", {"b", "42", "a", "b"});
  EXPECT_EQ(info.count, 3u) << "a repeat counts once";
  EXPECT_EQ(info.at_ms, now_ms_);
  Put("other/set", {"z"});
  EXPECT_EQ(Ids("blocked"), (Texts{"42", "a", "b"}));
  const std::shared_ptr<const ItemSet> former = store_->Find("blocked");
  Put("blocked", {"c"});
  EXPECT_EQ(Ids("blocked"), (Texts{"c"}));
  const IdRef ids[] = {IdRef("a"), IdRef("c"), IdRef(uint64_t{42})};
  uint8_t hits[3];
  former->Find(ids, hits);
  EXPECT_EQ(std::vector<uint8_t>(hits, hits + 3), (std::vector<uint8_t>{1, 0, 1}))
      << "who has it keeps the former one";
  Open();
  EXPECT_EQ(Names(), (Texts{"blocked", "other/set"}));
  EXPECT_EQ(Ids("blocked"), (Texts{"c"}));
  EXPECT_EQ(Ids("other/set"), (Texts{"z"}));
  EXPECT_TRUE(store_->Verify()->empty());
}

TEST_F(SetStoreTest, OfManyPiecesTheNewOnesAreAllThatIsThere) {
  Open();
  Put("a", Numbered(3 * sets::kPieceItems + 5));
  Put("a/", {"x"});
  Put("a", Numbered(sets::kPieceItems + 1, 7));
  for (const bool again : {false, true}) {
    if (again) Open();
    auto page = store_->Read("a", "", kMaxSetPage);
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(page->items.size(), sets::kPieceItems + 1);
    EXPECT_EQ(page->after, "");
    EXPECT_FALSE(page->info.damaged);
    EXPECT_EQ(Ids("a/"), (Texts{"x"}));
  }
  Put("a", {});
  Open();
  EXPECT_EQ(Ids("a"), Texts());
  EXPECT_NE(store_->Find("a"), nullptr) << "a set without members is one";
}

TEST_F(SetStoreTest, IsDeletedForGood) {
  Open();
  Put("a", {"x"});
  Put("b", {"y"});
  ASSERT_TRUE(store_->Delete("a").ok());
  EXPECT_EQ(store_->Delete("a").code(), StatusCode::kNotFound);
  EXPECT_EQ(store_->Find("a"), nullptr);
  EXPECT_EQ(store_->Read("a", "", 1).status().code(), StatusCode::kNotFound);
  Open();
  EXPECT_EQ(Names(), (Texts{"b"}));
}

TEST_F(SetStoreTest, AClockThatGoesBackBringsNoFormerSetBack) {
  Open();
  Put("a", {"old"});
  now_ms_ -= 3'600'000;
  EXPECT_EQ(Put("a", {"new"}).at_ms, now_ms_ + 3'600'001);
  Open();
  EXPECT_EQ(Ids("a"), (Texts{"new"}));
}

TEST_F(SetStoreTest, WhatIsMalformedNamesItsPlace) {
  Open();
  const auto field_of = [&](const std::string& name, const Texts& items) {
    const Status refused = TryPut(name, items).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    return std::string(refused.field());
  };
  EXPECT_EQ(field_of("a", {"x", ""}), "/items/1");
  EXPECT_EQ(field_of("a", {"x", "y", "\xff"}), "/items/2");
  EXPECT_EQ(field_of("a", {std::string(256, 'x')}), "/items/0");
  EXPECT_EQ(field_of("", {"x"}), "");
  EXPECT_EQ(field_of(std::string(65, 'n'), {"x"}), "");
  EXPECT_EQ(field_of("\xff", {"x"}), "");
  const std::vector<IdRef> many(kMaxSetItems + 1, IdRef("x"));
  EXPECT_EQ(store_->Put("a", many).status().field(), "/items");
  EXPECT_TRUE(store_->List().empty());
  EXPECT_EQ(Put(std::string(64, 'n'), {std::string(255, 'x')}).count, 1u);
  EXPECT_EQ(store_->Read(std::string(64, 'n'), "", 0).status().field(), "/limit");
}

TEST_F(SetStoreTest, AllTogetherFitIntoTheLimit) {
  options_.bytes = 100'000;
  Open();
  Texts kilobytes;
  for (size_t i = 0; i < 250; ++i) kilobytes.push_back(TextOfKilobytes(i));  // 62 kB
  const SetInfo first = Put("first", kilobytes);
  EXPECT_GT(first.bytes, 60'000u);
  EXPECT_EQ(TryPut("second", kilobytes).status().code(), StatusCode::kBusy);
  EXPECT_EQ(Names(), (Texts{"first"}));
  // In place of itself it fits.
  kilobytes.push_back("more");
  EXPECT_EQ(Put("first", kilobytes).count, 251u);
  ASSERT_TRUE(store_->Delete("first").ok());
  EXPECT_EQ(Put("second", kilobytes).count, 251u);
}

TEST_F(SetStoreTest, ThereAreAtMostAThousand) {
  Open();
  for (size_t i = 0; i < kMaxSets; ++i) Put("s" + std::to_string(i), {});
  EXPECT_EQ(TryPut("more", {}).status().code(), StatusCode::kIncompatible);
  EXPECT_EQ(Put("s7", {"a"}).count, 1u);
}

TEST_F(SetStoreTest, ACopyOpensWithAllSets) {
  Open();
  Put("a", {"x", "y"});
  ASSERT_TRUE(store_->Checkpoint(folder_ + "/copy").ok());
  Put("a", {"z"});
  auto copy = SetStore::Open(folder_ + "/copy", options_);
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_EQ((*copy)->Read("a", "", 10)->items, (Texts{"x", "y"}));
}

TEST_F(SetStoreTest, ASecondOpeningIsRefusedAndAClosedStoreWritesNothing) {
  Open();
  EXPECT_EQ(SetStore::Open(Path(), options_).status().code(), StatusCode::kBusy);
  ASSERT_TRUE(store_->Close().ok());
  EXPECT_EQ(TryPut("a", {"x"}).status().code(), StatusCode::kClosed);
  EXPECT_EQ(store_->Delete("a").code(), StatusCode::kClosed);
  EXPECT_EQ(store_->Checkpoint(folder_ + "/copy").code(), StatusCode::kClosed);
  EXPECT_EQ(store_->Verify().status().code(), StatusCode::kClosed);
}

/// Records that are none.
class SetDamageTest : public SetStoreTest {
 protected:
  /// Changes the n-th record of a set; nothing: deletes it.
  void Damage(const std::string& name, size_t n, const std::string& value) {
    store_.reset();
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, Path(), &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    const std::unique_ptr<rocksdb::Iterator> rows(db->NewIterator({}));
    rows->Seek(sets::KeyPrefix(name));
    for (; n > 0; --n) rows->Next();
    ASSERT_TRUE(rows->Valid());
    const std::string key = rows->key().ToString();
    ASSERT_TRUE((value.empty() ? db->Delete({}, key) : db->Put({}, key, value)).ok());
  }
  Texts Damaged() {
    Texts names;
    for (const SetInfo& info : store_->List()) {
      EXPECT_EQ(info.damaged, store_->Find(info.name)->damaged());
      if (info.damaged) names.push_back(info.name);
    }
    EXPECT_EQ(*store_->Verify(), names);
    return names;
  }
};

TEST_F(SetDamageTest, ADamagedRecordIsNamedByItsSetAndTheOthersServe) {
  for (const std::string noise : {"noise", ""}) {
    Open();
    Put("a", Numbered(2 * sets::kPieceItems + 1));
    Put("b", {"x"});
    Damage("a", 1, noise);
    Open();
    EXPECT_EQ(Damaged(), (Texts{"a"}));
    EXPECT_EQ(store_->List()[0].count, sets::kPieceItems + 1) << "what is readable still counts";
    EXPECT_EQ(Ids("b"), (Texts{"x"}));
    Put("a", {"whole"});
    for (const bool again : {false, true}) {
      if (again) Open();
      EXPECT_EQ(Damaged(), Texts());
      EXPECT_EQ(Ids("a"), (Texts{"whole"}));
    }
  }
}

TEST_F(SetDamageTest, ASetWithoutAReadableRecordIsNamedToo) {
  Open();
  Put("a", {"x"});
  Damage("a", 0, "noise");
  Open();
  EXPECT_EQ(Damaged(), (Texts{"a"}));
  ASSERT_TRUE(store_->Delete("a").ok());
  Open();
  EXPECT_EQ(Names(), Texts());
}

TEST_F(SetDamageTest, OfTwoVersionsTheNewestThatIsWholeCounts) {
  Open();
  Put("a", {"former"});
  store_.reset();
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, Path(), &opened).ok());
  std::unique_ptr<rocksdb::DB> db(opened);
  const auto write = [&](uint32_t number, std::string_view id) {
    const sets::Piece piece{
        .name = "a", .version = {now_ms_ + 1, 7}, .number = number, .pieces = 2, .ids = {id}};
    ASSERT_TRUE(db->Put({}, sets::KeyOf(piece), sets::EncodePiece(piece)).ok());
  };
  write(0, "new1");
  db.reset();
  Open();
  EXPECT_EQ(Ids("a"), (Texts{"former"})) << "the newer one lacks a piece";
  store_.reset();
  ASSERT_TRUE(rocksdb::DB::Open({}, Path(), &opened).ok());
  db.reset(opened);
  write(1, "new2");
  db.reset();
  Open();
  EXPECT_EQ(Ids("a"), (Texts{"new1", "new2"}));
  EXPECT_EQ(Damaged(), Texts());
}

TEST_F(SetDamageTest, WhatNewerSoftwareWroteIsRefused) {
  Open();
  Put("a", {"x"});
  std::string newer(1, '\xa2');
  newer += "?";
  const auto sealed = [&] {
    std::string value = newer;
    Seal32(&value);
    return value;
  };
  Damage("a", 0, sealed());
  const Status refused = SetStore::Open(Path(), options_).status();
  EXPECT_EQ(refused.code(), StatusCode::kIncompatible) << refused.ToString();
  EXPECT_NE(refused.message().find("\"a\""), std::string::npos) << refused.ToString();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
