// A database that goes by the clocks of a machine, which the test sets.

#pragma once

#include <atomic>
#include <string>

#include "support/engine_fixture.h"

namespace seendb {

/// The clocks of a machine that was started an hour ago. Threads: as ManualClock.
class FakeMachine final : public MachineClock {
 public:
  explicit FakeMachine(int64_t now_ms) : now_ms_(now_ms) {}
  int64_t NowMs() const override { return now_ms_; }
  int64_t BootMs() const override { return boot_ms_; }
  /// Time passes.
  void Pass(int64_t ms) {
    now_ms_ += ms;
    boot_ms_ += ms;
  }
  /// Somebody sets the time of day.
  void Step(int64_t ms) { now_ms_ += ms; }

 private:
  std::atomic<int64_t> now_ms_;
  std::atomic<int64_t> boot_ms_{kHourMs};
};

/// As EngineTest, but the engine has no injected clock.
class MachineTest : public EngineTest {
 protected:
  MachineTest() : machine_(kStartMs) { options_.shards = 1; }
  ~MachineTest() override { engine_.reset(); }  // it looks at the machine to its end

  void OpenByMachine() {
    engine_.reset();
    Seams seams;
    seams.machine = &machine_;
    Result<std::unique_ptr<Engine>> opened = Engine::Open(Path(), options_, seams);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    engine_ = std::move(opened).value();
  }

  FakeMachine machine_;
};

}  // namespace seendb
