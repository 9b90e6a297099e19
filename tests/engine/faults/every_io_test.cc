// Every operation on the disk fails once, in every phase of a database's life: the call succeeds or
// says what is wrong, reads are right or say that they are degraded, and the next opening has all
// that was acknowledged. How writing goes on without that opening is heal_test.cc's.
//
// SEENDB_EVERY_IO=1 takes each operation; otherwise all of the first ones, and fewer of the later.

#include "engine/faults/io_faults.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using rocksdb::IOStatus;

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

class EveryIoTest : public IoFaultTest, public ::testing::WithParamInterface<Fault> {
 protected:
  // One try: the step-th operation of the phase fails. False where there was none to fail.
  bool Try(int step, bool opening, const std::function<Status()>& phase) {
    disk_ = base_->Clone();
    acknowledged_ = promised_;
    if (!opening) {
      EXPECT_TRUE(Open().ok());
    }
    const Fault& fault = GetParam();
    if (fault.half) {
      disk_->FailShort(fault.operations, "", fault.error, step, 1);
    } else {
      disk_->Fail(fault.operations & ~spared_, "", fault.error, step, 1);
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
    const int step =
        ForEachOperation(GetParam().name, [&](int at) { return Try(at, opening, phase); });
    std::cout << "operations: " << step << std::endl;
    EXPECT_LT(step, kMostOperations);
  }

  bool closed_ = false;
  uint32_t spared_ = 0;  // operations that don't fail
};

TEST_P(EveryIoTest, Plays) {
  FailEach([&] { return PlayAndSync(); });
}

TEST_P(EveryIoTest, Drain) {
  FailEach([&] { return engine_->Drain(); });
}

TEST_P(EveryIoTest, Seal) {
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
}  // namespace seendb::SEENDB_TEST_FILE
