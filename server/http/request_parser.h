// server/http/request_parser.h: HTTP/1.x request syntax, by Boost.Beast's incremental parser,
// made strict about everything that two parsers could read differently.
//
// The parser allocates nothing of its own: the head goes into a RequestHead, body bytes of a
// chunked request (read by a ChunkDecoder) into a Bytes.

#pragma once

#include <cassert>
#include <optional>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>

#include "http/bytes.h"
#include "http/chunk_decoder.h"
#include "http/error.h"
#include "http/message.h"

namespace seendb::http {

/// One request's parser; make a new one for the next. Threads: one at a time.
class RequestParser final : private boost::beast::http::basic_parser<true> {
 public:
  /// Parses into `*head` (cleared here); both borrowed.
  RequestParser(size_t header_bytes, RequestHead* head);

  /// What one call of Put achieved.
  enum class Progress : uint8_t { kNeedsMore, kHead, kDone, kBroken };

  /// Consumes bytes of the head; at kHead the rest of `*in` is body, or the next request.
  Progress PutHead(Bytes* in);
  /// Consumes bytes of a chunked body and appends the decoded ones to `*body` (nullptr: drops
  /// them). kBroken also when body exceeds `limit` or its budget. At kNeedsMore `*in` holds less
  /// than header_bytes.
  Progress PutChunks(Bytes* in, Bytes* body, size_t limit);

  /// True from the first byte of the request line on.
  bool started() const { return got_some(); }
  /// Whether any byte has come, be it of empty lines alone.
  bool touched() const { return touched_; }
  /// Why the request was refused. Precondition: kBroken.
  const Error& error() const {
    assert(error_.has_value());
    return *error_;
  }

 private:
  using ErrorCode = boost::beast::error_code;
  using View = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb method, View method_text, View target, int version,
                       ErrorCode& ec) override;
  void on_response_impl(int, View, int, ErrorCode&) override {}
  void on_field_impl(boost::beast::http::field name, View name_text, View value,
                     ErrorCode& ec) override;
  void on_header_impl(ErrorCode& ec) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(View body, ErrorCode& ec) override;
  void on_chunk_header_impl(std::uint64_t, View, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View body, ErrorCode& ec) override;
  void on_finish_impl(ErrorCode&) override {}

  /// Remembers why, and stops the parser.
  void Refuse(Error error, ErrorCode* ec);
  /// Several of them, or one that can't be echoed, count as none.
  void TakeRequestId(std::string_view value);
  void TakeTraceParent(std::string_view value);
  /// Names that the parser's table does not have.
  void TakeOther(View name, std::string_view value);
  void TakeRouting(std::string_view name, std::string_view value);
  void TakeContentLength(std::string_view value, ErrorCode* ec);
  void TakeTransferEncoding(std::string_view value, ErrorCode* ec);
  /// Turns the parser's own refusals into ours.
  Progress Broken(const ErrorCode& ec);

  const size_t header_bytes_;
  size_t header_taken_ = 0;
  RequestHead* const head_;
  ChunkDecoder chunks_;
  bool head_done_ = false;
  int hosts_ = 0;
  int request_ids_ = 0, trace_parents_ = 0;
  int empty_lines_ = 0;  // before the request line
  bool touched_ = false;
  std::optional<Error> error_;
};

}  // namespace seendb::http
