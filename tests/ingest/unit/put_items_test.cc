// Updates put into a store with their offsets: all in one write, or what is not taken apart from
// the rest.

#include "ingest/put_items.h"

#include <gtest/gtest.h>

namespace seendb::ingest::SEENDB_TEST_FILE {
namespace {

/// A store in which ids say what becomes of their updates.
struct Fake {
  ItemSink Sink() {
    return {.apply = [this](auto updates, auto sources) { return Apply(updates, sources); }};
  }
  Result<ItemReport> Apply(std::span<const ItemUpdate> updates,
                           std::span<const ItemSource> sources) {
    ++calls;
    ItemReport report;
    for (size_t i = 0; i < updates.size(); ++i) {
      const std::string id = updates[i].id.ToString();
      if (id == "odd") return Status::InvalidArgument("no such field", "/0/set/who");
      if (id == "broken") return Status::IOError("the disk");
    }
    for (size_t i = 0; i < updates.size(); ++i) {
      if (updates[i].id.ToString() == "full") {
        report.refused.push_back({i, Status::Busy("the store is full")});
      } else {
        ++report.applied;
      }
    }
    if (report.refused.empty() && !sources.empty()) noted = sources[0].next_offset;
    return report;
  }
  Result<ItemsPut> Put(std::vector<const char*> ids) {
    std::vector<ItemUpdate> updates;
    for (const char* id : ids) updates.emplace_back().id = IdRef(id);
    const ItemSource source{"items", 0, 42, -1};
    return PutItems(Sink(), updates, {&source, 1});
  }

  int calls = 0;
  int64_t noted = -1;
};

using NotTaken = std::vector<std::pair<size_t, std::string>>;

TEST(PutItemsTest, AllOfThemAndTheOffsetsInOneWrite) {
  Fake fake;
  const auto put = fake.Put({"a", "b"});
  ASSERT_TRUE(put.ok());
  EXPECT_EQ(put->applied, 2u);
  EXPECT_TRUE(put->noted);
  EXPECT_EQ(put->not_taken, NotTaken());
  EXPECT_EQ(fake.calls, 1);
  EXPECT_EQ(fake.noted, 42);
}

TEST(PutItemsTest, ARefusedOneKeepsTheOffsetsBack) {
  Fake fake;
  const auto put = fake.Put({"a", "full", "b"});
  ASSERT_TRUE(put.ok());
  EXPECT_EQ(put->applied, 2u);
  EXPECT_FALSE(put->noted);
  EXPECT_EQ(put->not_taken, (NotTaken{{1, "the store is full"}}));
  EXPECT_EQ(fake.noted, -1);
}

TEST(PutItemsTest, OneThatTheSchemaRefusesByNowDoesNotTakeOthersWithIt) {
  Fake fake;
  const auto put = fake.Put({"a", "odd", "full", "b"});
  ASSERT_TRUE(put.ok());
  EXPECT_EQ(put->applied, 2u);
  EXPECT_FALSE(put->noted);
  EXPECT_EQ(put->not_taken, (NotTaken{{1, "no such field"}, {2, "the store is full"}}));
  EXPECT_EQ(fake.noted, -1);
}

TEST(PutItemsTest, AFailureIsTheCallers) {
  for (const auto& ids : {std::vector<const char*>{"a", "broken"}, {"a", "odd", "broken"}}) {
    EXPECT_EQ(Fake().Put(ids).status().code(), StatusCode::kIOError);
  }
}

}  // namespace
}  // namespace seendb::ingest::SEENDB_TEST_FILE
