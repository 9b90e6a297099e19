#include "api/node_access.h"

#include <memory>
#include <string>
#include <utility>

#include "proof/proofs.h"

namespace seendb::api {
namespace {

http::Error NotForThem(std::string message) { return {403, "forbidden", std::move(message)}; }

proof::Question QuestionOf(const http::RequestHead& head) {
  proof::Question question{.method = http::MethodName(head.method), .target = head.target};
  if (!head.content_type.empty()) {
    question.headers.push_back("content-type:" + head.content_type);
  }
  std::string_view all = head.routing.all;
  while (!all.empty()) {
    const size_t end = all.find('\n');
    question.headers.emplace_back(all.substr(0, end));
    all.remove_prefix(end + 1);
  }
  return question;
}

/// Who a node is that asks for itself. No token has such a name.
Caller NodeAsCaller(const std::string& node) {
  auto token = std::make_shared<files::Token>();
  token->name = "node " + node;
  return token;
}

}  // namespace

bool IsPassedOn(const Context& context, const http::RequestHead& head) {
  return context.cluster && (head.routing.hop || head.routing.failover);
}

bool IsOfNodes(const Context& context, const http::RequestHead& head, const Route& route) {
  if (route.route_class == RouteClass::kOpen) return false;
  return route.route_class == RouteClass::kPeer || IsPassedOn(context, head);
}

std::optional<http::Error> CheckNode(const Context& context, const http::RequestHead& head,
                                     const Route& route, http::Plan* plan) {
  proof::Checked proven;
  if (context.cluster && context.cluster->proofs != nullptr) {
    proven = context.cluster->proofs->Check(head.routing.proof, QuestionOf(head));
  }
  switch (proven.kind) {
    case proof::Checked::Kind::kProven:
      break;
    case proof::Checked::Kind::kStale:
      return http::Error{
          .status = 401,
          .code = "unauthorized",
          .message = "the proof is of another time, or for another process of this node",
          .challenge = proven.challenge};
    case proof::Checked::Kind::kNone:
      return NotForThem(
          "this is for the nodes of a cluster, which prove that they know its secret");
  }
  const bool peers = route.route_class == RouteClass::kPeer;
  const std::string& caller = head.routing.caller;
  if (caller.empty()) {
    plan->caller = NodeAsCaller(proven.from);
    if (peers || route.nodes_ask) return {};
    return NotForThem("a node asks this only for somebody else, whom SeenDB-Caller names");
  }
  const Caller asks = CallerFromHeader(caller);
  plan->caller = asks;
  if (peers) return {};
  if (route.spread != Spread::kRead && route.spread != Spread::kFilter &&
      route.spread != Spread::kTurn) {
    return NotForThem("no node passes this on");
  }
  return asks == nullptr ? std::nullopt : AccessCheck::Judge(NeedsOf(route), *asks);
}

std::optional<http::Error> CheckNodeBody(const http::RequestHead& head, std::string_view body) {
  if (proof::IsBody(head.routing.proof, body)) return {};
  return NotForThem("the proof is of another body");
}

}  // namespace seendb::api
