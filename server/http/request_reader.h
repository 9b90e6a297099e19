// server/http/request_reader.h: makes requests of what a connection has received: a head, then the
// body, out of its chunks and decoded.
//
//   while ((got = reader.TakeHead()) == Got::kNothing) ...   // reader.Ask, Received
//   error = reader.Expect(&plan);                            // the body that the plan wants
//   while (!reader.complete() && (got = reader.TakeBody(&plan)) == Got::kNothing) ...
//   reader.End(...);                                         // it was answered
//
// A compressed body is decoded in small pieces, never beyond the limits that hold for a body that
// comes as it is. Between two pieces the others of the thread should have their turn (has_more): a
// few bytes may come to thousands of pieces.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "http/bytes.h"
#include "http/coded_body.h"
#include "http/error.h"
#include "http/message.h"
#include "http/request_parser.h"
#include "http/service.h"
#include "http/transport.h"

namespace seendb::http {

/// See the head of this file. Threads: the connection's I/O thread; the request and its body are
/// read by its handler too.
class RequestReader {
 public:
  /// The result of a call that takes bytes.
  enum class Got : uint8_t {
    kNothing,  ///< more bytes are needed
    kSome,     ///< a head; a piece of a body, be it empty
    kBroken,   ///< error() says why
  };

  /// Reads what `transport`, borrowed, receives; bodies come out of `budget`, borrowed.
  RequestReader(Transport* transport, MemoryBudget* budget);

  /// Whether no byte of a head has come since the last request.
  bool before_head() const { return !parser_ || !parser_->started(); }
  /// True, and made ready, where a request is to begin of which not even an empty line was looked
  /// for.
  bool Prepare();
  /// Takes what has come of a head.
  Got TakeHead();
  /// A head has to have come after so long, whether it begins or not.
  void LimitHead(int64_t ms);
  /// The head was taken, at `now`.
  void Begin(Clock::time_point now);
  /// The plan for the body is made, of which `plan->body` and `plan->refused` count. An error: it
  /// is too large, or is not to be read.
  std::optional<Error> Expect(Plan* plan);
  /// Takes what has come of the body. A body that can't be decoded to its end makes `*plan`
  /// refused.
  Got TakeBody(Plan* plan);
  /// Why it is broken.
  const Error& error() const { return error_; }

  /// Begins to read more, and sets the transport's deadline. False: no memory. `plan`: null where a
  /// head is read, or what is dropped before it.
  bool Ask(const Plan* plan);
  /// The read that Ask began has ended; otherwise its time is up.
  void Received();

  /// Streams: the body so far was handed on, and `taken` bytes of it were taken.
  void Consume(size_t taken);
  /// Streams: bytes of the body that were not handed on before.
  size_t news() const { return body.size() - fed_; }
  /// Streams: notes whether the news hold more than empty lines.
  void NoteProgress();

  /// The rest of the body is dropped instead: it is no request any more.
  void BeginDrop() { dropped_left_ = left_; }
  /// Drops what has come of it. False: more is to come.
  bool Drop();
  bool drops() const { return dropped_left_ > 0; }

  /// The request is answered, or was never whole. `keep`: the memory that the body may keep.
  void End(size_t keep);
  /// The bytes that came of it, without the rest of a body that was not read.
  uint64_t TakeBytesIn(bool whole_head);

  bool complete() const { return complete_; }                   ///< the body is all here
  bool has_more() const { return coded_ && coded_->has_more; }  ///< to decode, of what is here
  uint64_t left() const { return left_; }                       ///< of a body of known length
  Clock::time_point first_byte() const { return first_byte_; }  ///< of the request

  RequestHead head;
  Bytes body;

 private:
  uint64_t CompressedLimit() const;
  Got Break(Error error);
  Got TakeCoded(Plan* plan);
  Got TakeCompressed(const Plan& plan);
  Got DecodePiece(Plan* plan);
  Clock::time_point WaitsUntil();
  Clock::time_point BodyDeadline(const Plan& plan);

  Transport* const transport_;
  MemoryBudget* const budget_;
  std::optional<RequestParser> parser_;  // of the current head, or of a chunked body
  Clock::time_point head_until_;         // deadline of a head that has begun, or has to come
  bool limited_ = false;                 // head_until_ counts before it has begun
  Clock::time_point idle_until_;         // and until one begins: empty lines don't extend it
  Clock::time_point first_byte_;
  uint64_t bytes_in_ = 0;
  uint64_t left_ = 0;
  uint64_t dropped_left_ = 0;
  bool complete_ = false;
  bool asks_ = false, into_body_ = false;  // what Ask reads, and where to
  std::unique_ptr<CodedBody> coded_;       // of a compressed body
  size_t fed_ = 0;                         // bytes of the body the stream has seen and not taken
  // Since line_until_ was set, a stream has brought content: more than empty lines and framing
  // (heads of chunks, empty compressed pieces).
  bool progressed_ = false;
  Clock::time_point line_until_, stream_until_;  // a stream's next progress, and its end
  Error error_;
};

}  // namespace seendb::http
