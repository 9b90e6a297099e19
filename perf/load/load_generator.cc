#include "load/load_generator.h"

#include <charconv>
#include <memory>
#include <string_view>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include "scenario/common.h"

namespace seendb::perf {
namespace {

namespace asio = boost::asio;
using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// The number behind "content-length:" in any case; the server always sends one.
size_t ContentLength(std::string_view head) {
  static constexpr std::string_view kName = "\r\ncontent-length:";
  for (size_t at = 0; at + kName.size() < head.size(); ++at) {
    size_t i = 0;
    while (i < kName.size() && (head[at + i] | (kName[i] >= 'a' ? 0x20 : 0)) == kName[i]) ++i;
    if (i < kName.size()) continue;
    const char* from = head.data() + at + i;
    while (*from == ' ') ++from;
    size_t length = 0;
    std::from_chars(from, head.data() + head.size(), length);
    return length;
  }
  Fail("an answer without Content-Length");
}

// What all connections of a load share.
struct Shared {
  const std::vector<std::string>& requests;
  const LoadShape& load;
  asio::io_context& context;
  asio::ssl::context& tls;
  size_t next = 0;
  Stopwatch watch;
  LoadResult result;
};

// One connection: write, read, again.
class Connection {
 public:
  explicit Connection(Shared* shared) : socket_(shared->context), shared_(shared) {
    Connect();
    buffer_.resize(1 << 20);
  }
  void Send() {
    if (shared_->watch.Seconds() >= shared_->load.seconds) return;
    const std::string& request = shared_->requests[shared_->next++ % shared_->requests.size()];
    sent_ = Stopwatch();
    filled_ = 0;
    whole_ = 0;
    const auto written = [this](const ErrorCode& error, size_t) {
      Must(error);
      Read();
    };
    if (tls_) return asio::async_write(*tls_, asio::buffer(request), written);
    asio::async_write(socket_, asio::buffer(request), written);
  }

 private:
  static void Must(const ErrorCode& error) {
    if (error) Fail("HTTP: " + error.message());
  }
  void Connect() {
    tls_.reset();
    socket_ = tcp::socket(shared_->context);
    socket_.connect({asio::ip::make_address("127.0.0.1"), shared_->load.port});
    socket_.set_option(tcp::no_delay(true));
    if (!shared_->load.tls) return;
    tls_ = std::make_unique<asio::ssl::stream<tcp::socket&>>(socket_, shared_->tls);
    tls_->handshake(asio::ssl::stream_base::client);
  }
  void Read() {
    if (filled_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    const auto into = asio::buffer(buffer_.data() + filled_, buffer_.size() - filled_);
    const auto read = [this](const ErrorCode& error, size_t size) {
      Must(error);
      filled_ += size;
      Take();
    };
    if (tls_) return tls_->async_read_some(into, read);
    socket_.async_read_some(into, read);
  }
  void Take() {
    const std::string_view text(buffer_.data(), filled_);
    if (whole_ == 0) {
      const size_t end = text.find("\r\n\r\n");
      if (end == std::string_view::npos) return Read();
      head_ = end + 4;
      whole_ = head_ + ContentLength(text.substr(0, end + 2));
    }
    if (filled_ < whole_) return Read();
    int status = 0;
    std::from_chars(text.data() + 9, text.data() + 12, status);  // "HTTP/1.1 200"
    LoadResult& result = shared_->result;
    if (status == 200) {
      ++result.answers;
      result.latency_us.push_back(sent_.Seconds() * 1e6);
    } else {
      ++result.failures;
      result.last_failure = status;
      return;  // the server may close a connection whose request it refused
    }
    if (shared_->load.connections_of_one) Connect();
    Send();
  }

  tcp::socket socket_;
  std::unique_ptr<asio::ssl::stream<tcp::socket&>> tls_;  // around socket_
  Shared* const shared_;
  Stopwatch sent_;
  std::string buffer_;
  size_t filled_ = 0, head_ = 0, whole_ = 0;
};

}  // namespace

std::string Encode(const HttpRequest& request) {
  std::string out = "POST " + request.target +
                    " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: " + request.content_type +
                    "\r\n";
  if (!request.token.empty()) out += "Authorization: Bearer " + request.token + "\r\n";
  if (!request.accept.empty()) out += "Accept: " + request.accept + "\r\n";
  out += request.headers;
  return out + "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
}

LoadResult RunLoad(const LoadShape& load, const std::vector<std::string>& requests) {
  asio::io_context context(1);
  asio::ssl::context tls(asio::ssl::context::tls_client);
  Shared shared{requests, load, context, tls, 0, {}, {}};
  std::vector<std::unique_ptr<Connection>> connections;
  while (connections.size() < load.connections) {
    connections.push_back(std::make_unique<Connection>(&shared));
  }
  shared.watch = Stopwatch();
  for (const auto& connection : connections) connection->Send();
  context.run();
  shared.result.seconds = shared.watch.Seconds();
  return std::move(shared.result);
}

}  // namespace seendb::perf
