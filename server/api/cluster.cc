// What a node says of its cluster, and to the other nodes.

#include <charconv>

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

void HandleBeginEmpty(Call& call) {
  if (!call.context.cluster) {
    return call.Refuse(Status::NotFound("the server is not a node of a cluster"));
  }
  const std::string& text = call.plan.arguments.front();
  uint32_t partition = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), partition);
  if (error != std::errc() || end != text.data() + text.size()) {
    return call.Refuse(Status::InvalidArgument("must be the number of a partition", "/partition"));
  }
  if (call.Query("confirm") != text) {
    return call.Refuse(Status::Incompatible(
        "what only lost replicas of the partition have is unseen from then on; repeat it with "
        "?confirm=" +
            text,
        "/confirm"));
  }
  const Status begun = call.context.cluster->begin_empty(partition);
  if (!begun.ok()) return call.Refuse(begun);
  call.response.body = "{\"partition\":" + std::to_string(partition) + "}";
}

void HandleInternalStatus(Call& call) { call.response.body = call.context.cluster->status(); }

http::Task<> HandleInternalAppend(Call call) {
  if (call.context.router != nullptr) return call.context.router->Append(call);
  call.Refuse(Status::NotFound("the server is not a node of a cluster"));
  return {};
}

http::Task<> HandleSnapshot(Call call) {
  const ClusterView& cluster = *call.context.cluster;
  if (cluster.snapshots) return cluster.snapshots(call);
  call.Refuse(Status::Unavailable(cluster.why_not_ready));
  return {};
}

}  // namespace seendb::api
