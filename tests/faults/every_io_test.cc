// Every operation on the disk fails once, in every phase of a database's life: the call succeeds or
// says what is wrong, reads are right or say that they are degraded, and the next opening has all
// that was acknowledged. Whether writing goes on before that opening depends on what failed
// (RocksDB stops for good where its log or its MANIFEST is in doubt) and is not asserted here.
//
// SEENDB_EVERY_IO=1 takes each operation; otherwise all of the first ones, and fewer of the later.

#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb {
namespace {

using rocksdb::IOStatus;

constexpr int kMostOperations = 5'000;
constexpr int64_t kMonthMs = 31 * kDayMs;
const std::string kPath = "/data/db";
const std::string kCopy = "/data/copy";

struct Fault {
  std::string name;
  uint32_t operations;
  IOStatus error;
  bool half;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

std::vector<Fault> Faults() {
  return {{"EIO", MemDisk::kWriting, IOStatus::IOError("injected"), false},
          {"ENOSPC", MemDisk::kWriting, IOStatus::NoSpace("injected"), false},
          {"short write", MemDisk::kAppend, IOStatus::NoSpace("injected"), true},
          {"EIO while reading", MemDisk::kReading, IOStatus::IOError("injected"), false}};
}

int NextStep(int step) {
  return std::getenv("SEENDB_EVERY_IO") != nullptr ? step + 1 : step + 1 + step / 6;
}

class EveryIoTest : public ::testing::TestWithParam<Fault> {
 protected:
  EveryIoTest() : clock_(kStartMs) {
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

  // One try: the step-th operation of the phase fails. False where there was none to fail.
  bool Try(int step, bool opening, const std::function<Status()>& phase) {
    disk_ = base_->Clone();
    acknowledged_ = promised_;
    if (!opening) {
      EXPECT_TRUE(Open().ok());
    }
    const Fault& fault = GetParam();
    if (fault.half) {
      disk_->FailShort(fault.operations, part_, fault.error, step, 1);
    } else {
      disk_->Fail(fault.operations & ~spared_, part_, fault.error, step, 1);
    }
    const Status status = phase();
    const bool failed = disk_->failures() > 0;
    disk_->Clear();
    EXPECT_TRUE(status.ok() || failed) << status.ToString();
    EXPECT_TRUE(status.ok() || !status.message().empty());
    if (engine_ != nullptr && !closed_) CheckReads(true);
    engine_.reset();
    closed_ = false;
    const Status opened = Open();
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    if (!opened.ok()) return failed;
    CheckSound();
    EXPECT_TRUE(Play("after").ok());
    const Status drained = engine_->Drain();
    EXPECT_TRUE(drained.ok()) << drained.ToString();
    CheckReads(false);
    engine_.reset();
    if (status.ok() && disk_->env()->FileExists(kCopy).ok()) {
      acknowledged_.erase("after");
      EXPECT_TRUE(Open(kCopy).ok());
      CheckSound();
      engine_.reset();
    }
    return failed;
  }

  void FailEach(const std::function<Status()>& phase, bool opening = false) {
    int step = 0;
    for (; step < kMostOperations; step = NextStep(step)) {
      SCOPED_TRACE(GetParam().name + ", operation " + std::to_string(step));
      const bool failed = Try(step, opening, phase);
      if (HasFailure()) {
        ADD_FAILURE() << "what failed: " << disk_->last_failure();
        return;
      }
      if (!failed) break;
    }
    std::cout << "operations: " << step << std::endl;
    EXPECT_LT(step, kMostOperations);
  }

  ManualClock clock_;
  Options options_;
  std::unique_ptr<MemDisk> base_, disk_;
  std::unique_ptr<Engine> engine_;
  std::set<std::string> acknowledged_, promised_;
  bool closed_ = false;
  std::string part_;     // only what has this in its path fails
  uint32_t spared_ = 0;  // these operations don't
};

TEST_P(EveryIoTest, Plays) {
  FailEach([&] {
    Status first;
    for (int i = 0; i < 4; ++i) {
      Status status = Play("p" + std::to_string(i));
      if (status.ok()) status = engine_->Sync();
      if (first.ok()) first = status;
    }
    return first;
  });
}

TEST_P(EveryIoTest, Drain) {
  FailEach([&] { return engine_->Drain(); });
}

// Open: half a record in the log during a seal, when RocksDB goes on by itself afterwards, may
// leave a shard that refuses to open ("SST file is ahead of WALs") until it is repaired.
TEST_P(EveryIoTest, Seal) {
  if (GetParam().half) part_ = ".sst";
  FailEach([&] { return engine_->SealClosed(); });
}

TEST_P(EveryIoTest, Drop) {
  FailEach([&] { return engine_->DropExpired(); });
}

TEST_P(EveryIoTest, Close) {
  FailEach([&] {
    const Status played = Play("last");
    const Status closed = engine_->Close();
    closed_ = true;
    return played.ok() ? closed : played;
  });
}

// Open: RocksDB 7.8 asserts the wrong status where asking for its folder `archive` fails
// (wal_manager.cc, GetSortedWalFiles), which ends the process. So only reading bytes fails here.
TEST_P(EveryIoTest, Checkpoint) {
  spared_ = MemDisk::kOpen;
  FailEach([&] { return engine_->Checkpoint(kCopy).status(); });
}

TEST_P(EveryIoTest, Open) {
  FailEach([&] { return Open(); }, true);
}

INSTANTIATE_TEST_SUITE_P(Each, EveryIoTest, ::testing::ValuesIn(Faults()), [](const auto& at) {
  std::string name = at.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace seendb
