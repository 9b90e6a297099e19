// server/http/response_writer.h: makes the bytes of answers: heads, bodies, chunks of what is sent
// as it is made; compresses them; counts what they hold against the budget of answers.
//
// Answers to pipelined requests are gathered and written together, by Transport.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>

#include "http/bytes.h"
#include "http/content_coding.h"
#include "http/encoder.h"
#include "http/message.h"
#include "http/service.h"

namespace seendb::http {

/// See the head of this file. Threads: the connection's I/O thread; Encode, EncodePiece, `response`
/// and `piece` also the one that has the request.
class ResponseWriter {
 public:
  /// All borrowed: the request of now and its plan, the budget, and the Date header's value.
  ResponseWriter(const RequestHead* head, const Plan* plan, MemoryBudget* answers,
                 const std::string* date);
  ~ResponseWriter() { Close(); }
  ResponseWriter(const ResponseWriter&) = delete;
  ResponseWriter& operator=(const ResponseWriter&) = delete;

  /// A request was taken: chooses how its answer is compressed.
  void Begin();
  void Continue() { out_ += "HTTP/1.1 100 Continue\r\n\r\n"; }
  /// Adds `response`. `keep`: the connection stays.
  void Put(bool keep);
  /// Adds the head of an answer that goes out as it is made.
  void PutStreamHead(bool keep);
  /// Adds `piece` to it.
  void PutPiece() { PutChunk(piece); }
  /// Ends it.
  void PutEnd();
  /// Ends it, too late for a status: the error in `response` is the last line, and the body stays
  /// without its end.
  void PutFailure();
  /// The head of an answer that goes out as it is made is out.
  bool streams() const { return streams_; }

  /// Whether `response`, which is whole, should be compressed still, and whether that takes long.
  bool Encodes() const;
  bool EncodesMuch() const;
  /// Compresses `response`; once.
  void Encode();
  /// Compresses `piece`, which a stream has made.
  void EncodePiece();

  /// Nothing waits to be written.
  bool empty() const { return out_.empty(); }
  /// No more is to be gathered.
  bool full() const;
  std::array<boost::asio::const_buffer, 2> buffers() const;
  /// All was written.
  void Wrote();
  /// The request is answered.
  void End();
  /// The bytes of its answer.
  uint64_t TakeBytesOut() { return std::exchange(bytes_out_, 0); }

  /// Counts what answers and the stream hold.
  void Charge();
  /// Counts nothing more.
  void Close() { answers_->Give(std::exchange(charged_, 0)); }
  /// Whether too much is unread for one more answer, if it may be large. Of a small body none is;
  /// `body` of it are here.
  bool Refuses(size_t body) const;
  /// Gives the memory of the last answers back. Precondition: empty().
  void Shrink();

  Response response;
  std::string piece;  ///< made by a stream, not framed yet

 private:
  void PutHead(bool keep, bool streaming);
  void PutChunk(std::string_view bytes);
  void PutEncoded(std::string_view bytes, bool end);
  std::string EncodeOn(std::string_view bytes, bool end);
  void KeepMost(size_t bytes);

  const RequestHead* const head_;
  const Plan* const plan_;
  MemoryBudget* const answers_;
  const std::string* const date_;
  std::string out_;        // to be written: heads and small bodies
  bool big_body_ = false;  // response.body is to be written after out_
  bool streams_ = false;
  Coding coding_ = Coding::kIdentity;  // that the answer is to get
  std::unique_ptr<Encoder> encoder_;   // of a streamed answer
  uint64_t bytes_out_ = 0;             // of this request
  size_t charged_ = 0;                 // bytes counted by Charge
};

}  // namespace seendb::http
