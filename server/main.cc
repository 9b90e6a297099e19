// seendb-server: composes the rooms. The port opens first; the database is opened and replayed
// behind it; then one line on stdout says where it listens. SIGTERM or SIGINT: no new requests,
// those in flight are finished, everything is synced, exit 0.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api/audit.h"
#include "api/service.h"
#include "check_config.h"
#include "cluster_metrics.h"
#include "cluster_migration.h"
#include "descriptors.h"
#include "doors.h"
#include "http/listener.h"
#include "ingest/consumer.h"
#include "listener_metrics.h"
#include "load_watch.h"
#include "membership/node.h"
#include "migration/migration.h"
#include "moves.h"
#include "ops/checkpoints.h"
#include "ops/config.h"
#include "ops/exit_codes.h"
#include "ops/exposure.h"
#include "ops/log.h"
#include "ops/periodic.h"
#include "ops/private_process.h"
#include "ops/problem_log.h"
#include "ops/readable_files.h"
#include "ops/service_manager.h"
#include "replica/replicas.h"
#include "router/router.h"
#include "router_node.h"
#include "seams.h"
#include "secrets.h"
#include "seendb/engine.h"
#include "topics_node.h"
#include "version.h"

namespace seendb {
namespace {

using ops::Log;
using ops::LogLevel;

constexpr std::chrono::seconds kWatchEvery{5};
/// How long a node of a cluster that starts lets connections wait.
constexpr std::chrono::seconds kHeldMost{10};
/// How often the users that /metrics tells of are inspected, and the state that /readyz tells.
constexpr std::chrono::seconds kSampleEvery{1};

/// The process: one of these, run once.
class App {
 public:
  explicit App(const ops::Config& config)
      : config_(config),
        metrics_(api::RouteLabels()),
        context_(config.limits, config.engine.max_candidates, &health_, &metrics_,
                 config.manual_clock_ms ? &clock_.emplace(*config.manual_clock_ms) : nullptr,
                 config.access_log),
        service_(&context_),
        listener_(&service_, {.limits = config.limits,
                              .threads = ThreadsOf(config),
                              .admission = &context_.admission}),
        secrets_(config_, &listener_, &context_),
        load_watch_(&control_, config_, ThreadsOf(config_), &context_.admission),
        signals_(control_, SIGTERM, SIGINT),
        hangups_(control_, SIGHUP),
        sync_timer_(control_),
        watch_timer_(control_),
        leave_timer_(control_),
        admit_timer_(control_) {
    context_.checkpoints = config_.checkpoints;
    context_.samples_in_background = !clock_;
    context_.origins.emplace(config_.hosts, config_.origins, api::MachineName());
    context_.admin_apart = !config_.admin_listen.empty();
    context_.exposed = ops::ExposureOf(config_);
    context_.compress_filter = config_.compress_filter;
    context_.unsafe_integers.refuses = config_.refuse_unsafe_integers;
    if (config_.kafka) {
      consumer_.emplace(*config_.kafka, config_.db + "/INGESTING");
      context_.erase_always = true;  // plays of before the erasure may still be in the log
      context_.ingest_state = [this] { return consumer_->State(); };
      context_.ingest_problems = [this] { return consumer_->Problems(); };
    }
    if (!config_.migration.empty()) {
      context_.migrations = &migrations_.emplace(config_.migration);
      context_.erase_always = true;  // plays of before the erasure may still be imported
    }
    if (config_.cluster) JoinCluster();
    context_.listener_counters = [this](ops::MetricsSnapshot* to) { FillCounters(to); };
  }

  int Run() {
    context_.last_checkpoint.Load(config_.db);
    if (const Status made = ops::PrepareCheckpoints(config_.checkpoints, config_.db); !made.ok()) {
      Log(LogLevel::kError, "checkpoints_failed",
          {{"checkpoints", config_.checkpoints}, {"error", made.ToString()}});
      return ops::ExitCodeOf(made.code());
    }
    if (const Status ready = consumer_ ? consumer_->Prepare() : Status(); !ready.ok()) {
      Log(LogLevel::kError, "kafka_settings",
          {{"key", ready.field()}, {"error", ready.ToString()}});
      return ready.code() == StatusCode::kInvalidArgument ? ops::kExitUsage : ops::kExitFailure;
    }
    if (const Status ready = node_ ? node_->Prepare() : Status(); !ready.ok()) {
      Log(LogLevel::kError, "cluster_settings",
          {{"key", ready.field()}, {"error", ready.ToString()}});
      return ops::kExitUsage;
    }
    if (node_) RouteThroughCluster();
    if (!secrets_.Load() || !api::OpenAudit(config_.audit, &context_)) return ops::kExitUsage;
    if (!OpenDoors(config_, &listener_)) return ops::kExitFailure;
    if (!context_.exposed.empty()) {
      Log(LogLevel::kWarn, "exposed", {{"problem", context_.exposed}});
    }
    listener_.Start(/*held=*/node_.has_value());
    AdmitLater();
    RenewOnHangup();
    load_watch_.Start();
    Log(LogLevel::kInfo, "opening", {{"db", config_.db}, {"listen", listener_.address()}});
    manager_.Opening([this] { return opening_ ? engine_.get() : nullptr; });
    AwaitSignal();
    std::promise<void> opened;
    opened_ = opened.get_future();
    std::thread opener([this, &opened] {
      OpenEngine();
      opened.set_value();
      boost::asio::post(control_, [this] { Opened(); });
    });
    control_.run();
    const int code = Shutdown();  // does not return while the engine opens for ever
    opener.join();
    return code;
  }

