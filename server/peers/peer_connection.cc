#include "peers/peer_connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <sys/socket.h>

namespace seendb::peers {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Clock = std::chrono::steady_clock;

constexpr size_t kReadAtOnce = 64u << 10;
constexpr unsigned kUnauthorized = 401;
/// An answer is passed on to a client, which takes no other status.
constexpr unsigned kStatusLeast = 200, kStatusMost = 599;
/// Beast takes no longer value of a header: it throws.
constexpr size_t kHeaderMost = 65'000;

beast::string_view ToBeast(std::string_view text) { return {text.data(), text.size()}; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

/// The request as it is sent.
template <typename Request>
proof::Question QuestionOf(const Request& request) {
  const auto method = request.method_string(), target = request.target();
  proof::Question question{.method = {method.data(), method.size()},
                           .target = {target.data(), target.size()}};
  for (const auto& field : request) {
    std::string header = Lower({field.name_string().data(), field.name_string().size()});
    if (!proof::IsProven(header)) continue;
    header.append(":").append(field.value().data(), field.value().size());
    question.headers.push_back(std::move(header));
  }
  return question;
}

}  // namespace

PeerConnection::PeerConnection(asio::io_context& context, PeerThread* owner,
                               const PeerClientOptions& options, net::TlsContext tls,
                               const std::string& url)
    : owner_(owner),
      options_(options),
      url_(url),
      tls_context_(std::move(tls)),
      resolver_(context),
      stream_(context) {
  buffer_.reserve(kReadAtOnce);  // what is read at once goes by it
}

template <typename Start>
void PeerConnection::OnStream(Start start) {
  if (tls_) return start(*tls_);
  start(stream_);
}

void PeerConnection::Begin(std::shared_ptr<Exchange> exchange) {
  exchange_ = std::move(exchange);
  parser_.reset();
  stream_.expires_at(exchange_->until);
  if (connected_) return Write();
  Result<net::StreamTarget> target = net::TargetOf(url_);
  std::string wrong(target.status().message());
  if (target.ok() && target->secure && tls_context_ == nullptr) wrong = "TLS is not set up";
  if (target.ok() && !target->secure && options_.tls_alone) {
    wrong = url_ + " is not asked: this node speaks TLS, and asks addresses of https alone";
  }
  for (const auto& [name, value] : exchange_->request.headers) {
    if (value.size() > kHeaderMost) wrong = "the header " + name + " is too long to be passed on";
  }
  if (!wrong.empty()) {
    return asio::post(resolver_.get_executor(), [self = shared_from_this(), wrong] {
      if (self->exchange_ != nullptr) self->Fail(PeerAnswer::Kind::kRefused, wrong);
    });
  }
  target_ = std::move(target).value();
  Resolve();
}

void PeerConnection::Resolve() {
  resolver_.async_resolve(target_.host, target_.port,
                          [self = shared_from_this()](Error failed, auto found) {
                            if (self->exchange_ == nullptr) return;
                            if (failed) {
                              return self->Fail(PeerAnswer::Kind::kRefused, failed.message());
                            }
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
    Error ignored;
    self->stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    if (self->target_.secure) return self->Secure();
    self->connected_ = true;
    self->Write();
  });
}

void PeerConnection::Secure() {
  tls_.emplace(stream_, *tls_context_);
  net::ExpectPeer(tls_->native_handle(), target_.host);
  tls_->async_handshake(asio::ssl::stream_base::client, [self = shared_from_this()](Error failed) {
    if (self->exchange_ == nullptr) return;
    if (failed == beast::error::timeout) return self->FailBy(failed);
    if (failed) {
      return self->Fail(
          PeerAnswer::Kind::kRefused,
          net::HandshakeFailure(self->tls_->native_handle(), failed, self->options_.tls_named_by));
    }
    self->connected_ = true;
    self->Write();
  });
}

void PeerConnection::Write() {
  const PeerRequest& asked = exchange_->request;
  request_ = {};
  request_.version(11);
  request_.method_string(asked.method);
  request_.target(asked.target);
  request_.set(beast::http::field::host, target_.Authority());
  for (const auto& [name, value] : asked.headers) request_.set(name, value);
  proof_.clear();
  if (options_.proofs != nullptr) {
    proof_ = options_.proofs->Make(QuestionOf(request_), asked.body.sha256, asked.node);
    request_.set(ToBeast(proof::kHeader), proof_);
  }
  request_.body() = {asked.body.bytes.data(), asked.body.bytes.size()};
  request_.prepare_payload();
  // What is written is the exchange's, and may be given up meanwhile.
  const auto written = [self = shared_from_this(), sent = exchange_](Error failed, size_t) {
    if (self->exchange_ == nullptr) return;
    // A server that refuses at the head of a request may answer and close before it has the body.
    if (failed && failed == beast::error::timeout) return self->FailBy(failed);
    self->Read();
  };
  OnStream([&](auto& stream) { beast::http::async_write(stream, request_, written); });
}

void PeerConnection::Read() {
  parser_.emplace();
  parser_->body_limit(options_.answer_bytes_most);
  OnStream([this](auto& stream) {
    beast::http::async_read_header(stream, buffer_, *parser_,
                                   [self = shared_from_this()](Error failed, size_t) {
                                     if (self->exchange_ == nullptr) return;
                                     if (failed) return self->FailBy(failed);
                                     self->ReadBody();
                                   });
  });
}

void PeerConnection::ReadBody() {
  // The parser's own limit lets a Content-Length beyond it pass.
  if (parser_->content_length().value_or(0) > options_.answer_bytes_most) {
    return FailBy(beast::http::error::body_limit);
  }
  OnStream([this](auto& stream) {
    beast::http::async_read(stream, buffer_, *parser_,
                            [self = shared_from_this()](Error failed, size_t) {
                              if (self->exchange_ == nullptr) return;
                              if (failed) return self->FailBy(failed);
                              self->Answered();
                            });
  });
}

void PeerConnection::Answered() {
  auto message = parser_->release();
  PeerAnswer answer;
  answer.kind = PeerAnswer::Kind::kAnswered;
  answer.status = message.result_int();
  if (answer.status < kStatusLeast || answer.status > kStatusMost) {
    return Fail(PeerAnswer::Kind::kBroken,
                "the node answers HTTP " + std::to_string(answer.status) + ", which is no answer");
  }
  for (const auto& field : message) {
    const auto name = field.name_string(), value = field.value();
    answer.headers.emplace_back(Lower({name.data(), name.size()}),
                                std::string(value.data(), value.size()));
  }
  answer.body = std::move(message.body());
  reused_ = true;
  const bool keep = message.keep_alive() && buffer_.size() == 0;
  if (answer.status == kUnauthorized && !proof_.empty() &&
      options_.proofs->Learn(proof_, answer.Header("www-authenticate"))) {
    if (!std::exchange(exchange_->learned, true)) return Repeat(keep);
    return Fail(PeerAnswer::Kind::kRefused, "the node takes no proof, of its own time neither");
  }
  End(std::move(answer), keep);
}

void PeerConnection::FailBy(Error error) {
  if (error == beast::error::timeout) {
    return Fail(PeerAnswer::Kind::kTimedOut, "no answer in time");
  }
  const bool untouched = !parser_ || !parser_->got_some();
  if (reused_ && untouched && !exchange_->repeated && exchange_->until > Clock::now()) {
    exchange_->repeated = true;
    return Repeat(/*keep=*/false);
  }
  Fail(PeerAnswer::Kind::kBroken, error.message());
}

void PeerConnection::Fail(PeerAnswer::Kind kind, const std::string& why) {
  End({.kind = kind, .why = why}, /*keep=*/false);
}

void PeerConnection::End(PeerAnswer answer, bool keep) {
  const std::shared_ptr<PeerConnection> self = shared_from_this();
  const std::shared_ptr<Exchange> exchange = LetGo(keep);
  owner_->Release(self, keep);
  exchange->done(std::move(answer));
}

void PeerConnection::Repeat(bool keep) {
  const std::shared_ptr<PeerConnection> self = shared_from_this();
  owner_->Repeat(LetGo(keep));  // before Release, which would give its place to one that waits
  owner_->Release(self, keep);
}

std::shared_ptr<Exchange> PeerConnection::LetGo(bool keep) {
  if (keep) stream_.expires_never();  // else an operation may be pending, which forbids it
  idle_since_ = Clock::now();
  // An aborted operation may have ended already and be about to come back: it still reads the
  // request, or writes to the parser.
  return std::exchange(exchange_, nullptr);
}

}  // namespace seendb::peers
