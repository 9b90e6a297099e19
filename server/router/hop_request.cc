#include "router/hop_request.h"

#include <algorithm>

#include "admission/ticket.h"
#include "wire/media_type.h"

namespace seendb::router {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTimeout{10'000}, kTimeoutMost{60'000};

int64_t MsOf(int64_t us) { return us / 1'000; }

}  // namespace

peers::PeerRequest ToPeer(const api::Call& call) {
  const http::RequestHead& head = call.request.head;
  peers::PeerRequest asked;
  asked.method = head.method == http::Method::kHead ? "GET" : http::MethodName(head.method);
  asked.target = head.target;
  asked.headers = HopHeaders(head, call.plan, call.request.age_us);
  asked.body = std::string(call.request.body);
  return asked;
}

peers::Headers HopHeaders(const http::RequestHead& head, const http::Plan& plan, int64_t age_us) {
  peers::Headers headers;
  const auto add = [&headers](const char* name, std::string_view value) {
    if (!value.empty()) headers.emplace_back(name, value);
  };
  add("SeenDB-Hop", "1");
  add("Content-Type", head.content_type);
  add("Accept", head.accept);
  add("If-None-Match", head.if_none_match);
  add("X-Request-Id", head.request_id);
  add("SeenDB-User", head.routing.user);
  add("SeenDB-Position", head.routing.position);
  add("SeenDB-Caller", api::CallerToHeader(api::CallerOf(plan).get()));
  add("SeenDB-Tenant", std::to_string(plan.ticket.tenant_key));
  add("SeenDB-Priority", admission::kPriorityNames[static_cast<size_t>(plan.ticket.priority)]);
  if (head.attempt > 0) add("SeenDB-Attempt", std::to_string(head.attempt));
  if (MsOf(age_us) > 0) add("SeenDB-Age-Ms", std::to_string(MsOf(age_us)));
  AddTrace(head.trace, &headers);
  return headers;
}

peers::Headers AppendHeaders(const http::RequestHead& head, const http::Plan& plan,
                             int64_t age_us) {
  http::RequestHead record;
  record.trace = head.trace;
  return HopHeaders(record, plan, age_us);
}

void AddTrace(const http::TraceContext& trace, peers::Headers* headers) {
  if (trace.trace_id.empty()) return;
  headers->emplace_back("traceparent", trace.ToHeader());
  if (!trace.state.empty()) headers->emplace_back("tracestate", trace.state);
}

Clock::time_point UntilOf(const http::RequestHead& head, int64_t age_us) {
  const auto asked = std::chrono::milliseconds(head.timeout_ms);
  const auto timeout = head.timeout_ms > 0 ? std::min(asked, kTimeoutMost) : kTimeout;
  return Clock::now() + timeout - std::chrono::microseconds(age_us);
}

}  // namespace seendb::router