 private:
  void JoinCluster() {
    net::TlsFiles own;
    if (config_.tls) own = {.certificate = config_.tls->certificate, .key = config_.tls->key};
    node_.emplace(*config_.cluster, config_.db, kServerVersion, std::move(own));
    context_.cluster = api::ClusterView{
        .report = [this] { return node_->Report(); },
        .status = [this] { return node_->StatusReport(); },
        .proofs = node_->proofs().get(),
        .why_not_ready = "the cluster's records are being read, or the node's shards opened",
    };
    replicas_.emplace(replica::ReplicasOptions{
        .access = node_->access(),
        .cluster = node_->config().name,
        .node = node_->config().node,
        .db = config_.db,
        .meta = [this] { return node_->meta(); },
        .read_meta_to_end = [this](auto most) { return node_->ReadMetaToEnd(most); },
        .views = [this] { return node_->AllViews(); },
        .states_changed = [this] { node_->RenewTable(); },
        .collections_changed = [this] { context_.catalog.Renew(engine_.get()); },
        .topics_behind_ms = TopicsBehind(),
        .copies = [this] { return moves_->Copies(); },
        .fetch = [this](uint32_t partition, int64_t least,
                        const auto& stopping) { return moves_->Fetch(partition, least, stopping); },
        .migrations = context_.migrations});
    node_->TellReplicas([this] { return WithOldStores(replicas_->Report(), context_.migrations); });
    TellOfLackingShards(&*replicas_, &*node_, &*context_.cluster);
    context_.ingest_problems = [this] { return ClusterProblems(); };
  }

  /// What the shards lack of the business's own topics; null where there are none.
  std::function<std::map<uint32_t, int64_t>()> TopicsBehind() const {
    if (!consumer_) return {};
    return [this] { return consumer_->BehindMs(); };
  }

  /// Requests about users go to the node that has them, and shards to the nodes that are to.
  void RouteThroughCluster() {
    moves_.emplace(&*node_, config_.db);
    context_.cluster->snapshots = [this](api::Call& call) { moves_->Answer(call); };
    router_.emplace(&context_, RouterNodeOf(&*node_, &*replicas_), &node_->peers());
    context_.router = &*router_;
    secrets_.AlsoOf(&*node_);
  }

  std::vector<std::string> ClusterProblems() const {
    std::vector<std::string> problems = node_->Problems();
    for (std::string& one : replicas_->Problems()) problems.push_back(std::move(one));
    if (!consumer_) return problems;
    for (std::string& one : consumer_->Problems()) problems.push_back(std::move(one));
    return problems;
  }

  /// Everything that the log is to be told of.
  std::vector<std::string> AllProblems() const {
    std::vector<std::string> problems = engine_->Stats().problems;
    if (!node_) return problems;
    for (std::string& one : ClusterProblems()) problems.push_back(std::move(one));
    return problems;
  }

  /// A node that starts makes clients wait rather than fail, until it knows whom to ask.
  void AdmitLater() {
    admit_timer_.expires_after(kHeldMost);
    admit_timer_.async_wait([this](const boost::system::error_code&) { listener_.Admit(); });
  }

  void RenewOnHangup() {
    hangups_.async_wait([this](const boost::system::error_code& ec, int) {
      if (ec) return;
      secrets_.Renew(/*all=*/true);
      load_watch_.Reload();
      if (context_.audit) context_.audit->Reopen();
      RenewOnHangup();
    });
  }

