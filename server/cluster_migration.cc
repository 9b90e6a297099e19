#include "cluster_migration.h"

#include <memory>
#include <string>
#include <utility>

#include "router/imports.h"

namespace seendb {
namespace {

/// What the node said last of a partition; nothing: it is not known.
std::optional<migration::Offsets> WrittenBy(const std::string& node, uint32_t partition,
                                            const std::map<std::string, cluster::NodeView>& views) {
  const auto view = views.find(node);
  if (view == views.end() || !view->second.report) return std::nullopt;
  const auto replica = view->second.report->replicas.find(partition);
  if (replica == view->second.report->replicas.end()) return std::nullopt;
  if (replica->second.old_to == 0) return std::nullopt;
  return migration::Offsets{replica->second.old_from, replica->second.old_to};
}

std::map<uint32_t, migration::Duty> DutiesOf(const membership::Node& node) {
  std::map<uint32_t, migration::Duty> duties;
  const auto table = node.table();
  if (table == nullptr) return duties;
  const auto views = node.AllViews();
  for (uint32_t partition = 0; partition < table->partitions(); ++partition) {
    const auto& leader = table->of(partition).leader;
    if (!leader) continue;
    migration::Duty duty{.here = leader->here};
    if (!duty.here) duty.written = WrittenBy(leader->node, partition, views);
    duties.emplace(partition, duty);
  }
  return duties;
}

}  // namespace

migration::ClusterNode MigrationNodeOf(const membership::Node* node,
                                       const router::ClusterRouter* router, const Engine* engine) {
  const auto imports = std::make_shared<const router::Imports>(
      &router->writer(), [engine](IdRef user) { return engine->ShardOf(user); });
  return {
      .record = [imports](
                    std::string_view collection,
                    std::span<const Play> plays) { return imports->Record(collection, plays); },
      .note = [imports](
                  std::string_view collection, std::string_view key,
                  std::span<const IdRef> users) { return imports->Note(collection, key, users); },
      .note_everybody = [imports, node](std::string_view collection,
                                        std::string_view key) -> Status {
        const auto table = node->table();
        if (table == nullptr) return Status::Unavailable("the cluster is not known yet");
        return imports->NoteEverybody(collection, key, table->partitions());
      },
      .duties = [node] { return DutiesOf(*node); }};
}

std::map<uint32_t, cluster::ReplicaReport> WithOldStores(
    std::map<uint32_t, cluster::ReplicaReport> replicas, const migration::Migrations* migrations) {
  if (migrations == nullptr) return replicas;
  const auto written = migrations->Written();
  for (auto& [partition, replica] : replicas) {
    const auto known = written.find(partition);
    if (known == written.end()) continue;
    replica.old_from = known->second.from;
    replica.old_to = known->second.to;
  }
  return replicas;
}

}  // namespace seendb
