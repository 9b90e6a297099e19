#include "peers/peer_connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>
#include <sys/socket.h>

namespace seendb::peers {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Clock = std::chrono::steady_clock;

constexpr size_t kReadAtOnce = 64u << 10;

/// Host and port of "http://host:port".
std::pair<std::string, std::string> PartsOf(const std::string& url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  const size_t colon = url.rfind(':');
  if (colon == std::string::npos || colon < begin) return {url.substr(begin), "80"};
  std::string host = url.substr(begin, colon - begin);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return {std::move(host), url.substr(colon + 1)};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

PeerConnection::PeerConnection(asio::io_context& context, PeerThread* owner,
                               const PeerClientOptions& options, const std::string& url)
    : owner_(owner), options_(options), url_(url), resolver_(context), stream_(context) {
  std::tie(host_, port_) = PartsOf(url);
  buffer_.reserve(kReadAtOnce);  // what is read at once goes by it
}

void PeerConnection::Begin(std::shared_ptr<Exchange> exchange) {
  exchange_ = std::move(exchange);
  PeerRequest& asked = exchange_->request;
  request_ = {};
  request_.version(11);
  request_.method_string(asked.method);
  request_.target(asked.target);
  request_.set(beast::http::field::host, host_ + ":" + port_);
  request_.set(beast::http::field::authorization, "Bearer " + options_.secret);
  for (const auto& [name, value] : asked.headers) request_.set(name, value);
  request_.body() = {asked.body.bytes.data(), asked.body.bytes.size()};
  request_.prepare_payload();
  stream_.expires_at(exchange_->until);
  if (connected_) return Write();
  resolver_.async_resolve(host_, port_, [self = shared_from_this()](Error failed, auto found) {
    if (self->exchange_ == nullptr) return;
    if (failed) return self->Fail(PeerAnswer::Kind::kRefused, failed.message());
    self->Connect(found);
  });
}

bool PeerConnection::IsStale() {
  char byte = 0;
  const ssize_t count = recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

bool PeerConnection::IsLate(Clock::time_point now) const {
  constexpr std::chrono::milliseconds kGrace{100};
  return exchange_ != nullptr && exchange_->until + kGrace < now;
}

void PeerConnection::Abort(PeerAnswer::Kind kind, const std::string& why) {
  if (exchange_ == nullptr) return;
  Error ignored;
  stream_.socket().close(ignored);
  resolver_.cancel();
  Fail(kind, why);
}

void PeerConnection::Connect(const Tcp::resolver::results_type& found) {
  stream_.async_connect(found, [self = shared_from_this()](Error failed, const auto&) {
    if (self->exchange_ == nullptr) return;
    if (failed) {
      const bool late = failed == beast::error::timeout;
      return self->Fail(late ? PeerAnswer::Kind::kTimedOut : PeerAnswer::Kind::kRefused,
                        failed.message());
    }
    self->connected_ = true;
    Error ignored;
    self->stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    self->Write();
  });
}

void PeerConnection::Write() {
  beast::http::async_write(stream_, request_, [self = shared_from_this()](Error failed, size_t) {
    if (self->exchange_ == nullptr) return;
    // A server that refuses at the head of a request may answer and close before it has the body.
    if (failed && failed == beast::error::timeout) return self->FailBy(failed);
    self->Read();
  });
}

void PeerConnection::Read() {
  parser_.emplace();
  parser_->body_limit(options_.answer_bytes_most);
  beast::http::async_read_header(stream_, buffer_, *parser_,
                                 [self = shared_from_this()](Error failed, size_t) {
                                   if (self->exchange_ == nullptr) return;
                                   if (failed) return self->FailBy(failed);
                                   self->ReadBody();
                                 });
}

void PeerConnection::ReadBody() {
  // The parser's own limit lets a Content-Length beyond it pass.
  if (parser_->content_length().value_or(0) > options_.answer_bytes_most) {
    return FailBy(beast::http::error::body_limit);
  }
  beast::http::async_read(stream_, buffer_, *parser_,
                          [self = shared_from_this()](Error failed, size_t) {
                            if (self->exchange_ == nullptr) return;
                            if (failed) return self->FailBy(failed);
                            self->Answered();
                          });
}

void PeerConnection::Answered() {
  auto message = parser_->release();
  PeerAnswer answer;
  answer.kind = PeerAnswer::Kind::kAnswered;
  answer.status = message.result_int();
  for (const auto& field : message) {
    const auto name = field.name_string(), value = field.value();
    answer.headers.emplace_back(Lower({name.data(), name.size()}),
                                std::string(value.data(), value.size()));
  }
  answer.body = std::move(message.body());
  reused_ = true;
  End(std::move(answer), message.keep_alive() && buffer_.size() == 0);
}

void PeerConnection::FailBy(Error error) {
  if (error == beast::error::timeout) {
    return Fail(PeerAnswer::Kind::kTimedOut, "no answer in time");
  }
  const bool untouched = !parser_ || !parser_->got_some();
  if (reused_ && untouched && !exchange_->repeated && exchange_->until > Clock::now()) {
    const std::shared_ptr<PeerConnection> self = shared_from_this();
    const std::shared_ptr<Exchange> again = std::exchange(exchange_, nullptr);
    owner_->Repeat(again);  // before Release, which would give its place to one that waits
    return owner_->Release(self, /*keep=*/false);
  }
  Fail(PeerAnswer::Kind::kBroken, error.message());
}

void PeerConnection::Fail(PeerAnswer::Kind kind, const std::string& why) {
  End({.kind = kind, .why = why}, /*keep=*/false);
}

void PeerConnection::End(PeerAnswer answer, bool keep) {
  const std::shared_ptr<PeerConnection> self = shared_from_this();
  const std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
  stream_.expires_never();
  idle_since_ = Clock::now();
  request_ = {};
  parser_.reset();
  owner_->Release(self, keep);
  exchange->done(std::move(answer));
}

}  // namespace seendb::peers