  void OpenEngine() {
    Options options = config_.engine;
    if (node_) {
      open_failure_ = node_->Open();
      if (!open_failure_.ok()) return;
      Result<Options> wanted =
          replica::Replicas::EngineOptions(*node_->meta()->init(), config_.engine);
      open_failure_ = wanted.status();
      if (wanted.ok() && consumer_) open_failure_ = consumer_->CheckShapes(wanted->shards);
      if (!open_failure_.ok()) return;
      options = std::move(wanted).value();
    }
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
    if (!result.ok()) {
      open_failure_ = result.status();
      return;
    }
    engine_ = std::move(result).value();
    if (migrations_) {
      open_failure_ = migrations_->Open(config_.db);
      if (!open_failure_.ok()) return;
      if (node_) migration_node_ = MigrationNodeOf(&*node_, &*router_, engine_.get());
      migrations_->Start(engine_.get(), node_ ? &migration_node_ : nullptr);
    }
    service_.EngineOpening(engine_.get());
    opening_ = true;
    listener_.Admit();
    open_failure_ = engine_->FinishOpening();
    if (open_failure_.ok() && moves_) open_failure_ = moves_->Start(engine_.get());
    if (open_failure_.ok() && replicas_) open_failure_ = replicas_->Start(engine_.get());
    if (!open_failure_.ok() || !clock_) return;
    if (const Status status = engine_->RunDue(); !status.ok()) {
      Log(LogLevel::kWarn, "due_work_failed", {{"error", status.ToString()}});
    }
  }

  void Opened() {  // on the control thread, once OpenEngine has run
    if (stopping_) return;
    if (!open_failure_.ok()) {
      Log(LogLevel::kError, "open_failed",
          {{"db", config_.db},
           {"code", StatusCodeName(open_failure_.code())},
           {"error", open_failure_.message()}});
      exit_code_ = ops::ExitCodeOf(open_failure_.code());
      control_.stop();
      return;
    }
    if (node_) node_->RenewTable();
    service_.EngineOpened(engine_.get());
    const EngineStats stats = engine_->Stats();
    Log(stats.degraded ? LogLevel::kWarn : LogLevel::kInfo, "ready",
        {{"db", config_.db},
         {"listen", listener_.address()},
         {"threads", ThreadsOf(config_)},
         {"shards", stats.shards},
         {"replayed_plays", stats.replayed_plays},
         {"degraded", stats.degraded},
         {"problems", stats.problems}});
    ops::TellReadableFiles(config_.db);
    TellDoors(config_, listener_);
    manager_.Ready(listener_.address());
    if (clock_) {
      SyncLater();
    } else {
      sampling_.Start(kSampleEvery, [this] { context_.sampler.Sample(engine_.get()); });
      looking_.Start(kSampleEvery,
                     [this] { context_.readiness.Look(engine_.get(), context_.ingest_problems); });
    }
    if (consumer_) StartConsumer();
    static_cast<void>(problems_.Look(stats.problems));  // in the line above
    WatchLater();
  }

  void StartConsumer() {
    std::optional<ingest::ShardTopics> shards;
    if (node_) shards = ShardTopicsOf(&*node_, &*replicas_);
    consumer_->Start(engine_.get(), context_.migrations, std::move(shards));
  }

  /// What goes wrong in the background is found in the log as well.
  void WatchLater() {
    watch_timer_.expires_after(kWatchEvery);
    watch_timer_.async_wait([this](const boost::system::error_code& ec) {
      if (ec) return;
      secrets_.Renew(/*all=*/false);
      const ops::ProblemLog::Changes changes = problems_.Look(AllProblems());
      for (const std::string& text : changes.begun) {
        Log(LogLevel::kWarn, "problem", {{"problem", text}});
      }
      for (const std::string& text : changes.over) {
        Log(LogLevel::kInfo, "problem_over", {{"problem", text}});
      }
      WatchLater();
    });
  }

  /// With a manual clock the engine has no background threads; durability still goes by the
  /// machine's time.
  void SyncLater() {
    sync_timer_.expires_after(std::chrono::milliseconds(config_.engine.sync_interval_ms));
    sync_timer_.async_wait([this](const boost::system::error_code& ec) {
      if (ec) return;
      if (const Status status = engine_->Sync(); !status.ok()) {
        Log(LogLevel::kError, "sync_failed", {{"error", status.ToString()}});
      }
      SyncLater();
    });
  }

  void AwaitSignal() {
    signals_.async_wait([this](const boost::system::error_code& ec, int signal) {
      if (!ec) Signalled(signal);
    });
  }

  /// With a delay, /readyz says so before requests are refused, so that whoever sends them can look
  /// for another server. A second signal cuts it short.
  void Signalled(int signal) {
    const int64_t delay_ms = config_.limits.shutdown_delay_ms;
    const bool leaves = health_.phase() == ops::Phase::kReady && delay_ms > 0;
    Log(LogLevel::kInfo, leaves ? "leaving" : "stopping", {{"signal", signal}});
    if (!leaves) return StopNow();
    health_.Set(ops::Phase::kLeaving);
    leave_timer_.expires_after(std::chrono::milliseconds(delay_ms));
    leave_timer_.async_wait([this](const boost::system::error_code& ec) {
      if (!ec) StopNow();
    });
    AwaitSignal();
  }

