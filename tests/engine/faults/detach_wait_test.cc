// A shard that is being detached waits for the calls that are in it. Until then it is synced as
// before: a power cut takes nothing that is older than the interval.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "engine/faults/attach_faults.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using namespace std::chrono_literals;

class DetachWaitTest : public AttachFaultTest {
 protected:
  // A call stays in shard 1, a play is acknowledged, and the shard is being detached.
  void DetachBesideACall() {
    scan_ = std::thread([this] {
      const Status scanned = engine_->Scan("", [this](const ScanRow& row) {
        if (row.shard != 1) return true;
        inside_ = true;
        while (!leave_) std::this_thread::sleep_for(1ms);
        return false;
      });
      static_cast<void>(scanned);
    });
    while (!inside_) std::this_thread::sleep_for(1ms);
    Play(1, "during");
    detach_ = std::thread([this] { detached_ = engine_->DetachShard(1, Detached::kKept); });
    while (IsAttached(1)) std::this_thread::sleep_for(1ms);
  }
  void Leave() {
    leave_ = true;
    scan_.join();
    detach_.join();
  }
  // Whether a power cut now would leave the play.
  bool SurvivesPowerCut() {
    const std::unique_ptr<MemDisk> cut = disk_->Clone();
    cut->PowerCut(1);
    Seams seams;
    seams.clock = &clock_;
    seams.env = cut->env();
    Options options = options_;
    options.background = false;
    const auto opened = Engine::Open(kPath, options, seams);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    const IdRef items[] = {IdRef("drained"), IdRef("staged"), IdRef("during")};
    FilterRequest request;
    request.user = IdRef(users_[1]);
    request.items = items;
    FilterResponse answer;
    EXPECT_TRUE((*opened)->Filter(request, &answer).ok());
    EXPECT_LE(answer.unseen.size(), 1U);
    return answer.unseen.empty();
  }

  std::atomic<bool> inside_{false}, leave_{false};
  std::thread scan_, detach_;
  Status detached_;
};

TEST_F(DetachWaitTest, TheBackgroundSyncsIt) {
  ASSERT_TRUE(engine_->Close().ok());
  options_.background = true;
  options_.sync_interval_ms = 50;
  ASSERT_TRUE(Open().ok());
  DetachBesideACall();
  bool survives = false;
  for (int tried = 0; tried < 400 && !survives; ++tried) {
    survives = SurvivesPowerCut();
    if (!survives) std::this_thread::sleep_for(50ms);
  }
  EXPECT_TRUE(survives);
  Leave();
  EXPECT_TRUE(detached_.ok()) << detached_.ToString();
  EXPECT_TRUE(IsThere(kKept));
}

TEST_F(DetachWaitTest, ASyncByHandSyncsIt) {
  DetachBesideACall();
  EXPECT_TRUE(engine_->Sync().ok());
  EXPECT_TRUE(SurvivesPowerCut());
  Leave();
  EXPECT_TRUE(detached_.ok()) << detached_.ToString();
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
