#include "net/client_stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace seendb::net {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kConnectTimeout{5'000};

}  // namespace

void ClientStream::RunContext() {
  context_.restart();
  context_.run();
}

std::chrono::nanoseconds ClientStream::Limit(std::chrono::milliseconds most) const {
  const auto left = end_ - std::chrono::steady_clock::now();
  return std::clamp<std::chrono::nanoseconds>(left, std::chrono::nanoseconds(0), most);
}

ClientStream::Error ClientStream::ConnectPlain(const StreamTarget& target) {
  using Endpoint = asio::generic::stream_protocol::endpoint;
  Error error;
  std::vector<Endpoint> endpoints;
  if (!target.unix_path.empty()) {
    if (target.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
      return boost::system::errc::make_error_code(boost::system::errc::filename_too_long);
    }
    endpoints.emplace_back(asio::local::stream_protocol::endpoint(target.unix_path));
  } else {
    asio::ip::tcp::resolver resolver(context_);
    const auto found = resolver.resolve(target.host, target.port, error);
    if (error) return error;
    for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
  }
  plain_.expires_after(Limit(std::min(timeout_, kConnectTimeout)));
  plain_.async_connect(endpoints, [&](Error e, const Endpoint&) { error = e; });
  RunContext();
  if (!error && target.unix_path.empty()) {
    plain_.socket().set_option(asio::ip::tcp::no_delay(true), error);
  }
  return error;
}

bool ClientStream::HasUnread() {
  if (tls_) {  // what was read from the socket beside the last record
    SSL* const tls = tls_->native_handle();
    if (SSL_pending(tls) > 0 || BIO_ctrl_pending(SSL_get_rbio(tls)) > 0) return true;
  }
  char byte = 0;
  return recv(plain_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

bool ClientStream::HasEnded() {
  char byte = 0;
  return recv(plain_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

Status ClientStream::Connect(const StreamTarget& target, const TlsFiles& files) {
  if (const Error error = ConnectPlain(target)) return Status::Unavailable(error.message());
  return target.secure ? Secure(target, files) : Status();
}

Status ClientStream::Secure(const StreamTarget& target, const TlsFiles& files) {
  namespace ssl = asio::ssl;
  Result<TlsContext> made = MakeTlsContext(files);
  if (!made.ok()) return Status::InvalidArgument(std::string(made.status().message()));
  tls_context_ = std::move(made).value();
  tls_ = std::make_unique<ssl::stream<Plain&>>(plain_, *tls_context_);
  ExpectPeer(tls_->native_handle(), target.host);
  Error error;
  plain_.expires_after(Limit(std::min(timeout_, kConnectTimeout)));
  tls_->async_handshake(ssl::stream_base::client, [&](Error e) { error = e; });
  RunContext();
  if (!error) return {};
  return Status::Unavailable(HandshakeFailure(tls_->native_handle(), error, files.named_by));
}

}  // namespace seendb::net
