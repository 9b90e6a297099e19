#include "attempt.h"

#include <algorithm>

#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <poll.h>

#include "json.h"

namespace seendb::client::internal {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr uint64_t kBodyBytesMost = 1u << 30;
constexpr uint32_t kHeadBytesMost = 64u << 10;
constexpr unsigned kHttp11 = 11;

/// Whether what came is no HTTP, or too much; otherwise the connection broke.
bool IsWrongHttp(const beast::error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_line_ending).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

}  // namespace

std::string_view Reply::Header(std::string_view name) const {
  for (const auto& [known, value] : headers) {
    if (beast::iequals({known.data(), known.size()}, {name.data(), name.size()})) return value;
  }
  return {};
}

Attempt::Attempt(Pool& pool, const Request& request, const Headers& headers, Clock::time_point end)
    : pool_(pool), request_(request), headers_(headers), end_(end) {
  message_.version(kHttp11);
  message_.method_string(request.method);
  message_.target(request.path);
  const net::StreamTarget& target = pool.target();
  message_.set(http::field::host, target.unix_path.empty() ? target.Authority() : target.host);
  if (!request.content_type.empty()) {
    message_.set(http::field::content_type, request.content_type);
  }
  for (const auto& [name, value] : headers_) message_.set(name, value);
  message_.body() = {request.body.data(), request.body.size()};
  message_.prepare_payload();
}

bool Attempt::Send(Clock::time_point connected_by) {
  lease_ = pool_.Take(end_);
  if (!lease_) {
    outcome_.error = Error("timeout", "no connection was free in time");
    return false;
  }
  if (SendOnce(connected_by)) return true;
  // A kept connection may have been closed meanwhile: the request goes on a new one.
  if (outcome_.unsent || !(*lease_)->is_kept() || request_.once) return false;
  outcome_ = {};
  return SendOnce(connected_by);
}

bool Attempt::SendOnce(Clock::time_point connected_by) {
  net::HttpConnection& connection = **lease_;
  connection.EndBy(std::min(connected_by, end_));
  if (const Status opened = connection.Open(); !opened.ok()) {
    outcome_.unsent = true;
    outcome_.error = Error("unavailable", std::string(opened.message()));
    return false;
  }
  connection.EndBy(end_);
  if (const auto error = connection.Send(message_)) {
    Fail(error);
    return false;
  }
  return true;
}

void Attempt::Receive() {
  const auto receive = [this] {
    parser_.emplace();
    parser_->header_limit(kHeadBytesMost);
    parser_->skip(request_.method == "HEAD");
    return (*lease_)->Receive(kBodyBytesMost, &*parser_);
  };
  auto error = receive();
  if (error && (*lease_)->is_kept() && !parser_->got_some() && !request_.once &&
      error != beast::error::timeout) {
    if (!SendOnce(end_)) return;
    error = receive();
  }
  if (error) return Fail(error);
  Reply& reply = outcome_.reply.emplace();
  auto message = parser_->release();
  reply.status = static_cast<int>(message.result_int());
  reply.body = std::move(message.body());
  for (const auto& field : message) {
    reply.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  lease_->SetWhole();
}

void Attempt::Fail(const net::HttpConnection::Error& error) {
  if (error == beast::error::timeout) {
    outcome_.error = Error("timeout", "no answer in time");
  } else {
    outcome_.error = Error(IsWrongHttp(error) ? "protocol" : "unavailable", error.message());
  }
}

int WaitForFirst(const std::vector<Attempt*>& attempts, Clock::time_point end) {
  std::vector<pollfd> waited;
  for (size_t i = 0; i < attempts.size(); ++i) {
    if (attempts[i]->HasUnread()) return static_cast<int>(i);
    waited.push_back({.fd = attempts[i]->handle(), .events = POLLIN, .revents = 0});
  }
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return -1;
    const int most = static_cast<int>(std::min<int64_t>(left, 60'000));
    if (poll(waited.data(), waited.size(), most) <= 0) continue;  // or interrupted
    for (size_t i = 0; i < waited.size(); ++i) {
      if (waited[i].revents != 0) return static_cast<int>(i);
    }
  }
}

}  // namespace seendb::client::internal
