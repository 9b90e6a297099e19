#include "http/request_parser.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <boost/asio/buffer.hpp>

#include "http/host.h"

namespace seendb::http {
namespace {

namespace beast_http = boost::beast::http;

/// Names that other software does not use begin with it.
constexpr std::string_view kOwnPrefix = "seendb-";
/// Empty lines a client may send before its request line.
constexpr int kEmptyLines = 4;

std::string_view ToView(boost::beast::string_view text) { return {text.data(), text.size()}; }

char LowerOf(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (LowerOf(a[i]) != lower[i]) return false;
  }
  return true;
}

void AppendLower(std::string_view text, std::string* to) {
  for (const char c : text) *to += LowerOf(c);
}

Method ToMethod(beast_http::verb verb) {
  switch (verb) {
    case beast_http::verb::get:
      return Method::kGet;
    case beast_http::verb::head:
      return Method::kHead;
    case beast_http::verb::post:
      return Method::kPost;
    case beast_http::verb::put:
      return Method::kPut;
    case beast_http::verb::delete_:
      return Method::kDelete;
    default:
      return Method::kOther;
  }
}

/// Whether an id can go into a header and a line of the log as it is.
bool IsRequestId(std::string_view id) {
  return id.size() <= kMaxRequestIdBytes &&
         std::all_of(id.begin(), id.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Whether a header line of `head` is continued on the next one. The parser would join the two,
/// where another reader may see a line of its own.
bool HasFolds(std::string_view head) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos;
       at = head.find("\r\n", at + 2)) {
    if (at + 2 < head.size() && (head[at + 2] == ' ' || head[at + 2] == '\t')) return true;
  }
  return false;
}

/// The number that a hint of a client is; 0 for anything else: a hint refuses no request.
int64_t NumberOf(std::string_view text) {
  int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::max(0, number) : 0;
}

Error NoHost(const char* what) {
  return {400, "invalid_argument",
          std::string(what) + " is not a name or an address, with a port or without"};
}

/// A header that came again is one list (RFC 9110, 5.3).
void Join(boost::beast::string_view value, std::string* all) {
  if (!all->empty()) *all += ", ";
  all->append(value.data(), value.size());
}

}  // namespace

RequestParser::RequestParser(size_t header_bytes, RequestHead* head)
    : header_bytes_(header_bytes), head_(head), chunks_(header_bytes) {
  head_->Clear();
  header_limit(static_cast<std::uint32_t>(header_bytes));
  body_limit(std::numeric_limits<std::uint64_t>::max());  // judged by the route, not here
}

RequestParser::Progress RequestParser::PutHead(Bytes* in) {
  touched_ = touched_ || !in->empty();
  if (!started()) {
    for (; empty_lines_ < kEmptyLines && in->view().substr(0, 2) == "\r\n"; ++empty_lines_) {
      in->Consume(2);
    }
    if (empty_lines_ < kEmptyLines && in->view() == "\r") return Progress::kNeedsMore;
  }
  if (in->empty()) return Progress::kNeedsMore;
  ErrorCode ec;
  const std::string_view bytes = in->view();
  const size_t used = put(boost::asio::buffer(bytes.data(), bytes.size()), ec);
  // Of a folded line the parser takes all or nothing, so no fold lies across two calls.
  if (HasFolds(bytes.substr(0, used))) {
    error_ = Error{400, "invalid_argument", "broken HTTP: folded header"};
    return Progress::kBroken;
  }
  in->Consume(used);
  header_taken_ += used;  // the parser's own limit counts from its last whole line only
  if (header_taken_ > header_bytes_) return Broken(beast_http::error::header_limit);
  if (ec == beast_http::error::need_more) return Progress::kNeedsMore;
  if (ec) return Broken(ec);
  return head_done_ ? Progress::kHead : Progress::kNeedsMore;
}

