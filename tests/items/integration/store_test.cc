// A store as its callers see it, and the same after it was opened anew.

#include "items/store_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using ItemStoreTest = StoreTest;

const std::vector<ItemFieldValue> kOneOfEach = {{"author", std::string("a3")},
                                                {"published_at", int64_t{1'773'144'000'000}},
                                                {"score", -0.5F},
                                                {"public", true},
                                                {"tags", std::vector<std::string>{"t1", "", "t2"}},
                                                {"parts", std::vector<int64_t>{-1, INT64_MAX, 0}}};

TEST_F(ItemStoreTest, GivesWhatWasSetNowAndAfterAnOpening) {
  OpenWithSchema();
  EXPECT_EQ(Apply({SetFields("v1", 7, kOneOfEach), SetFields("42", 1, {})}).applied, 2u);
  for (const bool again : {false, true}) {
    SCOPED_TRACE(again);
    if (again) Open();
    EXPECT_EQ(store_->Fields(), SomeFields());
    const Item item = Get("v1");
    EXPECT_EQ(item.id, "v1");
    EXPECT_EQ(item.version, 7u);
    EXPECT_EQ(item.fields, kOneOfEach);
    EXPECT_EQ(Get("42").version, 1u);
    EXPECT_TRUE(Get("42").fields.empty());
    EXPECT_EQ(Get("v2").version, 0u);
    EXPECT_EQ(Get("v1", {"public", "author"}).fields,
              (std::vector<ItemFieldValue>{{"public", true}, {"author", std::string("a3")}}));
    EXPECT_EQ(store_->Stats().items, 2u);
    EXPECT_TRUE(store_->Verify()->empty());
  }
}

TEST_F(ItemStoreTest, JoinsUpdatesOfOneCallThatComeOutOfOrder) {
  OpenWithSchema();
  ItemUpdate unset = SetFields("v1", 6, {});
  unset.unset = {"score"};
  ItemUpdate whole = SetFields("v1", 4, {{"public", true}});
  whole.replace = true;
  const ItemReport report =
      Apply({SetFields("v1", 7, {{"author", std::string("new")}}), unset,
             SetFields("v1", 5, {{"author", std::string("old")}, {"score", 1.0F}}), whole,
             SetFields("v1", 3, {{"published_at", int64_t{5}}})});
  EXPECT_EQ(report.applied, 5u);
  EXPECT_EQ(report.stale, 3u);  // author and score of version 5, published_at below the floor
  const std::vector<ItemFieldValue> expected = {{"author", std::string("new")}, {"public", true}};
  EXPECT_EQ(Get("v1").fields, expected);
  Open();
  EXPECT_EQ(Get("v1").fields, expected);
  EXPECT_EQ(Apply({SetFields("v1", 5, {{"score", 1.0F}})}).stale, 1u);  // remembered
}

TEST_F(ItemStoreTest, DeletesAndExpires) {
  OpenWithSchema();
  ItemUpdate removal = SetFields("v1", 8, {});
  removal.remove = true;
  Apply({SetFields("v1", 7, {{"score", 1.0F}}), removal});
  EXPECT_EQ(Get("v1").version, 0u);
  EXPECT_EQ(store_->Stats().remembered, 1u);
  Apply({SetFields("v1", 8, {{"public", true}})});
  EXPECT_EQ(Get("v1").fields, (std::vector<ItemFieldValue>{{"public", true}}));

  ItemUpdate expiring = SetFields("v2", 5, {{"score", 1.0F}});
  expiring.expires_at_ms = now_ms_ + 100;
  Apply({expiring});
  EXPECT_EQ(Get("v2").version, 5u);
  now_ms_ += 100;
  EXPECT_EQ(Get("v2").version, 0u);
  ItemUpdate next = SetFields("v2", 9, {{"public", false}});
  next.expires_at_ms = now_ms_ + 100;
  Apply({next});
  for (const bool again : {false, true}) {
    if (again) Open();
    EXPECT_EQ(Get("v2").fields, (std::vector<ItemFieldValue>{{"public", false}}));
  }
}

TEST_F(ItemStoreTest, RefusesACallThatNamesSomethingWrongAndChangesNothing) {
  Open();
  EXPECT_EQ(store_->Apply({}).status().code(), StatusCode::kNotFound);  // no schema
  ASSERT_TRUE(store_->PutSchema(SomeFields()).ok());
  const auto field_of = [&](const ItemUpdate& update) {
    const std::vector<ItemUpdate> updates = {SetFields("v1", 1, {{"public", true}}), update};
    const auto report = store_->Apply(updates);
    EXPECT_EQ(report.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Get("v1").version, 0u);
    return std::string(report.status().field());
  };
  EXPECT_EQ(field_of(SetFields("", 1, {})), "/1/id");
  EXPECT_EQ(field_of(SetFields("v2", 0, {})), "/1/version");
  EXPECT_EQ(field_of(SetFields("v2", kMaxItemVersion + 1, {})), "/1/version");
  EXPECT_EQ(field_of(SetFields("v2", 1, {{"a/b", true}})), "/1/set/a~1b");
  EXPECT_EQ(field_of(SetFields("v2", 1, {{"author", int64_t{1}}})), "/1/set/author");
  EXPECT_EQ(field_of(SetFields("v2", 1, {{"parts", std::vector<int64_t>(1001)}})), "/1/set/parts");
  EXPECT_EQ(field_of(SetFields("v2", 1, {{"author", std::string("\xff")}})), "/1/set/author");
  EXPECT_EQ(field_of(SetFields("v2", 1, {{"public", true}, {"public", false}})), "/1/set/public");
  ItemUpdate update = SetFields("v2", 1, {});
  update.unset = {"public", "none"};
  EXPECT_EQ(field_of(update), "/1/unset/1");
  update = SetFields("v2", 1, {{"public", true}});
  update.remove = true;
  EXPECT_EQ(field_of(update), "/1/delete");
  update = SetFields("v2", 1, {});
  update.expires_at_ms = -1;
  EXPECT_EQ(field_of(update), "/1/expires_at");
  const std::vector<std::string> unknown = {"author", "none"};
  EXPECT_EQ(store_->Get({}, unknown).status().field(), "/fields/1");
}

