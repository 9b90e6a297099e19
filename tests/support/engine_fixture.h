// A database in a temporary folder with a clock that stands still until moved.

#pragma once

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "seams.h"
#include "seendb/engine.h"
#include "support/options.h"

namespace seendb {

/// A clock moved by hand. Threads: not while the engine runs background work.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t now_ms) : now_ms_(now_ms) {}
  int64_t NowMs() const override { return now_ms_; }
  void Set(int64_t now_ms) { now_ms_ = now_ms; }
  void Advance(int64_t ms) { now_ms_ += ms; }

 private:
  std::atomic<int64_t> now_ms_;
};

inline constexpr int64_t kHourMs = 3'600'000;
inline constexpr int64_t kDayMs = 24 * kHourMs;
/// 2026-03-10 12:00 UTC.
inline constexpr int64_t kStartMs = 1'773'144'000'000;

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() : clock_(kStartMs) {
    std::string pattern = (std::filesystem::temp_directory_path() / "seendb-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
    options_.background = false;
    options_.shards = 2;
  }
  ~EngineTest() override {
    engine_.reset();
    std::filesystem::remove_all(dir_);
  }

  Status TryOpen() {
    Seams seams;
    seams.clock = &clock_;
    seams.env = env_;
    Result<std::unique_ptr<Engine>> opened = Engine::Open(Path(), options_, seams);
    if (!opened.ok()) return opened.status();
    engine_ = std::move(opened).value();
    return Status::Ok();
  }
  void Open() {
    const Status opened = TryOpen();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }
  void Reopen() {
    engine_.reset();
    Open();
  }
  std::string Path() const { return dir_ + "/db"; }

  void Put(const std::string& collection, const PolicyPatch& patch) {
    const Status s = engine_->PutCollection(collection, patch);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  uint64_t Play(const std::string& user, const std::vector<std::string>& items,
                std::optional<int64_t> at_ms = {}, const std::string& collection = "default") {
    std::vector<seendb::Play> plays;
    for (const std::string& item : items) plays.push_back({IdRef(user), IdRef(item), at_ms});
    const auto result = engine_->RecordPlays(plays, {.collection = collection});
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? result->accepted : 0;
  }
  uint64_t Serve(const std::string& user, const std::vector<std::string>& items,
                 std::optional<int64_t> at_ms = {}, const std::string& collection = "default") {
    std::vector<Impression> served;
    for (const std::string& item : items) served.push_back({IdRef(user), IdRef(item), at_ms});
    const auto result = engine_->RecordImpressions(served, {.collection = collection});
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? result->accepted : 0;
  }
  /// The unseen of `items`, in order.
  std::vector<std::string> Unseen(const std::string& user, const std::vector<std::string>& items,
                                  const std::string& collection = "default",
                                  uint8_t facts = kFactsAll) {
    std::vector<IdRef> ids;
    for (const std::string& item : items) ids.emplace_back(item);
    FilterRequest request;
    request.collection = collection;
    request.user = IdRef(user);
    request.items = ids;
    request.explain = true;
    request.facts = facts;
    const Status s = engine_->Filter(request, &answer_);
    EXPECT_TRUE(s.ok()) << s.ToString();
    std::vector<std::string> unseen;
    for (uint32_t at : answer_.unseen) unseen.push_back(items[at]);
    return unseen;
  }
  void Drain() {
    const Status s = engine_->Drain();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void RunDue() {
    const Status s = engine_->RunDue();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  std::string dir_;
  ManualClock clock_;
  Options options_ = test::FixedOptions();
  rocksdb::Env* env_ = nullptr;
  std::unique_ptr<Engine> engine_;
  FilterResponse answer_;
};

using Items = std::vector<std::string>;

/// "<prefix>0" .. "<prefix>count-1".
inline Items Numbered(const std::string& prefix, int count) {
  Items items;
  for (int i = 0; i < count; ++i) items.push_back(prefix + std::to_string(i));
  return items;
}

}  // namespace seendb
