#include "router/held_request.h"

#include <algorithm>

#include "admission/ticket.h"
#include "wire/media_type.h"

namespace seendb::router {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTimeout{10'000}, kTimeoutMost{60'000};

int64_t MsOf(int64_t us) { return us / 1'000; }

}  // namespace

HeldRequest::HeldRequest(const api::Call& call)
    : context_(call.context),
      head_(call.request.head),
      age_us_(call.request.age_us),
      since_(Clock::now()) {
  head_.connection = nullptr;
  body_.reserve(call.request.body.size() + http::kBodyPadding);
  body_.append(call.request.body).append(http::kBodyPadding, '\0');
  plan_.route = call.plan.route;
  plan_.body = call.plan.body;
  plan_.executor = http::Executor::kEngine;
  plan_.arguments = call.plan.arguments;
  plan_.query = call.plan.query;
  plan_.caller = call.plan.caller;
  plan_.ticket = call.plan.ticket;
}

void HeldRequest::Run(const api::Route& route, std::string_view lacks,
                      http::Response* response) const {
  const auto held = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - since_);
  const http::Request request{.head = head_, .body = body(), .age_us = age_us_ + held.count()};
  api::Call call{context_, plan_, request, *response, lacks};
  route.handle(call);
}

peers::PeerRequest HeldRequest::ToPeer() const {
  peers::PeerRequest asked;
  asked.method = head_.method == http::Method::kHead ? "GET" : http::MethodName(head_.method);
  asked.target = head_.target;
  asked.headers = HopHeaders(head_, plan_, age_us_);
  asked.body = {body(), shared_from_this()};
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
  add("X-Request-Id", head.request_id);
  add("SeenDB-User", head.routing.user);
  add("SeenDB-Position", head.routing.position);
  add("SeenDB-Caller", api::CallerToHeader(api::CallerOf(plan).get()));
  add("SeenDB-Tenant", std::to_string(plan.ticket.tenant_key));
  add("SeenDB-Priority", admission::kPriorityNames[static_cast<size_t>(plan.ticket.priority)]);
  if (head.attempt > 0) add("SeenDB-Attempt", std::to_string(head.attempt));
  if (MsOf(age_us) > 0) add("SeenDB-Age-Ms", std::to_string(MsOf(age_us)));
  return headers;
}

Clock::time_point UntilOf(const http::RequestHead& head, int64_t age_us) {
  const auto asked = std::chrono::milliseconds(head.timeout_ms);
  const auto timeout = head.timeout_ms > 0 ? std::min(asked, kTimeoutMost) : kTimeout;
  return Clock::now() + timeout - std::chrono::microseconds(age_us);
}

}  // namespace seendb::router
