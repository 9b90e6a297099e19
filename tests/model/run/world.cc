#include "model/run/world.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "base/pause_point.h"
#include "filter/hash.h"
#include "shard/drain.h"
#include "support/options.h"

namespace seendb::model {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kFirstDay = 20'522;  // 2026-03-10
// The time of day; later the next bucket is made ahead of its time.
constexpr int64_t kMorningMs = kDayMs / 4;
constexpr char kMerged[] = "drain: merged";

Options OptionsOf(const Scope& scope) {
  Options options = test::FixedOptions();
  options.shards = static_cast<uint32_t>(scope.shards);
  options.background = false;
  options.background_threads = 1;
  options.ring_slots = static_cast<uint32_t>(scope.slots);
  options.block_cache_bytes = 1 << 20;
  options.write_buffer_bytes = 4 << 20;
  options.confirm_clock = true;
  return options;
}

}  // namespace

// A drain on a thread of its own, which stands still once everything is merged.
struct World::Drain {
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  bool merged = false, go_on = false, done = false;
  Status status;

  void AtPoint() {
    std::unique_lock lock(mutex);
    merged = true;
    changed.notify_all();
    changed.wait(lock, [this] { return go_on; });
  }
  void Run(seendb::Shard* shard) {
    ShardParts& parts = shard->parts();
    {
      const SharedLock::Shared inside(parts.use);
      status = DrainClosed(parts, 1);
    }
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
  }
  bool WaitUntilMerged() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return merged || done; });
    return !done;
  }
  Status End() {
    {
      const std::lock_guard lock(mutex);
      go_on = true;
      changed.notify_all();
    }
    if (thread.joinable()) thread.join();
    return status;
  }
};

namespace {

// The drain of this thread, if it has one.
thread_local std::function<void()>* at_merged = nullptr;

void WatchDrains() {
  static const bool watched = [] {
    PausePoints::Set(kMerged, [] {
      if (at_merged != nullptr) (*at_merged)();
    });
    return true;
  }();
  static_cast<void>(watched);
}

}  // namespace

World::World(const Scope& scope, std::unique_ptr<MemDisk> disk)
    : scope_(scope),
      disk_(std::move(disk)),
      env_(simulation::NewQuickEnv(disk_->env(), false, &points_)),
      users_(kUsers) {
  WatchDrains();
  clock_.now_ms = FirstMs(0) + kMorningMs;
  clock_.boot_ms = 1'000'000;
  for (int user = 0; user < kUsers; ++user) Rename(user);
}

std::unique_ptr<World> World::Fork() {
  auto fork = std::make_unique<World>(scope_, disk_->Clone());
  fork->clock_.now_ms = clock_.now_ms;
  fork->clock_.boot_ms = clock_.boot_ms;
  fork->path_ = path_;
  fork->users_ = users_;
  fork->names_ = names_;
  std::copy(std::begin(attached), std::end(attached), std::begin(fork->attached));
  fork->believed = believed;
  fork->copy = copy;
  fork->copies = copies;
  return fork;
}

World::~World() {
  if (engine_ != nullptr) Die(false);
}

void World::Tick() {
  ++clock_.now_ms;
  ++clock_.boot_ms;
}

// A user that lives in the shard that the model wants.
void World::Rename(int user) {
  do {
    users_[static_cast<size_t>(user)] = "user" + std::to_string(names_++);
  } while (seendb::ShardOf(IdRef(User(user)), static_cast<uint32_t>(scope_.shards)) !=
           static_cast<uint32_t>(ShardOf(scope_, user)));
}

int64_t World::FirstMs(int bucket) { return (kFirstDay + bucket) * kDayMs; }

PolicyPatch World::PolicyOf(int collection) const {
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, 1};
  patch.window = kWindow;
  patch.retention = kRetention;
  patch.history.enabled = collection == 0;
  patch.history.days = 1;  // beside the day they end in
  patch.history.deleted_items = DeletedItems::kRecommendAgain;
  return patch;
}

std::string World::Label(int collection, int bucket) const {
  return BucketLabel(ApplyPatch({}, PolicyOf(collection)), kFirstDay + bucket);
}

void World::MoveClock(int buckets, bool rightly) {
  clock_.now_ms += buckets * kDayMs;
  if (rightly) clock_.boot_ms += buckets * kDayMs;
}

std::string World::LogOf(int shard) { return "/shard-000" + std::to_string(shard) + "*.log"; }

std::shared_ptr<seendb::Shard> World::ShardAt(int number) {
  auto& impl = static_cast<EngineImpl&>(*engine_);
  return (*impl.shards().All())[static_cast<size_t>(number)];
}

void World::Open() {
  Options options = OptionsOf(scope_);
  options.confirm_clock = believed;
  if (scope_.shards == 2 && !(attached[0] && attached[1])) {
    std::vector<uint32_t> owned;
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      if (attached[shard]) owned.push_back(shard);
    }
    if (owned.empty())
      options.as_found = true;
    else
      options.owned = owned;
  }
  Result<std::unique_ptr<Engine>> opened = Engine::Open(path_, options, seams());
  if (opened.ok())
    engine_ = std::move(opened).value();
  else
    trouble = "open: " + opened.status().ToString();
}

void World::BeginDrain(int shard) {
  auto drain = std::make_unique<Drain>();
  const std::shared_ptr<seendb::Shard> of = ShardAt(shard);
  drain->thread = std::thread([of = of.get(), here = drain.get()] {
    std::function<void()> at_point = [here] { here->AtPoint(); };
    at_merged = &at_point;
    here->Run(of);
  });
  if (!drain->WaitUntilMerged()) {
    const Status status = drain->End();
    trouble = "the drain did not come to its middle: " + status.ToString();
    return;
  }
  drains_[shard] = std::move(drain);
}

Status World::EndDrain(int shard) {
  const std::unique_ptr<Drain> drain = std::move(drains_[shard]);
  return drain->End();
}

void World::Die(bool power) {
  disk_->Crash();
  for (int shard = 0; shard < kShards; ++shard) {
    if (drains_[shard] != nullptr) static_cast<void>(EndDrain(shard));
  }
  engine_.reset();
  if (power) disk_->PowerCut(0, MemTear::kNothing);
  disk_->Revive();
}

void World::Restart(bool power) {
  Die(power);
  Open();
}

Status World::Close() {
  Status closed = engine_->Close();
  engine_.reset();
  return closed;
}

void World::Move(const std::string& path) { path_ = path; }

std::unique_ptr<MemDisk> NewDisk(const Scope& scope) {
  World world(scope, std::make_unique<MemDisk>());
  world.Open();
  if (world.open()) {
    for (int collection = 0; collection < scope.collections; ++collection) {
      const Status made = world.engine().PutCollection(world.Collection(collection),
                                                       world.PolicyOf(collection), {});
      if (!made.ok()) world.trouble = "make: " + made.ToString();
    }
    // A collection that nobody asks about would make each opening longer.
    const Status removed = world.engine().DeleteCollection("default");
    if (!removed.ok()) world.trouble = "remove: " + removed.ToString();
    const Status closed = world.Close();
    if (!closed.ok()) world.trouble = "close: " + closed.ToString();
  }
  if (!world.trouble.empty()) throw std::runtime_error("a new database: " + world.trouble);
  return world.disk().Clone();
}

}  // namespace seendb::model
