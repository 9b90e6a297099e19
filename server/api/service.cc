#include "api/service.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "admission/priority.h"
#include "api/audit.h"
#include "api/node_access.h"
#include "api/router.h"
#include "api/routes.h"
#include "api/status_http.h"
#include "api/token_watch.h"
#include "api/uri.h"
#include "base/json_pointer.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "http/wait.h"
#include "ops/log.h"
#include "wire/json_read.h"
#include "wire/media_type.h"

namespace seendb::api {
namespace {

static_assert(http::kBodyPadding >= wire::kPadding);

/// Whole bodies of events above this size leave the I/O thread alone.
constexpr size_t kLargeBody = 256u << 10;

void Refuse(http::Error error, http::Plan* plan) {
  plan->refused = true;
  plan->refusal = std::move(error);
}

/// Finds the route; false when refused.
bool FindPlan(const http::RequestHead& head, http::Plan* plan) {
  std::string_view path = StripAuthority(head.Path());
  if (path.substr(0, 4) == "/v1/") path.remove_prefix(3);
  PathArguments arguments;
  plan->route = FindRoute(head.method, path, &arguments, &plan->allow);
  if (plan->route >= 0) {
    for (size_t i = 0; i < arguments.count; ++i) {
      auto decoded = PercentDecode(arguments.parts[i]);
      if (!decoded) {
        Refuse({400, "invalid_argument", "malformed escape in the path"}, plan);
        return false;
      }
      plan->arguments.push_back(std::move(*decoded));
    }
    return true;
  }
  if (plan->allow.empty()) {
    Refuse({404, "not_found", NoSuchRoute(path)}, plan);
  } else {
    Refuse({405, "method_not_allowed", std::string(path) + " takes " + plan->allow}, plan);
  }
  return false;
}

/// Whether the route is another door's: then it is none here.
bool IsElsewhere(const Context& context, const http::RequestHead& head, const Route& route) {
  return AdminIsElsewhere(context, head) &&
         (route.path.starts_with("/admin/") || route.path.starts_with("/console") ||
          route.path == "/metrics");
}

/// A wrong token came: an address that has shown too many of them has to wait.
void LimitFailures(Context& context, const http::RequestHead& head, http::Error* refusal) {
  const std::string_view peer =
      head.connection == nullptr ? std::string_view() : head.connection->peer;
  const int wait_s = context.failed_tokens.Note(peer, std::chrono::steady_clock::now());
  if (wait_s == 0) return;
  *refusal = {429, "rate_limited",
              "the token is not known, and too many of this address were not "
              "(limits.failed_tokens_per_minute)"};
  refusal->retry_after_s = wait_s;
}

/// False when who asks may not; otherwise the plan notes who it is.
bool CheckAccess(Context& context, const http::RequestHead& head, const Route& route,
                 http::Plan* plan) {
  if (route.route_class == RouteClass::kOpen) return true;
  auto refusal = IsOfNodes(context, head, route) ? CheckNode(context, head, route, plan)
                                                 : context.access.Check(NeedsOf(route), head, plan);
  if (!refusal) return true;
  const bool unknown = refusal->status == 401 && plan->caller == nullptr;
  if (unknown && !head.authorization.empty()) LimitFailures(context, head, &*refusal);
  Refuse(*std::move(refusal), plan);
  return false;
}

/// What the admission layer is to know; false when refused.
bool FillTicket(const Context& context, const http::RequestHead& head, const Route& route,
                http::Plan* plan) {
  admission::Ticket& ticket = plan->ticket;
  ticket.route = plan->route;
  ticket.cls = route.probe                               ? admission::Class::kProbe
               : route.route_class == RouteClass::kWrite ? admission::Class::kWrite
               : route.route_class == RouteClass::kAdmin ? admission::Class::kAdmin
                                                         : admission::Class::kRead;
  const Caller caller = CallerOf(*plan);
  admission::PriorityRule rule;
  rule.has_token = caller != nullptr;
  rule.route = route.priority;
  if (caller != nullptr) rule.token = caller->priority;
  if (!head.priority.empty()) {
    rule.asked = admission::ParsePriority(head.priority);
    if (!rule.asked) {
      Refuse({400, "invalid_argument", "SeenDB-Priority must be high, normal or low"}, plan);
      return false;
    }
  }
  ticket.priority = admission::PriorityOf(rule);
  if (caller != nullptr && caller->tenant != nullptr) {
    ticket.tenant = caller->tenant;
    ticket.tenant_key = caller->tenant->key();
  } else if (context.cluster && head.routing.hop) {
    ticket.tenant_key = admission::KeyOfPeer(head.routing.tenant);
  } else if (head.connection != nullptr) {
    ticket.tenant_key = admission::KeyOfPeer(head.connection->peer);
  }
  return true;
}

/// Checks what kind of body comes; false when refused.
bool CheckBody(const Context& context, const http::RequestHead& head, const Route& route,
               http::Plan* plan) {
  if (route.streams_answer) {
    plan->body = http::BodyMode::kStream;
    return true;
  }
  if (!route.takes_json) {  // a body is read and dropped
    if (!head.HasBody()) plan->body = http::BodyMode::kWhole;
    return true;
  }
  if (head.content_type.empty() && !head.origin.empty()) {
    // A script of a page says what it sends; what a browser sends without is no such script.
    Refuse({415, "unsupported_media_type", "beside an Origin a Content-Type is needed"}, plan);
    return false;
  }
  const auto coding = http::ParseContentEncoding(head.content_encoding);
  if (!coding) {
    Refuse({415, "unsupported_media_type",
            "Content-Encoding must be one of " + std::string(http::kCodingsAccepted)},
           plan);
    return false;
  }
  plan->coding = *coding;
  const wire::MediaType type = wire::ParseMediaType(head.content_type);
  if (type == wire::MediaType::kJson || (type == wire::MediaType::kBinary && TakesBinary(route))) {
    plan->body = http::BodyMode::kWhole;
  } else if (type == wire::MediaType::kNdjson && IsOfNodes(context, head, route)) {
    Refuse({403, "forbidden", "a node sends whole bodies, of which its proof is"}, plan);
    return false;
  } else if (type == wire::MediaType::kNdjson && route.stream != nullptr) {
    plan->body = http::BodyMode::kStream;
  } else {
    std::string known = "Content-Type must be application/json";
    if (route.stream != nullptr) known += " or application/x-ndjson";
    if (TakesBinary(route)) known += " or application/octet-stream";
    known.append(", not ").append(Utf8Prefix(head.content_type, kMaxSuggestedBytes));
    Refuse({415, "unsupported_media_type", std::move(known)}, plan);
    return false;
  }
  return true;
}

/// Whether the route's answers are compressed for a client that asks for it.
bool MayCompress(const Context& context, const Route& route) {
  switch (route.compress) {
    case Compress::kIfGet:
      return route.method == http::Method::kGet;
    case Compress::kAlways:
      return true;
    case Compress::kBySetting:
      return context.compress_filter;
  }
  return false;
}

Status CheckQuery(const http::RequestHead& head, const Route& route, http::Plan* plan) {
  if (Status status = ParseQuery(head.Query(), &plan->query); !status.ok()) return status;
  const bool binary = TakesBinary(route) && wire::IsBinary(head.content_type);
  const auto among = [](std::string_view name, std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& [name, value] : plan->query) {
    if (among(name, route.query) || (binary && among(name, route.binary_query))) continue;
    if (among(name, route.binary_query)) {
      return Status::InvalidArgument("belongs to a body of application/octet-stream",
                                     PointerTo(name));
    }
    return Status::InvalidArgument(UnknownName("unknown query parameter", name, route.query),
                                   PointerTo(Utf8Prefix(name, kMaxSuggestedBytes)));
  }
  return Status::Ok();
}

/// Whether the route is about users, each of whom one shard has.
bool IsOfUsers(const Route& route) {
  return route.path == "/filter" || route.path == "/plays" || route.path == "/impressions" ||
         route.path == "/exposures" || route.path == "/reserve" ||
         route.path.starts_with("/users/");
}

/// False when the process is in no state to answer.
bool CheckPhase(const Context& context, const Route& route, http::Plan* plan) {
  const ops::Phase phase = context.health->phase();
  const bool serves = phase == ops::Phase::kReady || phase == ops::Phase::kLeaving;
  if (!route.needs_engine || serves) return true;
  const bool opening = phase == ops::Phase::kOpening && context.engine.load() != nullptr;
  if (opening && IsOfUsers(route)) return true;  // the shards that are open answer
  Refuse({503, "unavailable", WhyNotReady(context, phase)}, plan);
  return false;
}

/// Has a stream end with the rights of its token. What another node passed on, that one watches.
void WatchToken(const Context& context, const http::RequestHead& head, http::Plan* plan) {
  Caller caller = CallerOf(*plan);
  if (caller == nullptr || IsPassedOn(context, head)) return;
  const bool by_name = head.authorization.empty() && head.connection != nullptr &&
                       head.connection->certificate_name == caller->name;
  plan->stream = std::make_unique<TokenWatch>(&context.access, std::move(caller), by_name,
                                              std::move(plan->stream));
}

int64_t MicrosecondsOf(std::chrono::nanoseconds span) {
  return std::chrono::duration_cast<std::chrono::microseconds>(span).count();
}

void ShowToWatchers(Context& context, const http::Outcome& outcome) {
  const Caller caller = CallerOf(outcome.plan);
  context.tail.Note({.at_ms = ops::MachineTimeMs(),
                     .route = outcome.plan.route,
                     .status = outcome.status,
                     .error = outcome.error_code,
                     .took_us = MicrosecondsOf(outcome.took),
                     .waited_us = MicrosecondsOf(outcome.waited),
                     .worked_us = MicrosecondsOf(outcome.worked),
                     .bytes_in = outcome.bytes_in,
                     .bytes_out = outcome.bytes_out,
                     .user = context.requests.UserOf(outcome),
                     .token = caller == nullptr ? std::string() : caller->name});
}

}  // namespace

http::Plan ApiService::Begin(const http::RequestHead& head) {
  http::Plan plan;
  if (!FindPlan(head, &plan)) return plan;
  const Route& route = Routes()[static_cast<size_t>(plan.route)];
  if (auto foreign = context_.origins->Refuse(head, route.page)) {
    Refuse(*std::move(foreign), &plan);
    return plan;
  }
  if (IsElsewhere(context_, head, route)) {
    Refuse({404, "not_found",
            "answered at the address of the setting admin_listen alone: ask there (seendb: --url, "
            "or SEENDB_ADMIN_URL beside SEENDB_URL)"},
           &plan);
    return plan;
  }
  if (!CheckAccess(context_, head, route, &plan)) return plan;
  if (!FillTicket(context_, head, route, &plan)) return plan;
  if (!CheckPhase(context_, route, &plan) || !CheckBody(context_, head, route, &plan)) {
    return plan;
  }
  Status status = CheckQuery(head, route, &plan);
  plan.executor = route.executor;
  Router* const router = route.spread == Spread::kNode ? nullptr : context_.router;
  plan.compress = MayCompress(context_, route);
  plan.probe = route.probe;
  const bool reads =
      route.route_class <= RouteClass::kRead || route.route_class == RouteClass::kFilters;
  plan.large = reads && !route.probe;
  // Lines of a node of a cluster wait for users' turns on their thread.
  if (router != nullptr && plan.body == http::BodyMode::kStream) {
    plan.executor = http::Executor::kEngine;
  }
  const bool may_wait = context_.catalog.RecordingMayWait();
  if (may_wait && plan.body == http::BodyMode::kStream) plan.executor = http::Executor::kEngine;
  if (route.may_sync) {
    if (may_wait) plan.executor = http::Executor::kEngine;
    plan.large_executor = http::Executor::kEngine;
    plan.large_bytes = plan.body == http::BodyMode::kWhole ? kLargeBody : SIZE_MAX;
  }
  if (status.ok() && router != nullptr && route.streams_answer && router->TakesStream(head, plan)) {
    plan.body = http::BodyMode::kDiscard;
  }
  if (status.ok() && plan.body == http::BodyMode::kStream) {
    if (router != nullptr) plan.stream = router->Stream(head, plan, &status);
    if (status.ok() && !plan.stream) plan.stream = route.stream(context_, plan, &status);
  }
  if (status.ok() && context_.audit && !IsPassedOn(context_, head)) {
    context_.audit->Begin(head, route, &plan);
  }
  if (status.ok() && plan.stream) WatchToken(context_, head, &plan);
  if (!status.ok()) Refuse(ToHttpError(status), &plan);
  return plan;
}

http::Task<> ApiService::Handle(const http::Plan& plan, const http::Request& request,
                                http::Response* response) {
  Call call{context_, plan, request, *response};
  const Route& route = Routes()[static_cast<size_t>(plan.route)];
  if (IsOfNodes(context_, request.head, route)) {
    if (const auto foreign = CheckNodeBody(request.head, request.body)) {
      http::WriteError(*foreign, response);
      return {};
    }
  }
  const auto verdict =
      context_.audit ? context_.audit->Admit(plan, request, response) : Audit::Verdict::kGo;
  if (verdict == Audit::Verdict::kGo) return Answer(call);
  if (verdict == Audit::Verdict::kComeAgain) return AnswerOnceAudited(call);
  return {};
}

http::Task<> ApiService::Answer(Call& call) {
  const Route& route = Routes()[static_cast<size_t>(call.plan.route)];
  if (context_.router != nullptr && route.spread != Spread::kNode) {
    return context_.router->Handle(call);
  }
  return route.Answer(call);
}

/// The line of the call could not be written yet.
http::Task<> ApiService::AnswerOnceAudited(Call call) {
  auto verdict = Audit::Verdict::kComeAgain;
  while (verdict == Audit::Verdict::kComeAgain) {
    co_await http::Resumed(Audit::kAgainUs);
    co_await http::Turn(call.plan.executor);
    verdict = context_.audit->Admit(call.plan, call.request, &call.response);
  }
  if (verdict == Audit::Verdict::kGo) co_await Answer(call);
}

void ApiService::Done(const http::Outcome& outcome) {
  context_.metrics->CountRequest(outcome.plan.route, outcome.status, outcome.took);
  if (!outcome.error_code.empty()) context_.metrics->CountRefused(outcome.error_code);
  context_.requests.Note(outcome);
  if (context_.tail.watched()) ShowToWatchers(context_, outcome);
  if (context_.audit) context_.audit->Done(outcome);
}

void ApiService::EngineOpening(Engine* engine) {
  context_.catalog.Renew(engine, /*all=*/false);
  context_.engine.store(engine, std::memory_order_release);
}

void ApiService::EngineOpened(Engine* engine) {
  context_.catalog.Renew(engine);
  context_.readiness.Look(engine, context_.ingest_problems);
  context_.engine.store(engine, std::memory_order_release);
  context_.health->Set(ops::Phase::kReady);
}

std::vector<std::string> RouteLabels() {
  std::vector<std::string> labels;
  for (const Route& route : Routes()) labels.push_back(RouteLabel(route));
  return labels;
}

}  // namespace seendb::api