RequestParser::Progress RequestParser::PutChunks(Bytes* in, Bytes* body, size_t limit) {
  switch (chunks_.Put(in, body, limit)) {
    case ChunkDecoder::Progress::kNeedsMore:
      return Progress::kNeedsMore;
    case ChunkDecoder::Progress::kDone:
      return Progress::kDone;
    case ChunkDecoder::Progress::kBroken:
      break;
  }
  error_ = chunks_.error();
  return Progress::kBroken;
}

void RequestParser::Refuse(Error error, ErrorCode* ec) {
  error_ = std::move(error);
  *ec = make_error_code(beast_http::error::bad_value);
}

void RequestParser::on_request_impl(beast_http::verb method, View, View target, int version,
                                    ErrorCode& ec) {
  head_->method = ToMethod(method);
  head_->http11 = version >= 11;
  head_->target.assign(target.data(), target.size());
  if (head_->target.empty()) Refuse({400, "invalid_argument", "empty request target"}, &ec);
  const auto authority = AuthorityOf(head_->target);
  if (authority && !IsHost(*authority)) Refuse(NoHost("the target's authority"), &ec);
}

void RequestParser::on_field_impl(beast_http::field name, View name_text, View value,
                                  ErrorCode& ec) {
  using beast_http::field;
  switch (name) {
    case field::content_length:
      return TakeContentLength(ToView(value), &ec);
    case field::transfer_encoding:
      return TakeTransferEncoding(ToView(value), &ec);
    case field::host:
      if (++hosts_ > 1) Refuse({400, "invalid_argument", "more than one Host header"}, &ec);
      head_->host.assign(value.data(), value.size());
      if (!IsHost(head_->host)) Refuse(NoHost("Host"), &ec);
      return;
    case field::content_type:
      if (!head_->content_type.empty()) {
        return Refuse({400, "invalid_argument", "more than one Content-Type header"}, &ec);
      }
      head_->content_type.assign(value.data(), value.size());
      return;
    case field::content_encoding:
      return Join(value, &head_->content_encoding);
    case field::accept:
      return Join(value, &head_->accept);
    case field::accept_encoding:
      return Join(value, &head_->accept_encoding);
    case field::if_none_match:
      return Join(value, &head_->if_none_match);
    case field::range:
      return Join(value, &head_->range);
    case field::origin:
      return Join(value, &head_->origin);
    case field::authorization:
      if (!head_->authorization.empty()) {
        return Refuse({400, "invalid_argument", "more than one Authorization header"}, &ec);
      }
      head_->authorization.assign(value.data(), value.size());
      return;
    case field::expect:
      head_->expects_continue = EqualsIgnoringCase(ToView(value), "100-continue");
      return;
    case field::unknown:
      return TakeOther(name_text, ToView(value));
    default:
      return;
  }
}

void RequestParser::TakeOther(View name_text, std::string_view value) {
  const std::string_view name = ToView(name_text);
  const auto is = [name](std::string_view lower) { return EqualsIgnoringCase(name, lower); };
  const bool own = name.size() > kOwnPrefix.size() &&
                   EqualsIgnoringCase(name.substr(0, kOwnPrefix.size()), kOwnPrefix);
  if (own && !is("seendb-peer-proof")) {
    AppendLower(name, &head_->routing.all);
    head_->routing.all.append(":").append(value).append("\n");
  }
  if (is("x-request-id")) return TakeRequestId(value);
  if (is("traceparent")) return TakeTraceParent(value);
  if (is("tracestate")) return head_->trace.AddState(value);
  if (is("sec-fetch-site")) return Join({value.data(), value.size()}, &head_->fetch_site);
  if (is("seendb-priority")) {
    Join({value.data(), value.size()}, &head_->priority);
  } else if (is("seendb-timeout-ms") || is("x-envoy-expected-rq-timeout-ms") ||
             is("connect-timeout-ms")) {
    const int64_t ms = NumberOf(value);
    if (ms > 0 && (head_->timeout_ms == 0 || ms < head_->timeout_ms)) head_->timeout_ms = ms;
  } else if (is("connect-protocol-version")) {
    Join({value.data(), value.size()}, &head_->connect_version);
  } else if (is("seendb-attempt")) {
    head_->attempt = std::max(head_->attempt, static_cast<int>(NumberOf(value)));
  } else if (is("x-envoy-attempt-count")) {  // the first is 1
    head_->attempt = std::max(head_->attempt, static_cast<int>(NumberOf(value)) - 1);
  } else if (own) {
    TakeRouting(name.substr(kOwnPrefix.size()), value);
  }
}

