// server/http/coded_body.h: a compressed request body on its way through a session.

#pragma once

#include "http/bytes.h"
#include "http/decoder.h"

namespace seendb::http {

/// See the head of this file. Owned by the session, from the head of the request to its answer.
struct CodedBody {
  /// `coding` is not kIdentity; `budget` is borrowed.
  CodedBody(Coding coding, MemoryBudget* budget) : decoder(coding, budget), unchunked(budget) {}

  Decoder decoder;
  Bytes unchunked;        ///< of a chunked body: compressed bytes out of their chunks
  bool all_here = false;  ///< all compressed bytes have come
  bool has_more = false;  ///< more can be decoded without any more bytes
};

}  // namespace seendb::http
