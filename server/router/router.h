// server/router/router.h: at a node of a cluster, says who answers a request about users or
// policies: this node, another one, or the log.

#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/router.h"
#include "api/routes.h"
#include "router/held_request.h"
#include "router/log_writer.h"
#include "router/node.h"
#include "router/position.h"
#include "router/read.h"
#include "router/served_queue.h"

namespace seendb::router {

/// What the router counted, for metrics.
struct RouterCounters {
  std::atomic<uint64_t> proxied{0};      ///< requests that another node answered
  std::atomic<uint64_t> retried{0};      ///< that another replica was asked for, or this node
  std::atomic<uint64_t> unreachable{0};  ///< that no replica could be asked for
};

/// See the head of this file. Threads: any.
class ClusterRouter final : public api::Router {
 public:
  /// Borrows both; `client` is stopped before this goes.
  ClusterRouter(api::Context* context, RouterNode node, peers::PeerClient* client);

  void Handle(api::Call& call) override;
  std::unique_ptr<http::BodyStream> Stream(const http::RequestHead& head, const http::Plan& plan,
                                           Status* refusal) override;
  bool TakesStream(const http::RequestHead& head, const http::Plan& plan) override;
  void Append(api::Call& call) override;
  void Served(const IdRef& user, std::string_view collection, std::span<const IdRef> items,
              int64_t at_ms) override;

  /// What appends to the log.
  const LogWriter& writer() const { return writer_; }

  /// Fills in its part.
  void FillMetrics(ops::MetricsSnapshot* to) const;

 private:
  friend class FilterLines;
  friend class EventLines;

  // router.cc: questions.
  void AnswerRead(api::Call& call, const api::Route& route);
  bool AnswerHere(api::Call& call, const api::Route& route, const ReadAsk& ask);
  void Defer(api::Call& call, const api::Route& route, ReadAsk ask);
  ReadParts Parts() { return {node_, client_, budget_, takeovers_}; }

  // write_routes.cc: what goes through the log.
  void AnswerEvents(api::Call& call, const api::Route& route);
  void AnswerCommand(api::Call& call, const api::Route& route);

  // policies.cc: what goes into the records of what the cluster is.
  void AnswerPolicy(api::Call& call, const api::Route& route);
  void PutPolicy(api::Call& call);
  void DeletePolicy(api::Call& call);
  std::vector<std::string> AwaitNodes(const std::string& name, const std::string& wanted,
                                      replica::Time until);
  void TellRecording(const std::shared_ptr<HeldRequest>& held, uint32_t partition,
                     http::Response response);

  api::Context& context_;
  const RouterNode node_;
  peers::PeerClient& client_;
  RetryBudget budget_;
  Takeovers takeovers_;
  LogWriter writer_;
  RouterCounters counters_;
  ServedQueue served_;
};

}  // namespace seendb::router
