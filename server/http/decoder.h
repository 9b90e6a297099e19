// server/http/decoder.h: takes a gzip or zstd body apart piece by piece.
//
//   Decoder decoder(Coding::kGzip, &budget);
//   while (...) {
//     const Decoder::Step step = decoder.Put(coded, to, room);  // never more than `room`
//     if (decoder.error()) return Refuse(*decoder.error());
//     coded.remove_prefix(step.taken);
//     to += step.made;
//   }
//   if (!decoder.End()) return Refuse(*decoder.error());
//
// A body of which more than 100 times as much comes out as went in is refused once 16 MB have come
// out: it would buy work that its length does not show.
//
// Gzip bodies are members (RFC 1952), zstd bodies frames (RFC 8878), one or several, and nothing
// behind the last. A zstd frame may use a window of 8 MB, as RFC 9659 has it for HTTP.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/bytes.h"
#include "http/content_coding.h"
#include "http/error.h"

namespace seendb::http {

/// One body's decoder. What it holds (40 KB for gzip; for zstd up to 0.5 MB and the frame's window)
/// is counted against the budget. Threads: one at a time.
class Decoder {
 public:
  /// What one call of Put achieved.
  struct Step {
    size_t taken = 0;  ///< bytes of `coded`
    size_t made = 0;   ///< bytes written
  };

  /// `coding` is not kIdentity; `budget` is borrowed.
  Decoder(Coding coding, MemoryBudget* budget);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder();

  /// Decodes from `coded`, whatever pieces it comes in, into `room` bytes (at least 1) at `to`. It
  /// stops when all is taken, the room is used, or at an error. With the room used, more may be
  /// made of nothing: call again.
  Step Put(std::string_view coded, char* to, size_t room);
  /// The body ends here: false, with an error, where it may not.
  bool End();

  /// Why the body was refused: 400, which names the byte, 413 where too much comes out of too
  /// little, or 503 where the budget is used up.
  const std::optional<Error>& error() const { return error_; }

 private:
  class Stream;
  class GzipStream;
  class ZstdStream;

  bool Charge();
  void CheckRatio();
  void Refuse(std::string_view what);

  const Coding coding_;
  MemoryBudget* const budget_;
  size_t charged_ = 0;
  uint64_t offset_ = 0;  // compressed bytes taken
  uint64_t made_ = 0;    // bytes that came out of them
  std::unique_ptr<Stream> stream_;
  std::optional<Error> error_;
};

}  // namespace seendb::http
