// net/answer.h: reads an answer of HTTP that has a limit.

#pragma once

#include <cstdint>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "net/client_stream.h"

namespace seendb::net {

/// Reads an answer into `*parser`; a body of more than `bytes_most` bytes is error::body_limit. The
/// head is read first: where it comes with the body, the parser's own limit lets a Content-Length
/// beyond it pass (Boost 1.74). What lies behind the answer stays in `*buffer`.
template <typename Parser>
ClientStream::Error ReadAnswer(ClientStream* stream, boost::beast::flat_buffer* buffer,
                               uint64_t bytes_most, Parser* parser) {
  namespace http = boost::beast::http;
  parser->body_limit(bytes_most);
  const ClientStream::Error head = stream->Run(
      [&](auto& from, auto on_end) { http::async_read_header(from, *buffer, *parser, on_end); });
  if (head) return head;
  if (parser->content_length().value_or(0) > bytes_most) return http::error::body_limit;
  return stream->Run(
      [&](auto& from, auto on_end) { http::async_read(from, *buffer, *parser, on_end); });
}

}  // namespace seendb::net
