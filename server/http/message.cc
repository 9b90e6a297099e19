#include "http/message.h"

namespace seendb::http {

std::string_view MethodName(Method method) noexcept {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kDelete:
      return "DELETE";
    case Method::kOther:
      break;
  }
  return "OTHER";
}

std::string_view RequestHead::Path() const {
  const std::string_view all = target;
  return all.substr(0, all.find('?'));
}

std::string_view RequestHead::Query() const {
  const std::string_view all = target;
  const size_t mark = all.find('?');
  return mark == std::string_view::npos ? std::string_view() : all.substr(mark + 1);
}

void RoutingHead::Clear() {
  user.clear();
  position.clear();
  route.clear();
  caller.clear();
  tenant.clear();
  proof.clear();
  all.clear();
  age_ms = 0;
  hop = failover = false;
}

void RequestHead::Clear() {
  method = Method::kOther;
  target.clear();
  content_type.clear();
  content_encoding.clear();
  accept.clear();
  accept_encoding.clear();
  host.clear();
  origin.clear();
  fetch_site.clear();
  authorization.clear();
  request_id.clear();
  trace.Clear();
  if_none_match.clear();
  range.clear();
  priority.clear();
  connect_version.clear();
  timeout_ms = 0;
  attempt = 0;
  routing.Clear();
  expects_continue = false;
  http11 = true;
  keep_alive = true;
  chunked = false;
  content_length.reset();
}

void Response::Clear() {
  status = 200;
  body.clear();
  content_type = "application/json";
  content_encoding = {};
  allow.clear();
  retry_after_s = 0;
  headers.clear();
  close = false;
  error_code = {};
  log_tag = 0;
}

}  // namespace seendb::http
