// server/http/chunk_decoder.h: the chunked transfer coding (RFC 9112, 7.1) of a request body.
//
// Strict where two readers could disagree: sizes are 1-16 hex digits and nothing else, lines end
// with CRLF, no control characters, no folded trailers. Extensions and trailers are read and
// dropped. Boost.Beast's own reader of chunks aborts in builds with assertions when a last chunk
// comes in certain pieces.

#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/bytes.h"
#include "http/error.h"

namespace seendb::http {

/// Decodes one body, in whatever pieces it comes. Threads: one at a time.
class ChunkDecoder {
 public:
  /// What one call of Put achieved.
  enum class Progress : uint8_t { kNeedsMore, kDone, kBroken };

  /// A chunk's head, and all trailers together, may have `line_bytes`.
  explicit ChunkDecoder(size_t line_bytes) : line_bytes_(line_bytes) {}

  /// Consumes from `*in` and appends decoded bytes to `*body` (nullptr: drops them). At
  /// kNeedsMore no more than line_bytes are left in `*in`; at kDone what follows the body is.
  /// kBroken also when the body exceeds `limit` or its budget.
  Progress Put(Bytes* in, Bytes* body, size_t limit);

  /// Why the body was refused. Precondition: kBroken.
  const Error& error() const {
    assert(error_.has_value());
    return *error_;
  }

 private:
  enum class State : uint8_t { kHead, kData, kDataEnd, kTrailer, kDone };

  /// Each takes what it can: true when it got on, false when it needs more or failed.
  bool TakeHead(Bytes* in, size_t limit);
  bool TakeData(Bytes* in, Bytes* body);
  bool TakeDataEnd(Bytes* in);
  bool TakeTrailer(Bytes* in);
  /// Finds a line; false when it isn't whole yet, or broken.
  bool FindLine(std::string_view bytes, size_t limit, std::string_view* line);
  bool Refuse(const char* what);

  const size_t line_bytes_;
  State state_ = State::kHead;
  size_t searched_ = 0;  // bytes of the present line known to hold no CR
  uint64_t left_ = 0;    // of the present chunk
  size_t taken_ = 0;     // of the body
  size_t trailer_bytes_ = 0;
  std::optional<Error> error_;
};

}  // namespace seendb::http
