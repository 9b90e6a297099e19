// Processes that end, and shards that come and go.

#include "model/run/perform.h"
#include "seendb/repair.h"

namespace seendb::model {
namespace {

std::string ShardFolder(const World& world, int shard) {
  return world.path() + "/shard-000" + std::to_string(shard);
}

}  // namespace

Performed PerformReopen(World& world, const Action&) {
  const Status closed = world.Close();
  if (!closed.ok()) return AnswerOf(world, closed);
  world.Open();
  return {};
}

Performed PerformCrash(World& world, const Action&) {
  world.Restart(false);
  return {};
}

Performed PerformPowerCut(World& world, const Action&) {
  world.Restart(true);
  return {};
}

Performed PerformRepair(World& world, const Action& action) {
  world.Die(false);
  world.repaired = action.shard;
  for (const std::string& file :
       world.disk().Files(ShardFolder(world, action.shard) + "/MANIFEST-")) {
    world.disk().Remove(file);
  }
  const Result<RepairReport> repaired = seendb::Repair(world.path(), {}, world.seams());
  if (!repaired.ok()) world.trouble = "repair: " + repaired.status().ToString();
  if (repaired.ok()) world.lossy = !repaired->losses.empty();
  world.Open();
  return {};
}

// ---- Copies ----

Performed PerformCheckpoint(World& world, const Action& action) {
  world.copy = "/copy-" + std::to_string(world.copies++);
  if (world.scope().shards == 1) {
    return AnswerOf(world, world.engine().Checkpoint(world.copy).status());
  }
  return AnswerOf(world, world.engine().CheckpointShard(action.shard, world.copy).status());
}

Performed PerformRestore(World& world, const Action&) {
  world.Die(false);
  world.Move(world.copy);
  world.Open();
  return {};
}

// ---- Shards that come and go ----

Performed PerformDetach(World& world, const Action& action) {
  const Performed done = AnswerOf(world, world.engine().DetachShard(action.shard, Detached::kKept));
  if (done.answer == Answer::kOk) world.attached[action.shard] = false;
  return done;
}

Performed PerformAttach(World& world, const Action& action) {
  const std::string folder = ShardFolder(world, action.shard) + ".detached";
  const Performed done = AnswerOf(world, world.engine().AttachShard(action.shard, folder));
  if (done.answer == Answer::kOk) world.attached[action.shard] = true;
  return done;
}

Performed PerformLetGo(World& world, const Action& action) {
  const Performed done =
      AnswerOf(world, world.engine().DetachShard(action.shard, Detached::kRemoved));
  if (done.answer == Answer::kOk) world.attached[action.shard] = false;
  return done;
}

Performed PerformAttachEmpty(World& world, const Action& action) {
  const Performed done = AnswerOf(world, world.engine().AttachShard(action.shard, ""));
  if (done.answer == Answer::kOk) world.attached[action.shard] = true;
  return done;
}

// The process dies at the first operation in the place that the shard was renamed to.
Performed PerformAttachEmptyCut(World& world, const Action& action) {
  world.disk().CrashAt(MemDisk::kWriting | MemDisk::kReading,
                       ShardFolder(world, action.shard) + "/", 0);
  if (world.engine().AttachShard(action.shard, "").ok()) world.trouble = "nobody came to its place";
  world.attached[action.shard] = true;
  world.Restart(true);
  return {};
}

Performed PerformReplace(World& world, const Action& action) {
  return AnswerOf(world, world.engine().ReplaceShard(action.shard, world.copy));
}

}  // namespace seendb::model