  void StopNow() {
    stopping_ = true;
    health_.Set(ops::Phase::kStopping);
    control_.stop();
  }

  int Shutdown() {
    health_.Set(ops::Phase::kStopping);
    manager_.Stopping();
    if (node_) node_->Stop();
    listener_.BeginDrain();
    const int64_t grace_ms = config_.limits.shutdown_ms;
    if (opened_.wait_for(std::chrono::milliseconds(grace_ms)) != std::future_status::ready) {
      Log(LogLevel::kWarn, "stopped_while_opening");
      _exit(!opening_ || engine_->Sync().ok() ? ops::kExitOk : ops::kExitFailure);
    }
    if (consumer_) consumer_->Stop();
    if (moves_) moves_->Stop();
    if (!listener_.WaitIdle(grace_ms)) Log(LogLevel::kWarn, "requests_cut_off");
    if (node_) node_->End();
    if (replicas_) replicas_->Stop();
    if (!listener_.StopWorkers(grace_ms) || !sampling_.Stop(grace_ms) || !looking_.Stop(grace_ms)) {
      // An engine can't be closed under a running call; synced, it can be left as it is.
      Log(LogLevel::kWarn, "work_cut_off");
      _exit(!engine_ || engine_->Sync().ok() ? ops::kExitOk : ops::kExitFailure);
    }
    listener_.Stop();
    if (migrations_) migrations_->Stop();
    if (engine_) {
      const Status status = engine_->Close();
      if (!status.ok() && open_failure_.ok()) {
        Log(LogLevel::kError, "close_failed", {{"error", status.ToString()}});
        exit_code_ = ops::kExitFailure;
      }
    }
    Log(LogLevel::kInfo, "stopped", {{"exit_code", exit_code_}});
    return exit_code_;
  }

  void FillCounters(ops::MetricsSnapshot* to) const {
    to->version = kServerVersion;
    to->commit = kServerCommit;
    to->db = config_.db;
    to->last_checkpoint_ms = context_.last_checkpoint.at_ms();
    FillListener(listener_, to);
    if (router_) router_->FillMetrics(to);
    if (moves_) moves_->FillMetrics(to);
    if (node_) FillCluster(*node_, *replicas_, to);
    to->certificate_expires_s = secrets_.expires_s();
    if (migrations_) to->migrations = migrations_->States();
  }

  const ops::Config config_;
  std::optional<ops::ManualClock> clock_;
  ops::Health health_;
  ops::Metrics metrics_;
  api::Context context_;
  api::ApiService service_;
  std::unique_ptr<Engine> engine_;
  Status open_failure_;
  std::optional<ingest::Consumer> consumer_;         // stopped before the engine goes
  std::optional<migration::Migrations> migrations_;  // likewise
  migration::ClusterNode migration_node_;            // as migrations_ see it
  std::optional<membership::Node> node_;             // of a cluster
  std::optional<replica::Replicas> replicas_;        // its shards; stopped before the engine goes
  std::optional<Moves> moves_;                       // likewise
  std::optional<router::ClusterRouter> router_;
  http::Listener listener_;  // stopped before the engine goes

  Secrets secrets_;

  boost::asio::io_context control_;
  LoadWatch load_watch_;
  boost::asio::signal_set signals_, hangups_;
  boost::asio::steady_timer sync_timer_, watch_timer_, leave_timer_, admit_timer_;
  ops::Periodic sampling_, looking_;  // stopped before the engine goes
  ops::ServiceManager manager_;       // likewise
  ops::ProblemLog problems_;          // on the control thread
  std::future<void> opened_;
  std::atomic<bool> opening_{false};  // engine_ is there, and some of its shards may be open
  bool stopping_ = false;
  int exit_code_ = ops::kExitOk;
};

}  // namespace
}  // namespace seendb

int main(int argc, char** argv) {
  const seendb::ops::CommandLine line = seendb::ops::ReadCommandLine(
      argc, argv, std::string(seendb::kServerVersion) + " (" + seendb::kServerCommit + ")");
  if (!line.config) {
    std::fputs(line.output.c_str(), line.exit_code == 0 ? stdout : stderr);
    return line.exit_code;
  }
  if (line.check_config) return seendb::CheckConfig(*line.config);
  std::signal(SIGPIPE, SIG_IGN);
  seendb::ops::Config config = *line.config;
  seendb::ops::StartLog(config.log_level);
  seendb::ops::KeepPrivate(config.core_dumps);  // what people watched, and keys
  seendb::FitConnections(&config.limits);
  return seendb::App(config).Run();
}
