#include "replica/replicas.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "ops/log.h"
#include "replica/appender.h"
#include "replica/applier.h"
#include "replica/barriers.h"
#include "replica/keeper.h"
#include "replica/log_ends.h"
#include "replica/policies.h"
#include "replica/progress.h"
#include "replica/reader.h"

namespace seendb::replica {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kStep{10}, kTickEvery{200}, kQuiet{1'000}, kStoodStill{1'000};
constexpr milliseconds kReadMetaAgain{2'000};
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
  /// The replicas held, and those that are cut off from their log as of now.
  std::vector<Progress::Standing> Standings() const;
  /// What is wrong with the way to the log; empty: nothing is.
  std::string CutOffProblem() const;

  const ReplicasOptions options;
  Engine* engine = nullptr;
  Progress progress;
  std::unique_ptr<Appender> appender;
  std::unique_ptr<Barriers> barriers;
  std::unique_ptr<Policies> policies;
  std::unique_ptr<Keeper> keeper;
  std::unique_ptr<Reader> reader;
  std::unique_ptr<LogEnds> ends;
  std::atomic<bool> started{false};

 private:
  void Run();
  void TellChanges();
  /// Where nothing happens, the first node of a list that is up says so, and the next ones where
  /// it does not; and each node where the log took nothing, to see whether it does again.
  void Tick();

  std::unique_ptr<Applier> applier_;
  std::vector<Progress::Standing> standings_;  // that were told of
  std::atomic<Time> beat_{Time()};             // when the process was known to run last
  std::atomic<bool> stopping_{false};
  std::thread timer_;
};

Status Core::Start(Engine* the_engine) {
  engine = the_engine;
  const std::string topic = cluster::LogTopicOf(options.cluster);
  Result<std::unique_ptr<Appender>> made =
      Appender::New(options.access, topic, options.limits, options.meta);
  if (!made.ok()) return made.status();
  appender = std::move(made).value();
  barriers = std::make_unique<Barriers>([this](uint32_t partition, auto done) {
    appender->Append({.partition = partition, .arrival_ms = engine->NowMs()},
                     steady_clock::now() + kBarrier, std::move(done));
  });
  policies = std::make_unique<Policies>(engine, options.collections_changed, options.migrations);
  // What a record is judged by, the engine follows first: else a play of a collection that was made
  // anew could get into the one before it, and go with that.
  const auto followed = [this] {
    auto meta = options.meta();
    policies->Follow(meta, progress.version());
    return meta;
  };
  // Of records that wait for it one asks: the others would keep all partitions waiting.
  const auto read_meta = [this, not_before = Time{}](milliseconds most) mutable {
    if (steady_clock::now() < not_before) return false;
    const bool read = options.read_meta_to_end(most);
    if (!read) not_before = steady_clock::now() + kReadMetaAgain;
    return read;
  };
  applier_ = std::make_unique<Applier>(Applier::Context{
      engine, topic, followed, read_meta, options.migrations, [this] { return reader->Ends(); }});
  for (const uint32_t partition : engine->AttachedShards()) {
    progress.Hold(partition);
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
  ends = std::make_unique<LogEnds>(options.access, topic, &progress);
  if (Status status = reader->Start(); !status.ok()) return status;
  if (Status status = ends->Start(); !status.ok()) return status;
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
  if (ends) ends->Stop();
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
  progress.Doubt();
  options.states_changed();
  if (!beat_.compare_exchange_strong(beat, now)) return;
  ops::Log(ops::LogLevel::kWarn, "stood_still",
           {{"ms", std::chrono::duration_cast<milliseconds>(now - beat).count()}});
}

std::vector<Progress::Standing> Core::Standings() const {
  auto standings = progress.Standings(steady_clock::now());
  const std::set<uint32_t> down = appender->Down();
  for (auto& one : standings) one.cut_off = one.cut_off || down.contains(one.partition);
  return standings;
}

void Core::TellChanges() {
  auto standings = Standings();
  if (standings == standings_) return;
  standings_ = std::move(standings);
  options.states_changed();
}

std::string Core::CutOffProblem() const {
  std::vector<uint32_t> cut_off;
  for (const auto& one : Standings()) {
    if (one.cut_off) cut_off.push_back(one.partition);
  }
  if (cut_off.empty()) return {};
  std::string why = ends->problem();
  if (why.empty()) why = appender->WhyDown();
  return "there is no way to the log of " + cluster::PartitionsText(cut_off) +
         ", which this node leads only if no other can: " + (why.empty() ? "no answer" : why);
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
  const std::set<uint32_t> down = appender->Down();
  const auto now = steady_clock::now();
  for (const auto& [partition, applied_at] : progress.AppliedAt()) {
    const auto place = cluster::TickPlace(partition, options.node, *meta, views);
    const bool quiet = place && now - applied_at >= kQuiet * (*place + 1);
    if (quiet || down.contains(partition)) appender->Tick(partition, engine->NowMs());
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
  auto report = core_->progress.Report(core_->engine->NowMs(), steady_clock::now(),
                                       options.topics_behind_ms ? &topics : nullptr);
  for (const uint32_t partition : core_->appender->Down()) {
    if (const auto one = report.find(partition); one != report.end()) one->second.cut_off = true;
  }
  if (!options.copies) return report;
  for (const auto& [partition, copy] : options.copies()) {
    if (const auto one = report.find(partition); one != report.end()) one->second.copy = copy;
  }
  return report;
}

std::set<uint32_t> Replicas::None() const {
  return core_->started ? core_->keeper->None() : std::set<uint32_t>();
}

Status Replicas::BeginEmpty(uint32_t partition) {
  if (!core_->started) return Status::Unavailable("the shards are being opened");
  return core_->keeper->BeginEmpty(partition);
}

std::optional<int64_t> Replicas::LogMarginMs() const {
  return core_->started ? core_->keeper->LogMarginMs() : std::nullopt;
}

bool Replicas::is_started() const { return core_->started; }

uint64_t Replicas::AppendFailures() const {
  return core_->started ? core_->appender->failures() : 0;
}

std::set<uint32_t> Replicas::CaughtUp() const {
  return core_->started ? core_->progress.CaughtUp() : std::set<uint32_t>();
}

std::vector<std::string> Replicas::Problems() const {
  if (!core_->started) return {};
  std::vector<std::string> problems = core_->progress.Problems();
  for (std::string& one : core_->keeper->Problems()) problems.push_back(std::move(one));
  for (const std::string& one :
       {core_->CutOffProblem(), core_->reader->problem(), core_->policies->problem()}) {
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
