// What a node says of its cluster, and to the other nodes.

#include "api/router.h"
#include "api/routes.h"

namespace seendb::api {

void HandleCluster(Call& call) {
  if (!call.context.cluster) {
    return call.Refuse(Status::NotFound("the server is not a node of a cluster"));
  }
  Result<std::string> report = call.context.cluster->report();
  if (!report.ok()) return call.Refuse(report.status());
  call.response.body = std::move(report).value();
}

void HandleInternalStatus(Call& call) { call.response.body = call.context.cluster->status(); }

void HandleInternalAppend(Call& call) {
  if (call.context.router != nullptr) return call.context.router->Append(call);
  call.Refuse(Status::NotFound("the server is not a node of a cluster"));
}

void HandleSnapshot(Call& call) {
  const ClusterView& cluster = *call.context.cluster;
  if (!cluster.snapshots) return call.Refuse(Status::Unavailable(cluster.why_not_ready));
  cluster.snapshots(call);
}

}  // namespace seendb::api
