#include "cluster_part.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backups.h"
#include "cluster_metrics.h"
#include "cluster_migration.h"
#include "ops/exit_codes.h"
#include "ops/log.h"
#include "router_node.h"
#include "topics_node.h"
#include "version.h"

namespace seendb {
namespace {

net::TlsFiles OwnFiles(const ops::Config& config) {
  if (!config.tls) return {};
  return {.certificate = config.tls->certificate, .key = config.tls->key};
}

}  // namespace

ClusterPart::ClusterPart(const ops::Config& config, api::Context* context,
                         migration::Migrations* migrations, const ingest::Consumer* consumer,
                         Secrets* secrets)
    : config_(config),
      context_(*context),
      migrations_(migrations),
      consumer_(consumer),
      secrets_(*secrets),
      node_(*config.cluster, config.db, kServerVersion, OwnFiles(config)) {
  context_.cluster = api::ClusterView{
      .report = [this] { return node_.Report(); },
      .status = [this] { return node_.StatusReport(); },
      .proofs = node_.proofs().get(),
      .why_not_ready = "the cluster's records are being read, or the node's shards opened",
  };
  replicas_.emplace(OptionsOfReplicas());
  sets_.emplace(OptionsOfSets());
  context_.sets.Announce();
  node_.TellReplicas([this] { return WithOldStores(replicas_->Report(), migrations_); });
  TellOfLackingShards(&*replicas_, &node_, &*context_.cluster);
}

replica::ReplicasOptions ClusterPart::OptionsOfReplicas() {
  replica::ReplicasOptions options{
      .access = node_.access(),
      .cluster = node_.config().name,
      .node = node_.config().node,
      .db = config_.db,
      .meta = [this] { return node_.meta(); },
      .read_meta_to_end = [this](auto most) { return node_.ReadMetaToEnd(most); },
      .views = [this] { return node_.AllViews(); },
      .states_changed = [this] { node_.RenewTable(); },
      .collections_changed =
          [this] { context_.catalog.Renew(context_.engine.load(std::memory_order_acquire)); },
      .copies = [this] { return moves_->Copies(); },
      .fetch = [this](uint32_t partition, int64_t least,
                      const auto& stopping) { return moves_->Fetch(partition, least, stopping); },
      .migrations = migrations_};
  if (consumer_ != nullptr) options.topics_behind_ms = [this] { return consumer_->BehindMs(); };
  return options;
}

replica::SharedSetsOptions ClusterPart::OptionsOfSets() {
  return {.access = node_.access(),
          .cluster = node_.config().name,
          .folder = (std::filesystem::path(config_.db) / "sets").string(),
          .log_version = [this] { return node_.meta()->log_version(); },
          .cleans =
              [this] {
                const auto table = node_.table();
                if (table == nullptr) return false;
                const auto& others = table->up();
                return others.empty() || node_.config().node < others.begin()->first;
              }};
}

Part ClusterPart::Replicas() {
  return {
      .name = "replicas",
      .stop =
          [this](int64_t) {
            node_.End();
            replicas_->Stop();
            sets_->Stop();
            return true;
          },
      .problems =
          [this](std::vector<std::string>* to) {
            for (std::string& one : node_.Problems()) to->push_back(std::move(one));
            for (std::string& one : replicas_->Problems()) to->push_back(std::move(one));
            for (std::string& one : sets_->Problems()) to->push_back(std::move(one));
          },
  };
}

Part ClusterPart::Member() {
  return {
      .name = "cluster",
      .prepare = [this] { return Prepare(); },
      .shape = [this](Options* options) { return Shape(options); },
      .finish = [this](Engine* engine) { return Finish(engine); },
      .leave = [this] { node_.Stop(); },
      .stop =
          [this](int64_t) {
            if (moves_) moves_->Stop();
            return true;
          },
      .metrics = [this](ops::MetricsSnapshot* to) { FillMetrics(to); },
  };
}

/// Requests about users go to the node that has them, and shards to the nodes that are to.
std::optional<int> ClusterPart::Prepare() {
  if (const Status ready = node_.Prepare(); !ready.ok()) {
    ops::Log(ops::LogLevel::kError, "cluster_settings",
             {{"key", ready.field()}, {"error", ready.ToString()}});
    return ops::kExitUsage;
  }
  moves_.emplace(&node_, config_.db, CopiesOfStores(context_));
  context_.cluster->snapshots = [this](api::Call& call) { return moves_->Answer(call); };
  router_.emplace(&context_, RouterNodeOf(&node_, &*replicas_), &node_.peers());
  context_.router = &*router_;
  secrets_.AlsoOf(&node_);
  return {};
}

Status ClusterPart::Shape(Options* options) {
  if (Status opened = node_.Open(); !opened.ok()) return opened;
  Result<Options> wanted = replica::Replicas::EngineOptions(*node_.meta()->init(), *options);
  if (!wanted.ok()) return wanted.status();
  *options = std::move(wanted).value();
  return Status::Ok();
}

Status ClusterPart::Finish(Engine* engine) {
  Status status = moves_->Start(engine);
  // Sets first: shards answer as soon as they are open.
  if (status.ok()) status = sets_->Start(node_.meta()->init()->uuid);
  if (status.ok()) context_.sets.Serve(sets_->store());
  if (status.ok()) status = replicas_->Start(engine);
  if (status.ok()) node_.RenewTable();
  return status;
}

const migration::ClusterNode* ClusterPart::MigrationNode(Engine* engine) {
  migration_node_ = MigrationNodeOf(&node_, &*router_, engine);
  return &migration_node_;
}

ingest::ShardTopics ClusterPart::ShardTopics() { return ShardTopicsOf(&node_, &*replicas_); }

void ClusterPart::FillMetrics(ops::MetricsSnapshot* to) const {
  if (router_) router_->FillMetrics(to);
  if (moves_) moves_->FillMetrics(to);
  FillCluster(node_, *replicas_, to);
}

}  // namespace seendb