TEST_F(ItemStoreTest, RefusesAnItemThatIsTooLargeAndAppliesTheOthers) {
  OpenWithSchema();
  const ItemReport report = Apply({SetFields("v1", 1, {{"author", std::string(65'536, 'x')}}),
                                   SetFields("v2", 1, {{"author", std::string(65'000, 'x')}})});
  EXPECT_EQ(report.applied, 1u);
  ASSERT_EQ(report.refused.size(), 1u);
  EXPECT_EQ(report.refused[0].position, 0u);
  EXPECT_EQ(report.refused[0].status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Get("v1").version, 0u);
  EXPECT_EQ(Get("v2").version, 1u);
}

TEST_F(ItemStoreTest, RefusesWhatDoesNotFitByNameAndTakesWhatMakesRoom) {
  options_.bytes = uint64_t{4} << 20;
  OpenWithSchema();
  const std::string text(50'000, 'x');
  uint64_t version = 0;
  std::string refused;
  for (int i = 0; i < 200 && refused.empty(); ++i) {
    const std::string id = "v" + std::to_string(i);
    const auto report = Apply({SetFields(id.c_str(), 1, {{"author", text + std::to_string(i)}})});
    if (!report.refused.empty()) refused = report.refused[0].status.ToString();
    if (refused.empty()) ++version;
  }
  EXPECT_NE(refused.find("does not fit: the store is full"), std::string::npos) << refused;
  EXPECT_EQ(store_->Stats().items, version);
  ItemUpdate removal = SetFields("v0", 2, {}), another = SetFields("v1", 2, {});
  removal.remove = another.remove = true;
  EXPECT_TRUE(Apply({removal, another}).refused.empty());
  EXPECT_TRUE(Apply({SetFields("w", 1, {{"author", text}})}).refused.empty());
  EXPECT_LT(store_->Stats().memory_bytes, uint64_t{8} << 20);
  options_.bytes = 1 << 20;
  store_.reset();
  EXPECT_EQ(ItemStore::Open(Path(), options_).status().code(), StatusCode::kBusy);
}

TEST_F(ItemStoreTest, ForgetsInTrimWhatIsOlderThanTheFloors) {
  OpenWithSchema();
  ItemUpdate removal = SetFields("gone", 2, {});
  removal.remove = true;
  ItemUpdate unset = SetFields("unset", 2, {{"public", true}});
  unset.unset = {"score"};
  ItemUpdate expired = SetFields("expired", 2, {{"public", true}});
  expired.expires_at_ms = now_ms_ + 1;
  Apply({SetFields("gone", 1, {{"score", 1.0F}}), removal, unset, expired,
         SetFields("stays", 1, {{"score", 1.0F}})});
  now_ms_ += int64_t{30} * 24 * 3600 * 1000;
  ASSERT_TRUE(store_->Trim().ok());
  EXPECT_EQ(store_->Stats().remembered, 0u);
  EXPECT_EQ(store_->Stats().items, 3u);  // `expired` did so a millisecond later than 30 days ago
  ++now_ms_;
  ASSERT_TRUE(store_->Trim().ok());
  for (const bool again : {false, true}) {
    SCOPED_TRACE(again);
    if (again) Open();
    EXPECT_EQ(store_->Stats().remembered, 0u);
    EXPECT_EQ(store_->Stats().items, 2u);
  }
  Apply({SetFields("unset", 1, {{"score", 3.0F}})});  // nobody remembers
  EXPECT_EQ(Get("unset").fields.size(), 2u);
}

TEST_F(ItemStoreTest, IsCopiedAndVerified) {
  OpenWithSchema();
  Apply({SetFields("v1", 7, kOneOfEach)});
  ASSERT_TRUE(store_->Checkpoint(folder_ + "/copy").ok());
  Apply({SetFields("v1", 8, {{"public", false}})});
  auto copy = ItemStore::Open(folder_ + "/copy", options_);
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  const IdRef id("v1");
  EXPECT_EQ((*copy)->Get({&id, 1}, {})->at(0).version, 7u);
  EXPECT_TRUE((*copy)->Verify()->empty());
}

TEST_F(ItemStoreTest, IsOpenOnceAndClosedForGood) {
  OpenWithSchema();
  EXPECT_EQ(ItemStore::Open(Path(), options_).status().code(), StatusCode::kBusy);
  ASSERT_TRUE(store_->Close().ok());
  EXPECT_EQ(store_->Apply({}).status().code(), StatusCode::kClosed);
  EXPECT_EQ(store_->Get({}, {}).status().code(), StatusCode::kClosed);
  Open();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
