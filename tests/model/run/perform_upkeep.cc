// Ring, buckets, disk and clock: what the background does, a step at a time.

#include "model/run/perform.h"

namespace seendb::model {
namespace {

using rocksdb::IOStatus;

// One sync of the shard's log fails.
void FailNextSync(World& world, int shard) {
  world.disk().Fail(MemDisk::kSync, World::LogOf(shard), IOStatus::IOError("broken"), 0, 1);
}

}  // namespace

// ---- The ring ----

Performed PerformRotate(World& world, const Action& action) {
  world.ShardAt(action.shard)->parts().ring.Rotate();
  return {};
}

Performed PerformBeginDrain(World& world, const Action& action) {
  world.BeginDrain(action.shard);
  return {};
}

Performed PerformEndDrain(World& world, const Action& action) {
  return AnswerOf(world, world.EndDrain(action.shard));
}

Performed PerformFailDrain(World& world, const Action& action) {
  FailNextSync(world, action.shard);
  const Status drained = world.EndDrain(action.shard);
  world.disk().Clear();
  return AnswerOf(world, drained);
}

// ---- Buckets ----

Performed PerformSeal(World& world, const Action& action) {
  auto& engine = static_cast<EngineImpl&>(world.engine());
  const Result<CollectionPtr> found = engine.catalog().Find(world.Collection(action.collection));
  if (!found.ok()) return AnswerOf(world, found.status());
  const std::string label = world.Label(action.collection, action.bucket);
  return AnswerOf(world, engine.shards().InEach([&](seendb::Shard& shard) {
    return shard.upkeep().Seal(**found, [&](const Bucket& one) { return one.label == label; });
  }));
}

Performed PerformDrop(World& world, const Action&) {
  return AnswerOf(world, world.engine().DropExpired());
}

// ---- The disk ----

Performed PerformSync(World& world, const Action&) {
  return AnswerOf(world, world.engine().Sync());
}

Performed PerformFailSync(World& world, const Action& action) {
  FailNextSync(world, action.shard);
  const Status synced = world.ShardAt(action.shard)->upkeep().Sync(nullptr);
  world.disk().Clear();
  return AnswerOf(world, synced);
}

// A drain that stands still fails first: it stands in the way of whoever opens the shard anew.
Performed PerformHeal(World& world, const Action& action) {
  if (world.Draining(action.shard)) static_cast<void>(world.EndDrain(action.shard));
  bool healed = false;
  const Status status = world.ShardAt(action.shard)->upkeep().HealIfDue(true, &healed);
  if (status.ok() && !healed) world.trouble = "there was nothing to heal";
  return AnswerOf(world, status);
}

Performed PerformBeginHeal(World& world, const Action& action) {
  if (world.Draining(action.shard)) static_cast<void>(world.EndDrain(action.shard));
  world.BeginHeal(action.shard);
  return {};
}

Performed PerformEndHeal(World& world, const Action& action) {
  return AnswerOf(world, world.EndHeal(action.shard));
}

// ---- The clock ----

Performed PerformForward(World& world, const Action&) {
  world.MoveClock(1, true);
  return {};
}

Performed PerformJump(World& world, const Action&) {
  world.MoveClock(1, false);
  world.believed = false;
  return {};
}

Performed PerformConfirm(World& world, const Action&) {
  world.believed = true;
  return AnswerOf(world, world.engine().ConfirmClock().status());
}

// A clock that was ahead comes back; another one, that was right, is set back with its boot: so a
// later jump is one.
Performed PerformBack(World& world, const Action&) {
  world.MoveClock(-1, world.believed);
  world.believed = true;
  return {};
}

}  // namespace seendb::model
