#include "moves.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "cluster/view.h"
#include "ops/log.h"
#include "transfer/snapshot_routes.h"

namespace seendb {
namespace {

constexpr uint64_t kMegabyte = 1'000'000;

transfer::SnapshotSettings SnapshotSettingsOf(const ops::ClusterConfig& config,
                                              const std::string& db, transfer::StoreCopies stores) {
  transfer::SnapshotSettings settings;
  settings.stores = std::move(stores);
  settings.db = db;
  settings.bytes_per_s = config.transfer_mb_per_s * kMegabyte;
  return settings;
}

transfer::FetchSettings FetchSettingsOf(const membership::Node& node, const std::string& db) {
  transfer::FetchSettings settings;
  settings.db = db;
  settings.node = node.config().node;
  settings.proofs = node.proofs();
  settings.tls = node.tls();
  settings.tls_alone = node.SpeaksTls();
  settings.bytes_per_s = node.config().transfer_mb_per_s * kMegabyte;
  return settings;
}

}  // namespace

Moves::Moves(membership::Node* node, const std::string& db, transfer::StoreCopies stores)
    : node_(*node),
      snapshots_(SnapshotSettingsOf(node->config(), db, std::move(stores))),
      fetcher_(FetchSettingsOf(*node, db)) {}

Status Moves::Start(Engine* engine) {
  const auto meta = node_.meta();
  const cluster::Assignment& assign = meta->placement().assign;
  for (uint32_t p = 0; p < assign.size(); ++p) {
    if (std::ranges::count(assign[p], node_.config().node) > 0) continue;
    if (Status gone = fetcher_.Discard(p); !gone.ok()) return gone;
  }
  return snapshots_.Start(engine);
}

http::Task<> Moves::Answer(api::Call& call) {
  return transfer::AnswerSnapshotCall(&snapshots_, call);
}

Result<std::string> Moves::Fetch(uint32_t partition, int64_t least,
                                 const std::function<bool()>& stopping) {
  const auto began = std::chrono::steady_clock::now();
  const auto meta = node_.meta();
  const auto replicas = cluster::ReplicasOf(partition, *meta, node_.AllViews());
  std::vector<transfer::Giver> givers;
  for (const size_t i : cluster::CopyOrder(replicas)) {
    const auto member = meta->members().find(replicas[i].node);
    const bool other = replicas[i].node != node_.config().node;
    if (replicas[i].report.next_offset < least) continue;
    if (other && member != meta->members().end()) {
      givers.push_back({member->first, member->second.url});
    }
  }
  const Result<transfer::Fetched> fetched = fetcher_.FetchFromOne(partition, givers, stopping);
  if (!fetched.ok()) return fetched.status();
  const auto took = std::chrono::steady_clock::now() - began;
  ops::Log(ops::LogLevel::kInfo, "shard_fetched",
           {{"partition", partition},
            {"bytes", fetched->bytes},
            {"kept_bytes", fetched->kept},
            {"took_ms", std::chrono::duration_cast<std::chrono::milliseconds>(took).count()}});
  return fetched->folder;
}

std::map<uint32_t, cluster::CopyProgress> Moves::Copies() const {
  std::map<uint32_t, cluster::CopyProgress> copies;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [partition, one] : fetcher_.Progress()) {
    if (one.total == 0) continue;
    const double seconds = std::chrono::duration<double>(now - one.begun).count();
    const double rate = seconds > 0 ? static_cast<double>(one.bytes) / seconds : 0;
    copies[partition] = {one.bytes, one.total, static_cast<uint64_t>(rate)};
  }
  return copies;
}

void Moves::FillMetrics(ops::MetricsSnapshot* to) const {
  ops::MoveCounts& moves = to->moves.emplace();
  moves.fetched_bytes = fetcher_.fetched_bytes();
  for (const auto& [partition, copy] : Copies()) {
    ++moves.fetching;
    moves.missing_bytes += copy.total - std::min(copy.total, copy.bytes);
  }
}

}  // namespace seendb
