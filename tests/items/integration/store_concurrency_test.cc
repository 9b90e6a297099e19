// Readers while items are updated, deleted and trimmed and the schema changes: each sees an item
// whole, as one update left it. For the thread sanitizer too.

#include <atomic>
#include <thread>

#include "items/store_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using ItemStoreConcurrencyTest = StoreTest;

constexpr int kItems = 200;

std::string TextOfVersion(uint64_t version) {
  return std::string(1 + version % 100, static_cast<char>('a' + version % 26));
}

TEST_F(ItemStoreConcurrencyTest, ReadersSeeEachItemWholeWhileEverythingChanges) {
  options_.floor_days = 0;
  std::atomic<int64_t> now_ms{now_ms_};
  options_.now_ms = [&now_ms] { return now_ms.load(); };
  OpenWithSchema();
  std::vector<std::string> names;
  for (int i = 0; i < kItems; ++i) names.push_back("v" + std::to_string(i));
  std::vector<IdRef> ids;
  for (const std::string& name : names) ids.emplace_back(name);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> seen{0}, torn{0};
  const std::vector<std::string> fields = {"author", "published_at"};
  const auto read = [&] {
    while (!stop) {
      const Status status = store_->Visit(ids, fields, [&](size_t, const ItemView& item) {
        const auto author = item.Field(0), published = item.Field(1);
        ++seen;
        if (!author || !published ||
            author->bytes != TextOfVersion(static_cast<uint64_t>(published->number)) ||
            item.version() != static_cast<uint64_t>(published->number)) {
          ++torn;
        }
      });
      if (!status.ok()) ++torn;
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back(read);
  auto others = SomeFields();
  others.push_back({"more", ItemFieldType::kText, true});
  uint64_t version = 1;
  for (int round = 0; round < 60; ++round) {
    std::vector<ItemUpdate> updates;
    ++version;
    for (const std::string& name : names) {
      ItemUpdate update = SetFields(name.c_str(), version, {});
      update.remove = round % 5 == 4 && updates.size() % 2 == 0;
      if (!update.remove) {
        update.set = {{"author", TextOfVersion(version)},
                      {"published_at", static_cast<int64_t>(version)}};
      }
      updates.push_back(std::move(update));
    }
    Apply(updates);
    now_ms += 1;
    if (round % 5 == 4) {
      EXPECT_TRUE(store_->Trim().ok());
    }
    if (round % 10 == 7) {
      EXPECT_TRUE(store_->PutSchema(round % 20 == 7 ? others : SomeFields()).ok());
    }
    EXPECT_GE(store_->Stats().items, kItems / 2U);
  }
  while (seen < kItems) std::this_thread::yield();
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn.load(), 0u);
  EXPECT_TRUE(store_->Verify()->empty());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
