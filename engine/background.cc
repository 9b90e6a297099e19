// Background work, and what falls due by hand.

#include <chrono>
#include <memory>
#include <utility>

#include "base/return_if_failed.h"
#include "engine_impl.h"

namespace seendb {
namespace {

// How often the lanes look for work.
constexpr std::chrono::milliseconds kLook{250};
// How long an erasure, a clear or a pause is only in the log, at most; but for the flush itself.
constexpr std::chrono::milliseconds kFlushUsersEvery{1'000};
// Opening a shard anew waits for its disk, and sick disks come in numbers: a controller, a node.
constexpr uint32_t kHealingThreads = 8;
// How often a shard that is to come back is opened again, and what could not be deleted is deleted.
constexpr std::chrono::milliseconds kTidyEvery{1'000};

}  // namespace

// ---- Healing ----

// By hand: one after the other.
Status EngineImpl::Heal() {
  bool any = false;
  const Status first =
      shards_.InEach([&](Shard& shard) { return shard.upkeep().HealIfDue(true, &any); });
  if (!any) return first;
  const Status reconciled = catalog_.Settle();
  return first.ok() ? reconciled : first;
}

// ---- What falls due ----

Status EngineImpl::RunDue() {
  RETURN_IF_FAILED(CheckWritable());
  Status first = TidyIfDue();
  const auto then = [&first](Status status) {
    if (first.ok()) first = std::move(status);
  };
  then(Heal());
  const std::shared_ptr<const CollectionMap> all = catalog_.All();
  then(shards_.InEach([](Shard& shard) { return shard.upkeep().DrainIfDue(); }));
  then(shards_.InEach([&](Shard& shard) { return shard.upkeep().Maintain(*all); }));
  then(shards_.InEach([](Shard& shard) { return shard.upkeep().FlushUsers(); }));
  return first;
}

void EngineImpl::StartBackground() {
  const auto lane = [this](const char* name, std::chrono::milliseconds every,
                           std::function<Status(Shard&)> work) {
    return Lane{name, every, shard_count_, 2, [this, work = std::move(work)](uint32_t number) {
                  const std::shared_ptr<Shard> shard = (*shards_.All())[number];
                  return shard == nullptr ? Status() : work(*shard);
                }};
  };
  std::vector<Lane> lanes;
  // A shard that is being detached is synced as long as calls are in it.
  lanes.push_back({"sync", std::chrono::milliseconds(options_.sync_interval_ms), shard_count_, 2,
                   [this](uint32_t number) {
                     std::shared_ptr<Shard> shard = (*shards_.All())[number];
                     if (shard == nullptr) shard = Leaving(number);
                     bool passed_over = false;
                     return shard == nullptr ? Status() : shard->upkeep().Sync(&passed_over);
                   }});
  lanes.push_back(lane("drain", kLook, [](Shard& shard) { return shard.upkeep().DrainIfDue(); }));
  lanes.push_back(lane("healing", kLook, [this](Shard& shard) {
    bool healed = false;
    Status status = shard.upkeep().HealIfDue(false, &healed);
    return healed ? catalog_.Settle() : status;
  }));
  lanes.back().threads = kHealingThreads;
  lanes.push_back(lane("user records", kFlushUsersEvery,
                       [](Shard& shard) { return shard.upkeep().FlushUsers(); }));
  lanes.push_back(lane("maintenance", kLook,
                       [this](Shard& shard) { return shard.upkeep().Maintain(*catalog_.All()); }));
  lanes.push_back({"clock", kLook, 1, 1, [this](uint32_t) { return NoteClockIfDue(); }});
  lanes.push_back({"attachment", kTidyEvery, 1, 1, [this](uint32_t) { return TidyIfDue(); }});
  scheduler_ = std::make_unique<Scheduler>(std::move(lanes), &problems_, counters_.get());
}

}  // namespace seendb
