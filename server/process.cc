#include "process.h"

#include <filesystem>
#include <utility>

#include "api/audit.h"
#include "doors.h"
#include "listener_metrics.h"
#include "ops/checkpoints.h"
#include "ops/exit_codes.h"
#include "ops/exposure.h"
#include "ops/log.h"
#include "ops/readable_files.h"
#include "seams.h"
#include "version.h"
#ifdef SEENDB_CONNECT
#include "connect/service.h"
#endif

namespace seendb {
namespace {

using ops::Log;
using ops::LogLevel;

/// How often the users that /metrics tells of are inspected, and the state that /readyz tells.
constexpr std::chrono::seconds kSampleEvery{1};

/// The service that clients of the Connect protocol are answered by, too.
std::unique_ptr<http::Service> ConnectOver([[maybe_unused]] http::Service* routes) {
#ifdef SEENDB_CONNECT
  return std::make_unique<connect::ConnectService>(routes);
#else
  return nullptr;
#endif
}

}  // namespace

Process::Process(const ops::Config& config, boost::asio::io_context* control)
    : config_(config),
      metrics_(api::RouteLabels()),
      context_(config_.limits, config_.engine.max_candidates, &health_, &metrics_,
               config_.manual_clock_ms ? &clock_.emplace(*config_.manual_clock_ms) : nullptr,
               config_.access_log),
      service_(&context_),
      connect_(ConnectOver(&service_)),
      secrets_(config_, &listener_, &context_),
      backups_(config_, &context_),
      items_(config_, &context_),
      sets_(config_, &context_),
      listener_(connect_ ? connect_.get() : &service_, {.limits = config_.limits,
                                                        .threads = ThreadsOf(config_),
                                                        .admission = &context_.admission}),
      sync_timer_(*control) {
  FillContext();
  if (config_.kafka) consumer_.emplace(*config_.kafka, config_.db + "/INGESTING");
  if (!config_.migration.empty()) context_.migrations = &migrations_.emplace(config_.migration);
  if (config_.cluster) {
    cluster_.emplace(config_, &context_, context_.migrations, consumer_ ? &*consumer_ : nullptr,
                     &secrets_);
  }
  if (config_.consul) consul_.emplace(config_, listener_);
  parts_ = Parts(List());
  if (consumer_ || cluster_ || consul_)
    context_.ingest_problems = [this] { return parts_.Problems(); };
  context_.listener_counters = [this](ops::MetricsSnapshot* to) {
    to->version = kServerVersion;
    to->commit = kServerCommit;
    to->db = config_.db;
    to->last_checkpoint_ms = context_.last_checkpoint.at_ms();
    parts_.FillMetrics(to);
  };
}

/// Fills in all that the settings alone say.
void Process::FillContext() {
  context_.checkpoints = config_.checkpoints;
  context_.samples_in_background = !clock_;
  context_.origins.emplace(config_.hosts, config_.origins, api::MachineName());
  context_.admin_apart = !config_.admin_listen.empty();
  context_.exposed = ops::ExposureOf(config_);
  context_.compress_filter = config_.compress_filter;
  context_.unsafe_integers.refuses = config_.refuse_unsafe_integers;
  // Plays of before an erasure may still be in a log, or be imported.
  context_.erase_always = config_.kafka.has_value() || !config_.migration.empty();
}

/// The parts, those first that others need: each ends after all behind it have.
std::vector<Part> Process::List() {
  std::vector<Part> list = {Checkpoints(), OpenedEngine()};
  if (migrations_) list.push_back(Migrations());
  list.push_back(items_.Row());
  list.push_back(sets_.Row());
  list.push_back(Doors());
  list.push_back(Workers());
  if (cluster_) list.push_back(cluster_->Replicas());
  list.push_back(Requests());
  if (cluster_) list.push_back(cluster_->Member());
  list.push_back(backups_.Row());
  list.push_back(Files());
  if (consumer_) list.push_back(Topics());
  if (consul_) list.push_back(consul_->Row());
  return list;
}

Part Process::Checkpoints() {
  return {.name = "checkpoints", .prepare = [this]() -> std::optional<int> {
            context_.last_checkpoint.Load(config_.db);
            const Status made = ops::PrepareCheckpoints(config_.checkpoints, config_.db);
            if (made.ok()) return {};
            Log(LogLevel::kError, "checkpoints_failed",
                {{"checkpoints", config_.checkpoints}, {"error", made.ToString()}});
            return ops::ExitCodeOf(made.code());
          }};
}

Part Process::OpenedEngine() {
  return {.name = "engine", .stop = [this](int64_t) {
            const Status status = engine_ ? engine_->Close() : Status();
            if (!status.ok() && open_failure_.ok()) {
              Log(LogLevel::kError, "close_failed", {{"error", status.ToString()}});
              close_failed_ = true;
            }
            return true;
          }};
}

Part Process::Migrations() {
  return {.name = "migrations",
          .open =
              [this](Engine* engine) {
                Status opened = migrations_->Open(config_.db);
                if (!opened.ok()) return opened;
                migrations_->Start(engine, cluster_ ? cluster_->MigrationNode(engine) : nullptr);
                return opened;
              },
          .stop =
              [this](int64_t) {
                migrations_->Stop();
                return true;
              },
          .metrics = [this](auto* to) { to->migrations = migrations_->States(); }};
}

/// Clients come in here. The listener is open by then.
Part Process::Doors() {
  return {.name = "doors",
          .open =
              [this](Engine* engine) {
                service_.EngineOpening(engine);
                opening_ = true;
                listener_.Admit();
                return Status::Ok();
              },
          .start =
              [this](Engine* engine) {
                service_.EngineOpened(engine);
                TellReady();
              },
          .stop =
              [this](int64_t) {
                listener_.Stop();
                return true;
              },
          .metrics = [this](auto* to) { FillListener(listener_, to); }};
}

/// They call the engine, for clients and by themselves.
Part Process::Workers() {
  return {.name = "workers",
          .start =
              [this](Engine* engine) {
                if (clock_) return SyncLater();
                sampling_.Start("sampler", kSampleEvery,
                                [=, this] { context_.sampler.Sample(engine); });
                looking_.Start("watch", kSampleEvery, [=, this] {
                  context_.readiness.Look(engine, context_.ingest_problems);
                });
              },
          .stop =
              [this](int64_t grace_ms) {
                return listener_.StopWorkers(grace_ms) && sampling_.Stop(grace_ms) &&
                       looking_.Stop(grace_ms);
              }};
}

Part Process::Requests() {
  return {.name = "requests",
          .leave = [this] { listener_.BeginDrain(); },
          .stop =
              [this](int64_t grace_ms) {
                if (!listener_.WaitIdle(grace_ms)) Log(LogLevel::kWarn, "requests_cut_off");
                return true;
              }};
}

/// Certificate, tokens, secrets, and the file of the audit.
Part Process::Files() {
  return {.name = "files",
          .prepare =
              [this] {
                const bool read = secrets_.Load() && api::OpenAudit(config_.audit, &context_);
                return read ? std::optional<int>() : ops::kExitUsage;
              },
          .metrics = [this](auto* to) { to->certificate_expires_s = secrets_.expires_s(); }};
}

/// The business's own topics.
Part Process::Topics() {
  context_.ingest_state = [this] { return consumer_->State(); };
  return {.name = "topics",
          .prepare = [this]() -> std::optional<int> {
            const Status ready = consumer_->Prepare();
            if (ready.ok()) return {};
            Log(LogLevel::kError, "kafka_settings",
                {{"key", ready.field()}, {"error", ready.ToString()}});
            return ready.code() == StatusCode::kInvalidArgument ? ops::kExitUsage
                                                                : ops::kExitFailure;
          },
          .shape =
              [this](Options* options) {
                return cluster_ ? consumer_->CheckShapes(options->shards)
                                : consumer_->CheckItemTopics();
              },
          .start =
              [this](Engine* engine) {
                std::optional<ingest::ShardTopics> shards;
                if (cluster_) shards = cluster_->ShardTopics();
                consumer_->Start(engine, context_.migrations, std::move(shards), items_.Sink());
              },
          .stop =
              [this](int64_t) {
                consumer_->Stop();
                return true;
              },
          .problems =
              [this](auto* to) {
                for (std::string& one : consumer_->Problems()) to->push_back(std::move(one));
              }};
}

Status Process::Open() {
  open_failure_ = OpenEngine();
  return open_failure_;
}

Status Process::OpenEngine() {
  Options options = config_.engine;
  if (Status shaped = parts_.Shape(&options); !shaped.ok()) return shaped;
  Seams seams;
  if (config_.default_policy && std::filesystem::exists(config_.db + "/SEENDB")) {
    Log(LogLevel::kInfo, "default_policy_ignored",
        {{"db", config_.db}, {"reason", "the database is there; PUT /collections/default"}});
  }
  if (clock_) {
    seams.clock = &*clock_;
    options.background = false;
  }
  options.open_later = true;
  Result<std::unique_ptr<Engine>> result = Engine::Open(config_.db, options, seams);
  if (!result.ok()) return result.status();
  engine_ = std::move(result).value();
  Status status = parts_.Open(engine_.get());
  if (status.ok()) status = engine_->FinishOpening();
  if (status.ok()) status = parts_.Finish(engine_.get());
  if (!status.ok() || !clock_) return status;
  if (const Status due = engine_->RunDue(); !due.ok()) {
    Log(LogLevel::kWarn, "due_work_failed", {{"error", due.ToString()}});
  }
  return status;
}

void Process::TellReady() {
  const EngineStats stats = engine_->Stats();
  Log(stats.degraded ? LogLevel::kWarn : LogLevel::kInfo, "ready",
      {{"db", config_.db},
       {"listen", listener_.address()},
       {"threads", ThreadsOf(config_)},
       {"shards", stats.shards},
       {"replayed_plays", stats.replayed_plays},
       {"degraded", stats.degraded},
       {"problems", stats.problems}});
  told_ = stats.problems;
  ops::TellReadableFiles(config_.db);
  TellDoors(config_, listener_);
  manager_.Ready(listener_.address());
}

/// With a manual clock the engine has no background threads; durability still goes by the
/// machine's time.
void Process::SyncLater() {
  sync_timer_.expires_after(std::chrono::milliseconds(config_.engine.sync_interval_ms));
  sync_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    if (const Status status = engine_->Sync(); !status.ok()) {
      Log(LogLevel::kError, "sync_failed", {{"error", status.ToString()}});
    }
    SyncLater();
  });
}

void Process::Start() { parts_.Start(engine_.get()); }

std::vector<std::string> Process::Problems() const {
  std::vector<std::string> problems = engine_->Stats().problems;
  for (std::string& one : parts_.Problems()) problems.push_back(std::move(one));
  return problems;
}

std::optional<std::string_view> Process::Stop(int64_t grace_ms) { return parts_.Stop(grace_ms); }

Status Process::SyncAtOnce() { return opening_ ? engine_->Sync() : Status(); }

}  // namespace seendb
