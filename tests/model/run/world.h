// tests/model/run/world.h: a real engine on a disk in memory, driven by the model's actions: its
// clock, the names of its users and items, how it dies and comes back, and the drains and healings
// that stand still in the middle.
//
// Threads: one.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "engine_impl.h"
#include "model/action.h"
#include "seendb/engine.h"
#include "simulation/quick_env.h"
#include "support/mem_disk.h"

namespace seendb::model {

/// The machine's clocks: bucket b is a day of its own, and time goes on by a millisecond a step.
class ModelClock final : public MachineClock {
 public:
  int64_t NowMs() const override { return now_ms; }
  int64_t BootMs() const override { return boot_ms; }
  int64_t now_ms = 0, boot_ms = 0;
};

/// A disk with a database that was just made for a scope, and closed. Worlds begin with clones.
std::unique_ptr<MemDisk> NewDisk(const Scope& scope);

/// See the head of this file.
class World {
 public:
  /// `disk` is a clone of what NewDisk made.
  World(const Scope& scope, std::unique_ptr<MemDisk> disk);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Another process with all that the disk has now; this one goes on. Open is to follow.
  std::unique_ptr<World> Fork();

  /// Opens; what fails is in `trouble`.
  void Open();
  /// Before each step.
  void Tick();

  const Scope& scope() const { return scope_; }
  Engine& engine() { return *engine_; }
  bool open() const { return engine_ != nullptr; }
  MemDisk& disk() { return *disk_; }
  const std::string& path() const { return path_; }
  Seams seams() { return {nullptr, env_.get(), &clock_}; }
  /// Why a step could not be done as the model wants it; empty: it could.
  std::string trouble;

  // ---- Names ----

  std::string Collection(int collection) const { return "c" + std::to_string(collection); }
  const std::string& User(int user) const { return users_[static_cast<size_t>(user)]; }
  std::string Item(int item) const { return "item" + std::to_string(item); }
  /// Another user takes the number.
  void Rename(int user);
  static int64_t FirstMs(int bucket);
  PolicyPatch PolicyOf(int collection) const;
  std::string Label(int collection, int bucket) const;

  // ---- Time ----

  /// By whole buckets; with `rightly` the time since the boot goes along.
  void MoveClock(int buckets, bool rightly);

  // ---- Parts of the engine ----

  /// A shard that is attached.
  std::shared_ptr<seendb::Shard> ShardAt(int number);
  /// The log of a shard, for rules of the disk.
  static std::string LogOf(int shard);

  // ---- Work that stands still in the middle ----

  /// Drains one slot up to where everything is merged and nothing synced.
  void BeginDrain(int shard);
  /// Lets it go on to its end.
  Status EndDrain(int shard);
  bool Draining(int shard) const { return drains_[shard] != nullptr; }
  /// Opens a shard anew whose disk failed, up to where what memory has is not drained yet.
  void BeginHeal(int shard);
  /// Lets it go on to its end.
  Status EndHeal(int shard);
  /// Looks at the engine between two steps of a drain; what is wrong there.
  std::function<std::string()> beside;

  // ---- Processes ----

  /// The process dies; with `power`, what was not synced is lost.
  void Die(bool power);
  /// The same, and opens.
  void Restart(bool power);
  /// It ends in order.
  Status Close();
  /// Another folder is the database from now on.
  void Move(const std::string& path);

  /// Whether the shard is to be opened.
  bool attached[kShards] = {true, true};
  /// Whether the clock is to be believed at openings.
  bool believed = true;
  /// A repair said that something may be lost.
  bool lossy = false;
  int repaired = 0;  ///< the shard
  /// The folder of the model's copy; and how many copies there were.
  std::string copy;
  int copies = 0;

 private:
  struct Work;

  std::unique_ptr<Work> Begin(const char* stand, std::function<Status()> run);

  const Scope& scope_;
  std::unique_ptr<MemDisk> disk_;
  simulation::DiskPoints points_;
  std::unique_ptr<rocksdb::Env> env_;
  ModelClock clock_;
  std::string path_ = "/db";
  std::vector<std::string> users_;
  int names_ = 0;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Work> drains_[kShards], heals_[kShards];
};

}  // namespace seendb::model
