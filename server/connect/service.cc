#include "connect/service.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <google/protobuf/message.h>

#include "connect/codec.h"
#include "connect/errors.h"
#include "connect/methods.h"
#include "http/content_coding.h"
#include "wire/status_codes.h"

namespace seendb::connect {
namespace {

constexpr std::string_view kPrefix = "/seendb.v1.SeenDB/";
constexpr std::string_view kNoMethod = "unimplemented";
constexpr unsigned kAllRefused = 422;

/// Whether it is a call of the service, by its path.
bool IsCall(const http::RequestHead& head) { return head.Path().starts_with(kPrefix); }

const Method* MethodOf(const http::RequestHead& head) {
  const std::string_view name = head.Path().substr(kPrefix.size());
  const std::span<const Method> methods = Methods();
  const auto found = std::find_if(methods.begin(), methods.end(),
                                  [name](const Method& one) { return one.name == name; });
  return found == methods.end() ? nullptr : &*found;
}

http::Plan Refused(http::Error error) {
  http::Plan plan;
  plan.refused = true;
  plan.refusal = std::move(error);
  plan.shape_error = ShapeError;
  return plan;
}

std::string NoSuchMethod() {
  std::string known = "no such method; there are";
  for (const Method& method : Methods()) {
    known.append(&method == Methods().data() ? " " : ", ").append(method.name);
  }
  return known;
}

/// The fault of a call's head; nothing: it has no fault.
std::optional<http::Error> CheckHead(const http::RequestHead& head) {
  if (!head.connect_version.empty() && head.connect_version != "1") {
    return http::Error{400, "invalid_argument", "Connect-Protocol-Version must be 1"};
  }
  if (!FormOf(head.content_type)) {
    return http::Error{415, "unsupported_media_type",
                       "Content-Type must be application/proto or application/json"};
  }
  if (!http::ParseContentEncoding(head.content_encoding)) {
    return http::Error{415, "unsupported_media_type",
                       "Content-Encoding must be one of " + std::string(http::kCodingsAccepted)};
  }
  return {};
}

/// The head of the request that the route gets.
http::RequestHead RouteHead(const http::RequestHead& head, const Method& method,
                            std::string target) {
  http::RequestHead route = head;
  route.method = method.http_method;
  route.target = std::move(target);
  route.content_type = method.content_type;
  route.content_encoding.clear();
  route.accept.clear();
  return route;
}

http::Error ErrorOf(const Status& status) {
  return {wire::HttpStatusOf(status.code()), StatusCodeName(status.code()),
          std::string(status.message()), std::string(status.field())};
}

void Answer(const http::Error& error, http::Response* response) {
  http::WriteError(error, response);
  ShapeError(response);
}

/// The rest of the caller's time.
int64_t LeftMs(const http::Request& request) {
  if (request.head.timeout_ms <= 0) return 0;
  return std::max<int64_t>(1, request.head.timeout_ms - request.age_us / 1'000);
}

/// Makes the plan of the route's request as that of the call is, which the listener goes by.
void GoAsPlanned(const http::Plan& plan, size_t body_bytes, http::Plan* route) {
  route->executor = plan.executor;
  route->large_executor = plan.large_executor;
  route->large_bytes = body_bytes > plan.large_bytes ? 0 : SIZE_MAX;
  route->ticket = plan.ticket;
}

/// Turns the route's answer into that of the call.
void Translate(const Method& method, Form form, const google::protobuf::Message& request,
               http::Response* response) {
  const bool refused_all = response->status == kAllRefused && response->error_code == "all_refused";
  if (!response->error_code.empty() && !refused_all) return ShapeError(response);
  const std::unique_ptr<google::protobuf::Message> answer = method.make_answer();
  std::string body;
  Status status = method.from_route(request, *response, answer.get());
  if (status.ok()) status = Encode(form, *answer, &body);
  if (!status.ok()) return Answer(ErrorOf(status), response);
  response->status = 200;
  response->error_code = {};
  response->content_type = TypeOf(form);
  response->body = std::move(body);
}

}  // namespace

ConnectService::ConnectService(http::Service* routes) : routes_(*routes) { SilenceProtobuf(); }

http::Plan ConnectService::Begin(const http::RequestHead& head) {
  if (!IsCall(head)) return routes_.Begin(head);
  const Method* const method = MethodOf(head);
  if (method == nullptr) return Refused({404, kNoMethod, NoSuchMethod()});
  if (head.method != http::Method::kPost) {
    http::Plan plan =
        Refused({405, "method_not_allowed", "a call is a POST: GET is not supported"});
    plan.allow = "POST";
    return plan;
  }
  http::Plan plan = routes_.Begin(RouteHead(head, *method, std::string(method->path)));
  plan.shape_error = ShapeError;
  plan.audit.reset();  // the user is in the body: Handle begins the line
  if (plan.refused) return plan;
  if (auto error = CheckHead(head)) {
    plan.refused = true;
    plan.refusal = *std::move(error);
    return plan;
  }
  plan.body = http::BodyMode::kWhole;
  plan.coding = *http::ParseContentEncoding(head.content_encoding);
  return plan;
}

http::Task<> ConnectService::Handle(const http::Plan& plan, const http::Request& request,
                                    http::Response* response) {
  if (!IsCall(request.head)) return routes_.Handle(plan, request, response);
  return Call(plan, request, response);
}

http::Task<> ConnectService::Call(const http::Plan& plan, const http::Request& request,
                                  http::Response* response) {
  const Method& method = *MethodOf(request.head);
  const Form form = *FormOf(request.head.content_type);
  const std::unique_ptr<google::protobuf::Message> message = method.make_request();
  RouteRequest to;
  Status status = Decode(form, request.body, message.get());
  if (status.ok()) status = method.to_route(*message, LeftMs(request), &to);
  if (!status.ok()) {
    Answer(ErrorOf(status), response);
    co_return;
  }
  const http::RequestHead head = RouteHead(request.head, method, std::move(to.target));
  http::Plan route = routes_.Begin(head);
  if (route.refused) {
    Answer(route.refusal, response);
    co_return;
  }
  GoAsPlanned(plan, request.body.size(), &route);
  const size_t bytes = to.body.size();
  to.body.append(http::kBodyPadding, '\0');
  const http::Request routed{.head = head,
                             .body = std::string_view(to.body).substr(0, bytes),
                             .waiting = request.waiting,
                             .age_us = 0};  // what has gone by is out of the deadline
  co_await routes_.Handle(route, routed, response);
  Translate(method, form, *message, response);
}

}  // namespace seendb::connect
