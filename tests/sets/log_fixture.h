// tests/sets/log_fixture.h: a log in memory, and stores of sets that follow it.

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "seendb/set_log.h"
#include "sets/piece_codec.h"

namespace seendb {

/// Entries by offset; some may be gone.
class MemoryLog {
 public:
  void Append(const SetRecord& record) { entries_[end_++] = record; }
  int64_t end() const { return end_; }
  /// Takes away what a compaction up to an offset may: entries behind which there is another one
  /// with the key, and of the others those without a value that `tombstones` names.
  void Compact(int64_t up_to, const std::function<bool()>& tombstones) {
    std::map<std::string, int64_t> last;
    for (const auto& [offset, record] : entries_) {
      if (offset < up_to) last[record.key] = offset;
    }
    std::erase_if(entries_, [&](const auto& one) {
      if (one.first >= up_to) return false;
      if (last[one.second.key] != one.first) return true;
      return !one.second.value && tombstones();
    });
  }
  std::vector<SetLogEntry> From(int64_t offset, int64_t to) const {
    std::vector<SetLogEntry> all;
    for (const auto& [at, record] : entries_) {
      if (at < offset || at >= to) continue;
      std::optional<std::string_view> value;
      if (record.value) value = *record.value;
      all.push_back({at, record.key, value});
    }
    return all;
  }

 private:
  std::map<int64_t, SetRecord> entries_;
  int64_t end_ = 0;
};

class SetLogTest : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  SetLogTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "set-log-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  ~SetLogTest() override {
    stores_.clear();
    std::filesystem::remove_all(folder_);
  }

  /// Opens a store, or opens it again, which reads nothing yet.
  SetLog& Open(const std::string& name, const std::string& log = "feed") {
    stores_[name].reset();
    SetLogOptions options;
    options.store.now_ms = [this] { return now_ms_; };
    options.store.bytes = room_;
    options.log = log;
    options.append = [this, name](std::span<const SetRecord> records) {
      size_t left = lost_behind_;
      for (const SetRecord& record : records) {
        if (left-- == 0) return Status::Unavailable("the brokers are away");
        log_.Append(record);
        if (amid_) amid_();
      }
      Follow(name);
      return Status();
    };
    auto opened = SetLog::Open(folder_ + "/" + name, options);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    stores_[name] = std::move(opened).value();
    return *stores_[name];
  }
  SetLog& Store(const std::string& name) { return *stores_.at(name); }
  /// Reads the log up to an offset; to its end.
  void Follow(const std::string& name, int64_t to) {
    SetLog& store = Store(name);
    const std::vector<SetLogEntry> entries = log_.From(store.next_offset(), to);
    const Status applied = store.Apply(entries, to);
    EXPECT_TRUE(applied.ok()) << applied.ToString();
  }
  void Follow(const std::string& name) {
    Follow(name, log_.end());
    Store(name).SetCurrent(true);
  }
  /// A store that has read all.
  SetLog& Current(const std::string& name) {
    Open(name);
    Follow(name);
    return Store(name);
  }
  Result<SetInfo> TryPut(const std::string& at, std::string_view name, const Texts& items) {
    return Store(at).Put(name, std::vector<IdRef>(items.begin(), items.end()));
  }
  void Put(const std::string& at, std::string_view name, const Texts& items) {
    const auto put = TryPut(at, name, items);
    EXPECT_TRUE(put.ok()) << put.status().ToString();
  }
  /// Appends what is left, as whoever cleans does.
  size_t Clean(const std::string& at, std::optional<std::chrono::milliseconds> old = {}) {
    const std::chrono::steady_clock::time_point now{std::chrono::milliseconds(steady_ms_)};
    const std::vector<SetRecord> left = Store(at).Leftovers(now, old);
    for (const SetRecord& record : left) log_.Append(record);
    return left.size();
  }
  /// The ids of a set; nothing: there is no such set.
  std::optional<Texts> Ids(const std::string& at, std::string_view name) {
    const auto page = Store(at).Read(name, "", kMaxSetPage);
    if (page.status().code() == StatusCode::kNotFound) return {};
    EXPECT_TRUE(page.ok()) << page.status().ToString();
    return page->items;
  }
  static Texts Numbered(size_t count, const std::string& prefix) {
    Texts texts;
    for (size_t i = 0; i < count; ++i) texts.push_back(prefix + std::to_string(100'000 + i));
    return texts;
  }

  std::string folder_;
  int64_t steady_ms_ = 1'000;
  std::function<void()> amid_;  ///< called behind each entry of a change
  int64_t now_ms_ = 1'773'144'000'000;
  uint64_t room_ = kMaxSetBytes;
  size_t lost_behind_ = SIZE_MAX;  ///< so many entries of a change get into the log
  MemoryLog log_;
  std::map<std::string, std::unique_ptr<SetLog>> stores_;
};

}  // namespace seendb
