#include "replica/replicas.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "ops/log.h"
#include "replica/appender.h"
#include "replica/applier.h"
#include "replica/barriers.h"
#include "replica/keeper.h"
#include "replica/policies.h"
#include "replica/progress.h"
#include "replica/reader.h"

namespace seendb::replica {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kStep{10}, kTickEvery{200}, kQuiet{1'000}, kStoodStill{1'000};
// What a tick may take at the longest; those who wait for it have deadlines of their own.
constexpr std::chrono::seconds kBarrier{10};

int FromHex(char digit) { return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10; }

}  // namespace

/// The parts, which are there from Start on.
class Core {
 public:
  explicit Core(ReplicasOptions given) : options(std::move(given)) {}
  ~Core() { Stop(); }

  Status Start(Engine* the_engine);
  void Stop();
  void Watch();

  const ReplicasOptions options;
  Engine* engine = nullptr;
  Progress progress;
  std::unique_ptr<Appender> appender;
  std::unique_ptr<Barriers> barriers;
  std::unique_ptr<Policies> policies;
  std::unique_ptr<Keeper> keeper;
  std::unique_ptr<Reader> reader;
  std::atomic<bool> started{false};

 private:
  void Run();
  void TellChanges();
  /// Where nothing happens, the first node of a list that is up says so; and each node where the
  /// log took nothing, to see whether it does again.
  void Tick();

  std::unique_ptr<Applier> applier_;
  std::vector<std::pair<uint32_t, cluster::ReplicaState>> states_;  // that were told of
  std::atomic<Time> beat_{Time()};  // when the process was known to run last
  std::atomic<bool> stopping_{false};
  std::thread timer_;
};

Status Core::Start(Engine* the_engine) {
  engine = the_engine;
  const std::string topic = cluster::LogTopicOf(options.cluster);
  Result<std::unique_ptr<Appender>> made = Appender::New(options.access, topic, options.limits);
  if (!made.ok()) return made.status();
  appender = std::move(made).value();
  barriers = std::make_unique<Barriers>([this](uint32_t partition, auto done) {
    appender->Append({.partition = partition, .arrival_ms = engine->NowMs()},
                     steady_clock::now() + kBarrier, std::move(done));
  });
  policies = std::make_unique<Policies>(engine, options.collections_changed, options.migrations);
  applier_ = std::make_unique<Applier>(
      Applier::Context{engine, topic, options.meta, options.read_meta_to_end, options.migrations});
  for (const uint32_t partition : engine->AttachedShards()) {
    progress.Hold(partition, engine->NowMs());
  }
  Reader::Context reading{
      .access = options.access,
      .topic = topic,
      .engine = engine,
      .applier = applier_.get(),
      .progress = &progress,
      .appender = appender.get(),
      .between = [this] { policies->Follow(options.meta(), progress.version()); }};
  reader = std::make_unique<Reader>(std::move(reading));
  keeper = std::make_unique<Keeper>(options, engine, &progress);
  if (Status status = reader->Start(); !status.ok()) return status;
  keeper->Start();
  beat_ = steady_clock::now();
  timer_ = std::thread([this] { Run(); });
  started = true;
  return {};
}

void Core::Stop() {
  if (stopping_.exchange(true)) return;
  if (keeper) keeper->Stop();
  if (reader) reader->Stop();
  if (timer_.joinable()) timer_.join();
  if (appender) appender->End();
  progress.End();
}

/// Until it is told, whoever finds the process to have stood still says so: nobody relies on states
/// of before meanwhile.
void Core::Watch() {
  Time beat = beat_;
  const Time now = steady_clock::now();
  if (now - beat <= kStoodStill) return;
  progress.Doubt(engine->NowMs());
  options.states_changed();
  if (!beat_.compare_exchange_strong(beat, now)) return;
  ops::Log(ops::LogLevel::kWarn, "stood_still",
           {{"ms", std::chrono::duration_cast<milliseconds>(now - beat).count()}});
}

void Core::TellChanges() {
  auto states = progress.States(engine->NowMs());
  if (states == states_) return;
  states_ = std::move(states);
  options.states_changed();
}

void Core::Run() {
  auto next_tick = steady_clock::now();
  while (!stopping_) {
    std::this_thread::sleep_for(kStep);
    Watch();
    const auto now = steady_clock::now();
    beat_ = now;
    progress.Expire(now);
    appender->Expire(now);
    barriers->Expire(now);
    TellChanges();
    if (now < next_tick) continue;
    next_tick = now + kTickEvery;
    Tick();
  }
}

