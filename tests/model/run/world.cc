#include "model/run/world.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string_view>
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
// Where a drain has its first merges and where it has them all, where a drain and where a healing
// stand still.
constexpr char kBatchMade[] = "drain: batch made";
constexpr char kBeforeHistory[] = "drain: before history";
constexpr char kMerged[] = "drain: merged";
constexpr char kOpenedAnew[] = "heal: opened anew";

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

// Work on a shard, on a thread of its own, that stands still at a pause point.
struct World::Work {
  explicit Work(const char* stand) : stand_at(stand) {}

  const char* stand_at;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  enum class At : uint8_t { kNowhere, kOnTheWay, kStand, kDone } at = At::kNowhere;
  bool go_on = false;
  Status status;

  // A point is reached: the thread waits until it is let go.
  void Reached(bool stand) {
    std::unique_lock lock(mutex);
    at = stand ? At::kStand : At::kOnTheWay;
    go_on = false;
    changed.notify_all();
    changed.wait(lock, [this] { return go_on; });
    at = At::kNowhere;
  }
  void Done(Status done) {
    const std::lock_guard lock(mutex);
    status = std::move(done);
    at = At::kDone;
    changed.notify_all();
  }
  At Wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return at != At::kNowhere; });
    return at;
  }
  void GoOn() {
    const std::lock_guard lock(mutex);
    go_on = true;
    if (at != At::kDone) at = At::kNowhere;
    changed.notify_all();
  }
  Status End() {
    while (Wait() != At::kDone) GoOn();
    if (thread.joinable()) thread.join();
    return status;
  }
};

namespace {

// The points of this thread's work, if it has any: called with the name of each that it reaches.
thread_local const std::function<void(const char*)>* at_points = nullptr;

void WatchPoints() {
  static const bool watched = [] {
    for (const char* point : {kBatchMade, kBeforeHistory, kMerged, kOpenedAnew}) {
      PausePoints::Set(point, [point] {
        if (at_points != nullptr) (*at_points)(point);
      });
    }
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
  WatchPoints();
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

// On the way to its stand the work lets `beside` look at the engine.
std::unique_ptr<World::Work> World::Begin(const char* stand, std::function<Status()> run) {
  auto work = std::make_unique<Work>(stand);
  work->thread = std::thread([here = work.get(), run = std::move(run)] {
    const std::function<void(const char*)> reached = [here](const char* point) {
      here->Reached(std::string_view(point) == here->stand_at);
    };
    at_points = &reached;
    here->Done(run());
  });
  while (work->Wait() == Work::At::kOnTheWay) {
    if (beside) trouble += beside();
    work->GoOn();
  }
  if (work->Wait() == Work::At::kStand) return work;
  trouble = "it did not come to its middle: " + work->End().ToString();
  return nullptr;
}

void World::BeginDrain(int shard) {
  drains_[shard] = Begin(kMerged, [of = ShardAt(shard)] {
    ShardParts& parts = of->parts();
    const SharedLock::Shared inside(parts.use);
    return DrainClosed(parts, 1);
  });
}

Status World::EndDrain(int shard) {
  const std::unique_ptr<Work> drain = std::move(drains_[shard]);
  return drain->End();
}

void World::BeginHeal(int shard) {
  heals_[shard] = Begin(kOpenedAnew, [of = ShardAt(shard)] {
    bool healed = false;
    const Status status = of->upkeep().HealIfDue(true, &healed);
    return status.ok() && !healed ? Status::IOError("there was nothing to heal") : status;
  });
}

Status World::EndHeal(int shard) {
  const std::unique_ptr<Work> heal = std::move(heals_[shard]);
  return heal->End();
}

void World::Die(bool power) {
  disk_->Crash();
  for (int shard = 0; shard < kShards; ++shard) {
    if (drains_[shard] != nullptr) static_cast<void>(EndDrain(shard));
    if (heals_[shard] != nullptr) static_cast<void>(EndHeal(shard));
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
