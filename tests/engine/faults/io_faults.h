// tests/engine/faults/io_faults.h: a small database on a disk in memory, and what is asked of it
// after one of the disk's operations failed.

#pragma once

#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/options.h"
#include "support/sample.h"

namespace seendb {

inline constexpr int kMostOperations = 5'000;
inline constexpr int64_t kMonthMs = 31 * kDayMs;
inline const std::string kPath = "/data/db";
inline const std::string kCopy = "/data/copy";

inline int NextStep(int step) {
  if (std::getenv("SEENDB_EVERY_IO") != nullptr) return step + 1;
  return step + 1 + step * static_cast<int>(test::SampleEvery()) / 6;
}

class IoFaultTest : public ::testing::Test {
 protected:
  IoFaultTest() : clock_(kStartMs) {
    options_.background = false;
    options_.shards = 1;
    options_.ring_slots = 3;
    options_.list_limit = 16;
    options_.block_cache_bytes = 1 << 20;
    options_.write_buffer_bytes = 1 << 20;
  }

  // A database with an expired bucket, one to be sealed, a current one, and staged plays; its
  // process was killed.
  void SetUp() override {
    disk_ = std::make_unique<MemDisk>();
    ASSERT_TRUE(Open().ok());
    PolicyPatch patch;
    patch.window = 2;
    patch.retention = 2;
    patch.representation = Representation::kExact;
    ASSERT_TRUE(engine_->PutCollection("c", patch).ok());
    for (const int months : {0, 2, 1}) {
      clock_.Advance(months * kMonthMs);
      for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(Play("m" + std::to_string(months) + "-" + std::to_string(i)).ok());
      }
      ASSERT_TRUE(engine_->Drain().ok());
      if (months == 0) acknowledged_.clear();  // out of the window from then on
    }
    ASSERT_TRUE(Play("staged").ok());
    disk_->Crash();
    engine_.reset();
    disk_->Revive();
    base_ = std::move(disk_);
    promised_ = acknowledged_;
  }

  Status Open(const std::string& path = kPath) {
    Seams seams;
    seams.clock = &clock_;
    seams.env = disk_->env();
    auto opened = Engine::Open(path, options_, seams);
    if (opened.ok()) engine_ = std::move(opened).value();
    return opened.status();
  }

  Status Play(const std::string& item) {
    const seendb::Play play{IdRef("u"), IdRef(item)};
    const auto recorded = engine_->RecordPlays({&play, 1}, {.collection = "c"});
    if (recorded.ok()) acknowledged_.insert(item);
    return recorded.status();
  }

  // Four plays, each synced; the first failure.
  Status PlayAndSync() {
    Status first;
    for (int i = 0; i < 4; ++i) {
      Status status = Play("p" + std::to_string(i));
      if (status.ok()) status = engine_->Sync();
      if (first.ok()) first = status;
    }
    return first;
  }

  // Tries one operation after the other until a try says there was none to fail, or a check
  // fails; the operation it ended with.
  int ForEachOperation(const std::string& name, const std::function<bool(int)>& attempt) {
    int step = 0;
    for (; step < kMostOperations; step = NextStep(step)) {
      SCOPED_TRACE(name + ", operation " + std::to_string(step));
      const bool failed = attempt(step);
      if (HasFailure()) {
        ADD_FAILURE() << "what failed: " << disk_->last_failure();
        break;
      }
      if (!failed) break;
    }
    return step;
  }

  // Everything acknowledged is seen; or, where that is allowed, the answer says it is degraded.
  void CheckReads(bool may_degrade) {
    std::vector<IdRef> items;
    for (const std::string& item : acknowledged_) items.emplace_back(item);
    items.emplace_back("never");
    FilterRequest request;
    request.collection = "c";
    request.user = IdRef("u");
    request.items = items;
    FilterResponse answer;
    const Status status = engine_->Filter(request, &answer);
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (answer.degraded && may_degrade) return;
    EXPECT_FALSE(answer.degraded) << ::testing::PrintToString(answer.missing);
    EXPECT_EQ(answer.unseen, std::vector<uint32_t>{static_cast<uint32_t>(items.size() - 1)});
  }

  void CheckSound() {
    CheckReads(false);
    const auto verified = engine_->Verify();
    ASSERT_TRUE(verified.ok()) << verified.status().ToString();
    EXPECT_EQ(verified->damaged, 0u);
    EXPECT_FALSE(engine_->Stats().degraded) << ::testing::PrintToString(engine_->Stats().problems);
  }

  ManualClock clock_;
  Options options_ = test::FixedOptions();
  std::unique_ptr<MemDisk> base_, disk_;
  std::unique_ptr<Engine> engine_;
  std::set<std::string> acknowledged_, promised_;
};

}  // namespace seendb
