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

}  // namespace

bool IsPassedOn(const Context& context, const http::RequestHead& head) {
  return context.cluster && (head.routing.hop || head.routing.failover);
}

bool IsOfNodes(const Context& context, const http::RequestHead& head, const Route& route) {
  if (route.route_class == RouteClass::kOpen) return false;
  return route.route_class == RouteClass::kPeer || IsPassedOn(context, head);
}

std::optional<http::Error> CheckNode(const Context& context, const http::RequestHead& head,
                                     const Route&, http::Plan* plan) {
  proof::Checked proven;
  if (context.cluster && context.cluster->proofs != nullptr) {
    proven = context.cluster->proofs->Check(head.routing.proof, QuestionOf(head));
  }
  switch (proven.kind) {
    case proof::Checked::Kind::kProven:
      break;
    case proof::Checked::Kind::kStale:
      return http::Error{.status = 401,
                         .code = "unauthorized",
                         .message = "the proof is of another time: this is the node's",
                         .challenge = proven.challenge};
    case proof::Checked::Kind::kNone:
      return NotForThem(
          "this is for the nodes of a cluster, which prove that they know its secret");
  }
  const std::string& caller = head.routing.caller;
  if (!caller.empty()) plan->caller = CallerFromHeader(caller);
  return {};
}

std::optional<http::Error> CheckNodeBody(const http::RequestHead& head, std::string_view body) {
  if (proof::IsBody(head.routing.proof, body)) return {};
  return NotForThem("the proof is of another body");
}

}  // namespace seendb::api