void Core::Tick() {
  const auto meta = options.meta();
  if (meta == nullptr) return;
  const auto views = options.views();
  const auto is_up = [&](const std::string& node) {
    if (node == options.node) return true;
    const auto view = views.find(node);
    return view != views.end() && view->second.health.state() == cluster::NodeState::kUp;
  };
  for (const uint32_t partition : progress.QuietSince(steady_clock::now() - kQuiet)) {
    const auto& assign = meta->placement().assign;
    bool first = false;
    if (partition < assign.size()) {
      const auto up = std::find_if(assign[partition].begin(), assign[partition].end(), is_up);
      first = up != assign[partition].end() && *up == options.node;
    }
    if (first || appender->IsDown(partition)) appender->Tick(partition, engine->NowMs());
  }
}

Replicas::Replicas(ReplicasOptions options) : core_(std::make_unique<Core>(std::move(options))) {}
Replicas::~Replicas() = default;

Result<Options> Replicas::EngineOptions(const cluster::InitRecord& init, Options engine) {
  engine.shards = init.partitions;
  engine.item_hash = init.hash;
  engine.item_hash_key.reset();
  if (init.key.size() == 32) {
    std::array<uint8_t, 16>& key = engine.item_hash_key.emplace();
    for (size_t i = 0; i < key.size(); ++i) {
      key[i] = static_cast<uint8_t>(FromHex(init.key[2 * i]) << 4 | FromHex(init.key[2 * i + 1]));
    }
  }
  engine.database_id = init.uuid;
  engine.as_found = true;
  engine.owned.reset();
  engine.max_collections = std::max<uint32_t>(engine.max_collections, cluster::kCollectionsMost);
  const Result<PolicyPatch> policy = PolicyPatchFromJson(init.default_policy);
  if (!policy.ok()) return policy.status();
  engine.default_policy = *policy;
  return engine;
}

Status Replicas::Start(Engine* engine) { return core_->Start(engine); }
void Replicas::Stop() { core_->Stop(); }

std::map<uint32_t, cluster::ReplicaReport> Replicas::Report() const {
  if (!core_->started) return {};
  const ReplicasOptions& options = core_->options;
  std::map<uint32_t, int64_t> topics;
  if (options.topics_behind_ms) topics = options.topics_behind_ms();
  auto report =
      core_->progress.Report(core_->engine->NowMs(), options.topics_behind_ms ? &topics : nullptr);
  if (!options.copies) return report;
  for (const auto& [partition, copy] : options.copies()) {
    if (const auto one = report.find(partition); one != report.end()) one->second.copy = copy;
  }
  return report;
}

std::optional<int64_t> Replicas::LogMarginMs() const {
  return core_->started ? core_->keeper->LogMarginMs() : std::nullopt;
}

std::set<uint32_t> Replicas::CaughtUp() const {
  return core_->started ? core_->progress.CaughtUp() : std::set<uint32_t>();
}

std::vector<std::string> Replicas::Problems() const {
  if (!core_->started) return {};
  std::vector<std::string> problems = core_->progress.Problems();
  for (std::string& one : core_->keeper->Problems()) problems.push_back(std::move(one));
  for (const std::string& one : {core_->reader->problem(), core_->policies->problem()}) {
    if (!one.empty()) problems.push_back(one);
  }
  return problems;
}

void Replicas::Watch() {
  if (core_->started) core_->Watch();
}

void Replicas::Await(uint32_t partition, int64_t next_offset, Time deadline,
                     std::function<void(bool)> done) {
  core_->progress.Await(partition, next_offset, deadline, std::move(done));
}

void Replicas::Append(const NewRecord& record, Time deadline,
                      std::function<void(Result<Appended>)> done) {
  if (!core_->started || !core_->progress.IsHeld(record.partition)) {
    return done(
        Status::Unavailable("partition " + std::to_string(record.partition) + " is not held here"));
  }
  core_->appender->Append(record, deadline, std::move(done));
}

void Replicas::Barrier(uint32_t partition, Time deadline, std::function<void(Status)> done) {
  if (!core_->started || !core_->progress.IsHeld(partition)) {
    return done(
        Status::Unavailable("partition " + std::to_string(partition) + " is not held here"));
  }
  core_->barriers->Await(partition, deadline, std::move(done));
}

}  // namespace seendb::replica
