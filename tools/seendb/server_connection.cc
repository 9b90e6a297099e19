#include "server_connection.h"

#include "net/answer.h"

namespace seendb::tool {
namespace {

namespace http = boost::beast::http;

}  // namespace

Status ServerConnection::Connect(const ServerAddress& address, const Credentials& credentials) {
  return stream_.Connect({.host = address.host,
                          .port = address.port,
                          .secure = address.secure,
                          .unix_path = address.unix_path},
                         {.ca = credentials.ca,
                          .certificate = credentials.certificate,
                          .named_by = "--ca, SEENDB_CA"});
}

ServerConnection::Error ServerConnection::Exchange(const Request& request, uint64_t bytes_most,
                                                   Parser* parser, bool* answered) {
  const Error error =
      stream_.Run([&](auto& stream, auto on_end) { http::async_write(stream, request, on_end); });
  if (error) return error;
  const Error read = net::ReadAnswer(&stream_, &buffer_, bytes_most, parser);
  *answered = parser->got_some();
  return read;
}

}  // namespace seendb::tool
