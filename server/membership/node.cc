#include "membership/node.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <sstream>
#include <utility>

#include <unistd.h>

#include "base/clock.h"
#include "base/whole_file.h"
#include "cluster/log_record.h"
#include "cluster/meta_cache.h"
#include "cluster/meta_log.h"
#include "cluster/node_report.h"
#include "cluster/report.h"
#include "membership/prober.h"
#include "ops/log.h"
#include "ops/secret_files.h"

namespace seendb::membership {
namespace {

using cluster::FollowerOptions;
using cluster::MemberRecord;
using cluster::Meta;
using cluster::NodeReport;
using cluster::NodeState;
using cluster::NodeView;

constexpr std::chrono::milliseconds kProbeEvery{1'000}, kProbeTimeout{1'000};
// Who answers later is heard in the next round.
constexpr std::chrono::milliseconds kGatherMost{200};
constexpr std::chrono::milliseconds kOpenPause{50};
constexpr int64_t kStopMs = 3'000;
constexpr int kSyslogWarning = 4;

std::string RandomName() {
  std::random_device random;
  return std::to_string((uint64_t{random()} << 32) | random());
}

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

/// The settings with what is not given filled in.
ops::ClusterConfig Filled(ops::ClusterConfig config) {
  if (config.node.empty()) config.node = HostName();
  if (config.zone.empty()) config.zone = config.node;
  return config;
}

Status At(const Status& status, const char* key) {
  return status.ok() ? status
                     : Status::InvalidArgument(std::string(status.message()),
                                               std::string("/cluster") + key);
}

void LogKafka(const rd_kafka_t*, int level, const char* facility, const char* text) {
  ops::Log(level <= kSyslogWarning ? ops::LogLevel::kWarn : ops::LogLevel::kDebug, "kafka",
           {{"facility", facility}, {"text", text}});
}

cluster::KafkaAccess AccessOf(const ops::ClusterConfig& config) {
  return {config.brokers, config.properties, LogKafka};
}

constexpr size_t kSecretFileBytesMost = 64u << 10;

bool IsSecret(const std::string& line) {
  return line.size() >= proof::kSecretBytesLeast && line.size() <= proof::kSecretBytesMost &&
         std::all_of(line.begin(), line.end(), [](char c) { return c > ' ' && c <= '~'; });
}

/// The file's lines: the secret by which proofs are made, and maybe one more that is taken.
Result<std::vector<std::string>> ReadSecrets(const std::string& path) {
  Status writers = ops::CheckWriters(path, "/cluster/secret_file");
  if (!writers.ok()) return writers;
  if (const std::string readable = ops::ReadableByEverybody(path); !readable.empty()) {
    ops::Log(ops::LogLevel::kWarn, "secret_readable",
             {{"key", "/cluster/secret_file"}, {"warning", readable}});
  }
  const Result<std::string> text = ReadWholeFile(path, kSecretFileBytesMost);
  if (!text.ok()) {
    return Status::InvalidArgument(std::string(text.status().message()), "/cluster/secret_file");
  }
  std::istringstream file(*text);
  std::vector<std::string> secrets;
  for (std::string line; secrets.size() <= proof::kSecretsMost && std::getline(file, line);) {
    if (secrets.empty() || !line.empty()) secrets.push_back(line);
  }
  if (secrets.empty()) return Status::InvalidArgument("can't be read", "/cluster/secret_file");
  const auto wrong = std::find_if_not(secrets.begin(), secrets.end(), IsSecret);
  if (wrong != secrets.end()) {
    return Status::InvalidArgument("line " + std::to_string(wrong - secrets.begin() + 1) +
                                       " must have 16 to 1024 characters without spaces",
                                   "/cluster/secret_file");
  }
  if (secrets.size() > proof::kSecretsMost) {
    return Status::InvalidArgument("may have two lines: a secret, and another one that is taken",
                                   "/cluster/secret_file");
  }
  return secrets;
}

/// Whom the node trusts, and what it shows.
net::TlsFiles Trusting(net::TlsFiles shown, const std::string& ca) {
  shown.ca = ca;
  shown.named_by = ca.empty() ? "trusted are the system's certificates: cluster.ca is not set"
                              : "trusted are those of cluster.ca";
  return shown;
}

}  // namespace

Status CheckSettings(const ops::ClusterConfig& given) {
  const ops::ClusterConfig config = Filled(given);
  Status status = At(cluster::CheckClusterName(config.name), "/name");
  if (status.ok()) status = At(cluster::CheckNodeName(config.node), "/node");
  if (status.ok()) status = At(cluster::CheckNodeName(config.zone), "/zone");
  if (status.ok()) status = At(cluster::CheckNodeUrl(config.advertise), "/advertise");
  if (!status.ok()) return status;
  const auto conf = cluster::ConfOf(AccessOf(config), {});
  return conf.ok() ? Status() : conf.status().WithFieldPrefix("/cluster/properties");
}

Status CheckFiles(const ops::ClusterConfig& config) {
  if (Status read = ReadSecrets(config.secret_file).status(); !read.ok()) return read;
  if (config.ca.empty()) return {};
  const auto made = net::MakeTlsContext({.ca = config.ca});
  return made.ok() ? Status() : made.status().WithFieldPrefix("/cluster");
}

Node::Node(ops::ClusterConfig config, std::string db, std::string build, net::TlsFiles shown)
    : config_(Filled(std::move(config))),
      db_(std::move(db)),
      build_(std::move(build)),
      incarnation_(RandomName()),
      tls_(Trusting(std::move(shown), config_.ca)),
      proofs_(std::make_shared<proof::Proofs>(config_.node)) {}

Node::~Node() {
  Stop();
  End();
}

Status Node::Prepare() {
  if (Status status = CheckSettings(config_); !status.ok()) return status;
  if (Status read = RenewSecrets(); !read.ok()) return read;
  if (!config_.backup_dir.empty()) {
    ops::Log(ops::LogLevel::kWarn, "backup_dir_unused",
             {{"text", "cluster.backup_dir is taken, but no backups are made as yet"}});
  }
  peers::PeerClientOptions options{.proofs = proofs_, .tls_named_by = tls_.named_by};
  options.tls_alone = SpeaksTls();
  peers_.emplace(options);
  options.answer_bytes_most = cluster::kNodeReportBytesMost;
  probes_.emplace(options);
  prober_.emplace(&*probes_, kProbeTimeout);
  return RenewTls();
}

Status Node::RenewSecrets() {
  Result<std::vector<std::string>> secrets = ReadSecrets(config_.secret_file);
  if (!secrets.ok()) return secrets.status();
  proofs_->SetSecrets(std::move(secrets).value());
  return {};
}

Status Node::RenewTls() {
  const Result<net::TlsContext> made = net::MakeTlsContext(tls_);
  if (!made.ok()) {
    return made.status().WithFieldPrefix(made.status().field() == "/ca" ? "/cluster" : "/tls");
  }
  peers_->SetTls(*made);
  probes_->SetTls(*made);
  return {};
}

Status Node::Open() {
  std::error_code failed;
  std::filesystem::create_directories(db_, failed);
  if (failed) return Status::IOError("can't make " + db_ + ": " + failed.message());
  FollowerOptions options;
  options.access = AccessOf(config_);
  options.cluster = config_.name;
  options.cache_path = db_ + "/" + cluster::kMetaCacheName;
  options.log = [](const char* event, const std::string& text) {
    ops::Log(ops::LogLevel::kWarn, event, {{"text", text}});
  };
  auto started = cluster::Follower::Start(std::move(options));
  if (!started.ok()) return started.status();
  cluster::Follower& follower = **started;
  {
    const MutexLock lock(mutex_);
    follower_ = std::move(started).value();
  }
  std::shared_ptr<const Meta> meta;
  while ((meta = follower.meta()) == nullptr || !meta->init()) {
    if (stopping_) return Status::Unavailable("told to stop");
    if (follower.is_stuck()) return Status::Incompatible(follower.problem());
    std::this_thread::sleep_for(kOpenPause);
  }
  if (Status home = cluster::CheckHome(db_, *meta->init()); !home.ok()) return home;
  if (meta->log_version() > cluster::kLogVersion) {
    return Status::Incompatible("the cluster writes log records of version " +
                                std::to_string(meta->log_version()) + "; this software reads " +
                                std::to_string(cluster::kLogVersion));
  }
  follower.RegisterAs(MemberRecord{.node = config_.node,
                                   .url = config_.advertise,
                                   .zone = config_.zone,
                                   .weight = config_.weight,
                                   .build = build_,
                                   .log_version = cluster::kLogVersion});
  ProbeOthers(kProbeTimeout);  // who is ready knows whom to ask
  probing_.Start("prober", kProbeEvery, [this] { ProbeOthers(kGatherMost); });
  return {};
}

void Node::Stop() { stopping_ = true; }

void Node::End() {
  if (probes_) probes_->Stop();
  probing_.Stop(kStopMs);
  if (peers_) peers_->Stop();
}

cluster::Follower* Node::follower() const {
  const MutexLock lock(mutex_);
  return follower_.get();
}

NodeReport Node::OwnReport() const {
  NodeReport report;
  report.incarnation = incarnation_;
  report.build = build_;
  report.now_ms = SystemClock()->NowMs();
  report.stopping = stopping_;
  // First: one that comes in between is told of twice.
  if (none_) report.none = none_();
  if (replicas_) report.replicas = replicas_();
  for (const auto& [partition, replica] : report.replicas) {
    if (replica.state != cluster::ReplicaState::kFetching) report.none.erase(partition);
  }
  if (const auto* const following = follower()) {
    if (const auto meta = following->meta()) report.meta_offset = meta->next_offset();
  }
  return report;
}

cluster::KafkaAccess Node::access() const { return AccessOf(config_); }

std::shared_ptr<const Meta> Node::meta() const {
  const auto* const following = follower();
  return following == nullptr ? nullptr : following->meta();
}

bool Node::ReadMetaToEnd(std::chrono::milliseconds most) {
  auto* const following = follower();
  return following != nullptr && following->ReadToEnd(most);
}

Node::Views Node::AllViews() const {
  Views views;
  {
    const MutexLock lock(mutex_);
    views = views_;
  }
  NodeView& own = views[config_.node];
  own.health.Answered();
  own.report = OwnReport();
  cluster::JudgeClocks(&views);
  return views;
}

Result<std::string> Node::Report() const {
  const auto known = meta();
  if (known == nullptr || !known->init()) {
    return Status::Unavailable("what the cluster is was not read from Kafka yet");
  }
  const Views views = AllViews();
  return cluster::ClusterToJson(config_.name, *known, &views, config_.brokers);
}

std::string Node::StatusReport() const {
  return cluster::NodeReportToJson(config_.node, OwnReport());
}

std::vector<uint32_t> Node::Leaderless() const {
  std::vector<uint32_t> leaderless;
  const auto whom = table();
  if (whom == nullptr || whom->placement_offset() < 0) return leaderless;
  for (uint32_t p = 0; p < whom->partitions(); ++p) {
    if (!whom->of(p).leader) leaderless.push_back(p);
  }
  return leaderless;
}

std::vector<std::string> Node::Problems() const {
  std::vector<std::string> problems;
  const auto* const following = follower();
  if (following != nullptr && !following->problem().empty()) {
    problems.push_back("cluster: " + following->problem());
  }
  if (const std::vector<uint32_t> leaderless = Leaderless(); !leaderless.empty()) {
    problems.push_back("no node leads " + cluster::PartitionsText(leaderless) +
                       ": nobody can write there");
  }
  for (std::string& one : cluster::ClockProblems(config_.node, AllViews())) {
    problems.push_back(std::move(one));
  }
  const MutexLock lock(mutex_);
  for (const auto& [node, why] : why_) {
    problems.push_back("node " + node + " does not answer: " + why);
  }
  return problems;
}

std::shared_ptr<const cluster::RoutingTable> Node::table() const {
  const MutexLock lock(mutex_);
  return table_;
}

void Node::RenewTable() {
  const MutexLock one_at_a_time(renewing_);
  const auto known = meta();
  if (known == nullptr || !known->init()) return;
  const auto before = table();
  auto table =
      std::make_shared<const cluster::RoutingTable>(config_.node, *known, AllViews(), before.get());
  const MutexLock lock(mutex_);
  table_ = std::move(table);
}

void Node::Served(const std::string& node) { Met(node, &cluster::NodeHealth::Served); }
void Node::Refused(const std::string& node) { Met(node, &cluster::NodeHealth::Refused); }
void Node::Lost(const std::string& node) { Met(node, &cluster::NodeHealth::Lost); }

void Node::Met(const std::string& node, void (cluster::NodeHealth::*what)()) {
  NodeState before{}, after{};
  {
    const MutexLock lock(mutex_);
    const auto known = views_.find(node);
    if (known == views_.end()) return;
    before = known->second.health.state();
    (known->second.health.*what)();
    after = known->second.health.state();
  }
  if (before == after) return;
  ops::Log(ops::LogLevel::kInfo, "node_state",
           {{"node", node}, {"state", cluster::NodeStateName(after)}, {"why", "a request met it"}});
  RenewTable();
}

Result<Meta> Node::Commit(const cluster::MetaRecord& record, std::chrono::milliseconds most) {
  const auto known = meta();
  if (known == nullptr) return Status::Unavailable("the cluster is not known yet");
  auto log = cluster::MetaLog::Open(access(), config_.name, *known);
  if (!log.ok()) return log.status();
  Status committed = (*log)->Commit(record, static_cast<int>(most.count()));
  if (!committed.ok()) return committed;
  return (*log)->meta();
}

void Node::ProbeOthers(std::chrono::milliseconds gather) {
  const auto meta = follower()->meta();
  std::vector<ProbeTarget> targets;
  for (const auto& [node, member] : meta->members()) {
    if (node != config_.node) targets.push_back({node, member.url});
  }
  const auto results = prober_->Round(targets, gather);
  {
    const MutexLock lock(mutex_);
    const auto is_gone = [&](const auto& one) { return !meta->members().contains(one.first); };
    std::erase_if(views_, is_gone);
    std::erase_if(why_, is_gone);
  }
  for (const auto& [node, result] : results) {
    if (meta->members().contains(node)) Take(node, result);
  }
  RenewTable();
}

void Node::Take(const std::string& node, const ProbeResult& result) {
  std::string why = result.why;
  std::optional<NodeReport> report;
  if (result.kind == ProbeResult::Kind::kAnswered) {
    Result<NodeReport> read = cluster::NodeReportFromJson(result.body, node);
    why = std::string(read.status().message());
    if (read.ok()) report = std::move(read).value();
  }
  NodeState before{}, after{};
  {
    const MutexLock lock(mutex_);
    NodeView& view = views_[node];
    if (view.report && result.steady_asked_ms < view.asked_ms) return;  // it answered a later one
    before = view.health.state();
    if (report) {
      view.health.Answered();
      view.clock_ahead_ms =
          cluster::SurelyAhead(report->now_ms - result.asked_at_ms, result.asked_within_ms);
      view.asked_ms = result.steady_asked_ms;
      view.answered_ms = result.steady_answered_ms;
      view.report = std::move(report);
    } else if (result.kind == ProbeResult::Kind::kRefused) {
      view.health.Refused();
    } else {
      view.health.Missed();
    }
    after = view.health.state();
    if (why.empty()) {
      why_.erase(node);
    } else {
      why_[node] = why;
    }
  }
  if (before == after) return;
  ops::Log(after == NodeState::kUp ? ops::LogLevel::kInfo : ops::LogLevel::kWarn, "node_state",
           {{"node", node}, {"state", cluster::NodeStateName(after)}, {"why", why}});
}

}  // namespace seendb::membership