/// `name` without "SeenDB-".
void RequestParser::TakeRouting(std::string_view name, std::string_view value) {
  RoutingHead& routing = head_->routing;
  const auto is = [name](std::string_view lower) { return EqualsIgnoringCase(name, lower); };
  if (is("user")) {
    routing.user.assign(value);
  } else if (is("position")) {
    Join({value.data(), value.size()}, &routing.position);
  } else if (is("route")) {
    routing.route.assign(value);
  } else if (is("hop")) {
    routing.hop = true;
  } else if (is("failover")) {
    routing.failover = true;
  } else if (is("caller")) {
    routing.caller.assign(value);
  } else if (is("tenant")) {
    routing.tenant.assign(value);
  } else if (is("peer-proof")) {
    Join({value.data(), value.size()}, &routing.proof);  // of two neither is one
  } else if (is("age-ms")) {
    routing.age_ms = std::max(routing.age_ms, NumberOf(value));
  }
}

void RequestParser::TakeRequestId(std::string_view value) {
  head_->request_id.clear();
  if (++request_ids_ > 1 || !IsRequestId(value)) return;
  head_->request_id.assign(value);
}

/// Two of them count as none.
void RequestParser::TakeTraceParent(std::string_view value) {
  TraceContext& trace = head_->trace;
  if (++trace_parents_ > 1 || !trace.Parse(value)) trace.trace_id.clear();
}

void RequestParser::TakeContentLength(std::string_view value, ErrorCode* ec) {
  if (head_->content_length) {
    return Refuse({400, "invalid_argument", "more than one Content-Length header"}, ec);
  }
  uint64_t length = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (error != std::errc() || end != value.data() + value.size()) {
    return Refuse({400, "invalid_argument", "malformed Content-Length"}, ec);
  }
  head_->content_length = length;
  if (head_->chunked) {
    Refuse({400, "invalid_argument", "both Content-Length and Transfer-Encoding"}, ec);
  }
}

void RequestParser::TakeTransferEncoding(std::string_view value, ErrorCode* ec) {
  if (head_->chunked) {
    return Refuse({400, "invalid_argument", "more than one Transfer-Encoding header"}, ec);
  }
  if (!head_->http11 || !EqualsIgnoringCase(value, "chunked")) {
    return Refuse({400, "invalid_argument", "Transfer-Encoding other than chunked"}, ec);
  }
  head_->chunked = true;
  if (head_->content_length) {
    Refuse({400, "invalid_argument", "both Content-Length and Transfer-Encoding"}, ec);
  }
}

void RequestParser::on_header_impl(ErrorCode& ec) {
  if (head_->http11 && hosts_ == 0) {
    return Refuse({400, "invalid_argument", "no Host header"}, &ec);
  }
  if (head_->trace.trace_id.empty()) head_->trace.Clear();
  head_->keep_alive = keep_alive();
  head_done_ = true;
}

std::size_t RequestParser::on_body_impl(View, ErrorCode& ec) {
  // Bodies are read around this parser.
  Refuse({500, "internal", "unexpected body"}, &ec);
  return 0;
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, View, ErrorCode& ec) {
  return on_body_impl({}, ec);
}

RequestParser::Progress RequestParser::Broken(const ErrorCode& ec) {
  if (!error_) {
    if (ec == beast_http::error::header_limit) {
      error_ = Error{431, "header_too_large", "request head over the limit"};
    } else {
      error_ = Error{400, "invalid_argument", "broken HTTP: " + ec.message()};
    }
  }
  return Progress::kBroken;
}

}  // namespace seendb::http
