// tests/items/store_fixture.h: a store in a folder of its own, with a clock that the test sets.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "seendb/item_store.h"

namespace seendb {

/// An update of some fields.
inline ItemUpdate SetFields(const char* id, uint64_t version, std::vector<ItemFieldValue> set) {
  ItemUpdate update;
  update.id = IdRef(id);
  update.version = version;
  update.set = std::move(set);
  return update;
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "items-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    options_.bytes = uint64_t{256} << 20;
    options_.now_ms = [this] { return now_ms_; };
  }
  ~StoreTest() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string Path() const { return folder_ + "/items"; }
  void Open() {
    store_.reset();
    auto opened = ItemStore::Open(Path(), options_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = std::move(*opened);
  }
  /// author text, published_at i64 (a column), score f32, public bool, tags list_text, parts
  /// list_i64.
  void OpenWithSchema() {
    Open();
    ASSERT_TRUE(store_->PutSchema(SomeFields()).ok());
  }
  static std::vector<ItemField> SomeFields() {
    return {{"author", ItemFieldType::kText, false},   {"published_at", ItemFieldType::kI64, true},
            {"score", ItemFieldType::kF32, false},     {"public", ItemFieldType::kBool, false},
            {"tags", ItemFieldType::kTextList, false}, {"parts", ItemFieldType::kI64List, false}};
  }
  ItemReport Apply(const std::vector<ItemUpdate>& updates) {
    auto report = store_->Apply(updates);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? *report : ItemReport();
  }
  /// The item as the store gives it; one without a version where it is unknown.
  Item Get(const char* id, const std::vector<std::string>& fields = {}) {
    const IdRef ref(id);
    auto items = store_->Get({&ref, 1}, fields);
    EXPECT_TRUE(items.ok()) << items.status().ToString();
    return items.ok() && !items->empty() ? items->front() : Item();
  }

  std::string folder_;
  int64_t now_ms_ = 1'773'144'000'000;
  ItemStoreOptions options_;
  std::unique_ptr<ItemStore> store_;
};

}  // namespace seendb
