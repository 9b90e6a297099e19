#include "router_node.h"

#include <utility>

namespace seendb {

router::RouterNode RouterNodeOf(membership::Node* node, replica::Replicas* replicas) {
  router::RouterNode of;
  of.name = node->config().node;
  of.table = [node, replicas] {
    replicas->Watch();
    return node->table();
  };
  of.note = [node](const std::string& other, router::Met met) {
    switch (met) {
      case router::Met::kServed:
        return node->Served(other);
      case router::Met::kRefused:
        return node->Refused(other);
      case router::Met::kLost:
        return node->Lost(other);
    }
  };
  of.meta_offset = [node] {
    const auto meta = node->meta();
    return meta == nullptr ? int64_t{0} : meta->next_offset();
  };
  of.log_version = [node] {
    const auto meta = node->meta();
    return meta == nullptr ? uint32_t{1} : meta->log_version();
  };
  of.await = [replicas](uint32_t partition, int64_t next_offset, replica::Time until, auto done) {
    replicas->Await(partition, next_offset, until, std::move(done));
  };
  of.append = [replicas](const replica::NewRecord& record, replica::Time until, auto done) {
    replicas->Append(record, until, std::move(done));
  };
  of.barrier = [replicas](uint32_t partition, replica::Time until, auto done) {
    replicas->Barrier(partition, until, std::move(done));
  };
  of.commit = [node](const cluster::MetaRecord& record, std::chrono::milliseconds most) {
    return node->Commit(record, most);
  };
  return of;
}

void TellOfLackingShards(replica::Replicas* replicas, membership::Node* node,
                         api::ClusterView* to) {
  node->TellNone([replicas] { return replicas->None(); });
  to->begin_empty = [replicas](uint32_t partition) { return replicas->BeginEmpty(partition); };
}

}  // namespace seendb
