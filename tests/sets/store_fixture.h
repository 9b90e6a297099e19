// tests/sets/store_fixture.h: a store of sets in a folder of its own, with a clock that the test
// sets.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "seendb/set_store.h"

namespace seendb {

class SetStoreTest : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  SetStoreTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "sets-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    options_.now_ms = [this] { return now_ms_; };
  }
  ~SetStoreTest() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string Path() const { return folder_ + "/sets"; }
  void Open() {
    store_.reset();
    auto opened = SetStore::Open(Path(), options_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = std::move(*opened);
  }
  Result<SetInfo> TryPut(std::string_view name, const Texts& items) {
    return store_->Put(name, std::vector<IdRef>(items.begin(), items.end()));
  }
  SetInfo Put(std::string_view name, const Texts& items) {
    auto put = TryPut(name, items);
    EXPECT_TRUE(put.ok()) << put.status().ToString();
    return put.ok() ? *put : SetInfo();
  }
  /// All ids, read in pages of three.
  Texts Ids(std::string_view name) {
    Texts all;
    std::string after;
    do {
      auto page = store_->Read(name, after, 3);
      EXPECT_TRUE(page.ok()) << page.status().ToString();
      if (!page.ok()) break;
      all.insert(all.end(), page->items.begin(), page->items.end());
      after = page->after;
    } while (!after.empty());
    return all;
  }
  Texts Names() {
    Texts names;
    for (const SetInfo& info : store_->List()) names.push_back(info.name);
    return names;
  }

  std::string folder_;
  int64_t now_ms_ = 1'773'144'000'000;
  SetStoreOptions options_;
  std::unique_ptr<SetStore> store_;
};

}  // namespace seendb
