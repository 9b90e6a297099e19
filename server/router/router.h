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
#include "router/hop_request.h"
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

  http::Task<> Handle(api::Call& call) override;
  std::unique_ptr<http::BodyStream> Stream(const http::RequestHead& head, const http::Plan& plan,
                                           Status* refusal) override;
  bool TakesStream(const http::RequestHead& head, const http::Plan& plan) override;
  http::Task<> Append(api::Call call) override;
  void Served(const IdRef& user, std::string_view collection, std::span<const Impression> items,
              int64_t at_ms) override;
  bool LogsGroups() const override;
  http::Task<> Reserved(api::Call call, std::string user,
                        std::vector<std::string> promised) override;

  /// What appends to the log.
  const LogWriter& writer() const { return writer_; }

  /// Fills in its part.
  void FillMetrics(ops::MetricsSnapshot* to) const;

 private:
  friend class FilterLines;
  friend class EventLines;
  friend class MarkLines;

  // router.cc: questions.
  http::Task<> AnswerRead(api::Call& call, const api::Route& route);
  http::Task<> AnswerHere(api::Call call, const api::Route& route, ReadAsk ask);
  /// The part of this node in a question.
  struct Place {
    bool first;    ///< it is asked before others
    bool answers;  ///< it answers, and at once
  };
  Place PlaceOf(const cluster::RoutingTable& table, const ReadAsk& ask) const;
  http::Task<> AskReplicas(api::Call call, const api::Route& route, ReadAsk ask);
  ReadParts Parts() { return {node_, client_, budget_, takeovers_}; }

  // write_routes.cc: what goes through the log.
  http::Task<> AnswerEvents(api::Call call, const api::Route& route);
  http::Task<> AnswerCommand(api::Call call, const api::Route& route);
  http::Task<> TellRecording(api::Call call, uint32_t partition);

  // policies.cc: what goes into the records of what the cluster is.
  void AnswerPolicy(api::Call& call, const api::Route& route);
  void PutPolicy(api::Call& call);
  void DeletePolicy(api::Call& call);
  std::vector<std::string> AwaitNodes(const std::string& name, const std::string& wanted,
                                      replica::Time until, const http::TraceContext& trace);

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
