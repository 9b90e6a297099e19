// server/http/encoder.h: compresses an answer, whole or piece by piece.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "http/content_coding.h"

namespace seendb::http {

/// One answer's encoder. Fast levels: gzip's 1 and zstd's 1. Out of memory it throws
/// std::bad_alloc. Threads: one at a time.
class Encoder {
 public:
  /// `coding` is not kIdentity.
  explicit Encoder(Coding coding);
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder();

  /// Appends to `*out` what `bytes` come to, so that all of it can be read from there. With `end`
  /// the answer is complete; nothing follows.
  void Put(std::string_view bytes, bool end, std::string* out);
  /// Memory it holds.
  size_t HeldBytes() const;

 private:
  class Stream;
  class GzipStream;
  class ZstdStream;

  std::unique_ptr<Stream> stream_;
};

}  // namespace seendb::http
