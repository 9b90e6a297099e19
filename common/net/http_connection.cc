#include "net/http_connection.h"

#include <cstddef>
#include <utility>

namespace seendb::net {
namespace {

namespace http = boost::beast::http;

/// Beast reads as much at once as its buffer has room for: pieces of a shard are 1 MB.
constexpr size_t kReadAtOnce = 64u << 10;

}  // namespace

HttpConnection::HttpConnection(StreamTarget target, TlsFiles files,
                               std::chrono::milliseconds timeout)
    : target_(std::move(target)), files_(std::move(files)), timeout_(timeout) {}

void HttpConnection::EndBy(std::chrono::steady_clock::time_point end) {
  end_ = end;
  if (stream_) stream_->EndBy(end);
}

Status HttpConnection::Open() {
  if (stream_ && (buffer_.size() > 0 || stream_->HasUnread() || stream_->HasEnded())) {
    stream_.reset();
  }
  kept_ = stream_.has_value();
  if (kept_) return Status::Ok();
  buffer_.clear();
  buffer_.reserve(kReadAtOnce);
  stream_.emplace(timeout_).EndBy(end_);
  Status connected = stream_->Connect(target_, files_);
  if (!connected.ok()) stream_.reset();
  return connected;
}

HttpConnection::Error HttpConnection::Exchange(const Request& request, uint64_t bytes_most,
                                               Parser* parser) {
  const Error error = Send(request);
  return error ? error : Receive(bytes_most, parser);
}

HttpConnection::Error HttpConnection::Send(const Request& request) {
  const Error error =
      stream_->Run([&](auto& to, auto on_end) { http::async_write(to, request, on_end); });
  if (error) stream_.reset();
  return error;
}

HttpConnection::Error HttpConnection::Receive(uint64_t bytes_most, Parser* parser) {
  const Error error = ReadAnswer(bytes_most, parser);
  if (error || !parser->get().keep_alive()) stream_.reset();
  return error;
}

HttpConnection::Error HttpConnection::ExchangePieces(
    const Request& request, uint64_t bytes_most, Parser* parser,
    const std::function<bool(std::string_view)>& on_piece) {
  parser->body_limit(bytes_most);
  Error error =
      stream_->Run([&](auto& to, auto on_end) { http::async_write(to, request, on_end); });
  if (!error) {
    error = stream_->Run(
        [&](auto& from, auto on_end) { http::async_read_header(from, buffer_, *parser, on_end); });
  }
  if (!error) error = ReadPieces(parser, on_piece);
  if (error || !parser->is_done() || !parser->get().keep_alive()) stream_.reset();
  return error;
}

HttpConnection::Error HttpConnection::ReadPieces(
    Parser* parser, const std::function<bool(std::string_view)>& on_piece) {
  std::string& body = parser->get().body();
  while (!parser->is_done()) {
    const Error error = stream_->Run(
        [&](auto& from, auto on_end) { http::async_read_some(from, buffer_, *parser, on_end); });
    if (error) return error;
    const bool goes_on = body.empty() || on_piece(body);
    body.clear();
    if (!goes_on) break;
  }
  return {};
}

// The head is read first: where it comes with the body, the parser's own limit lets a
// Content-Length beyond it pass (Boost 1.74).
HttpConnection::Error HttpConnection::ReadAnswer(uint64_t bytes_most, Parser* parser) {
  parser->body_limit(bytes_most);
  const Error head = stream_->Run(
      [&](auto& from, auto on_end) { http::async_read_header(from, buffer_, *parser, on_end); });
  if (head) return head;
  if (parser->content_length().value_or(0) > bytes_most) return http::error::body_limit;
  return stream_->Run(
      [&](auto& from, auto on_end) { http::async_read(from, buffer_, *parser, on_end); });
}

}  // namespace seendb::net
