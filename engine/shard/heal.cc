#include "shard/heal.h"

#include <algorithm>

#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "shard/buckets.h"
#include "shard/drain.h"

namespace seendb {
namespace {

constexpr int64_t kFirstHealPauseMs = 250;
constexpr int64_t kLongestHealPauseMs = 8'000;
// A look for room costs nothing.
constexpr int64_t kRoomPauseMs = 1'000;

enum class Health : uint8_t { kSound, kStopped, kRecovering };

// What is staged stays staged: it holds every acknowledged play that is not drained, whatever the
// failed disk kept of the journal. Draining it, and writing the logs' contents into tables, leaves
// nothing that depends on bytes a failed sync may have lost. Until then nothing of a log is
// ingested: the shard would store offsets beyond plays that only memory has.
Status RecoverShard(ShardParts& shard, bool reopen) REQUIRES(shard.healing.mutex)
    EXCLUDES(shard.use) {
  {
    const SharedLock::Exclusive alone(shard.use);
    RETURN_IF_FAILED(reopen ? shard.store->Reopen(shard.clock->NowMs()) : Status());
    shard.store->problems().Clear(kSealProblem);  // its buckets are looked at anew
    shard.recovering = true;
    shard.traces.erasures.fetch_add(1);  // one that failed may be there
    RETURN_IF_FAILED(shard.users.Load());
    // Offsets that are no longer stored are forgotten: the plays they covered are to be read again.
    RETURN_IF_FAILED(shard.sources.Settle(shard.store.get()));
    RETURN_IF_FAILED(shard.sources.Load(shard.store.get()));
    RETURN_IF_FAILED(shard.outbox.Load());
  }
  SEENDB_PAUSE_POINT("heal: opened anew");
  {
    const SharedLock::Shared inside(shard.use);
    RETURN_IF_FAILED(shard.store->tables().FlushAll());
    shard.ring.Rotate();
    RETURN_IF_FAILED(DrainClosed(shard));
  }
  const SharedLock::Exclusive alone(shard.use);
  shard.recovering = false;
  return {};
}

Status HealShard(ShardParts& shard) REQUIRES(shard.healing.mutex) EXCLUDES(shard.use) {
  {
    const SharedLock::Shared inside(shard.use);
    const Status room = shard.store->database().CheckRoom();
    shard.healing.lacks_room = !room.ok();
    if (!room.ok()) return room;
    RETURN_IF_FAILED(shard.store->database().TryDisk());
    shard.store->GiveUp();  // or a long seal would keep everybody waiting
  }
  return RecoverShard(shard, true);
}

Health HealthOf(const ShardParts& shard) REQUIRES_SHARED(shard.use) {
  shard.use.AssertHeldShared();
  // One that gave up was to be closed, and serves on: its background work ends with an opening.
  if (!shard.store->CheckWritable().ok() || shard.store->database().giving_up()) {
    return Health::kStopped;
  }
  return shard.recovering ? Health::kRecovering : Health::kSound;
}

bool HealIsDue(const ShardParts& shard) REQUIRES(shard.healing.mutex) {
  shard.healing.mutex.AssertHeld();
  return !shard.options.background || shard.healing.tries == 0 ||
         std::chrono::steady_clock::now() >= shard.healing.next;
}

}  // namespace

bool WantsHealing(ShardParts& shard) {
  if (!shard.healing.mutex.TryLock()) return false;  // it is being healed by hand
  const MutexLock one(shard.healing.mutex, MutexLock::Adopt());
  const auto inside = SharedLock::Shared::Try(shard.use);
  if (!inside) return false;  // looked at again soon
  shard.use.AssertHeldShared();
  if (HealthOf(shard) != Health::kSound) return HealIsDue(shard);
  shard.healing.tries = 0;
  return false;
}

Status HealIfDue(ShardParts& shard, bool* healed) {
  const MutexLock one(shard.healing.mutex);
  Health health = Health::kSound;
  {
    const SharedLock::Shared inside(shard.use);
    health = HealthOf(shard);
  }
  if (health == Health::kSound) {
    shard.healing.tries = 0;
    return {};
  }
  if (!HealIsDue(shard)) return {};
  const auto begin = std::chrono::steady_clock::now();
  shard.healing.running = true;
  shard.healing.lacks_room = false;
  Status status = health == Health::kStopped ? HealShard(shard) : RecoverShard(shard, false);
  shard.healing.running = false;
  *healed = *healed || status.ok();
  const int64_t pause_ms =
      shard.healing.lacks_room
          ? kRoomPauseMs
          : std::min(kFirstHealPauseMs << std::min(shard.healing.tries, 10), kLongestHealPauseMs);
  shard.healing.tries = shard.healing.lacks_room ? 1 : shard.healing.tries + 1;
  shard.healing.next = begin + std::chrono::milliseconds(pause_ms);
  return status;
}

}  // namespace seendb
