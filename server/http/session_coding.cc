// The part of Session that decodes compressed bodies and compresses answers.
//
// A body is decoded into body_ in small pieces, never beyond the limits that hold for a body that
// comes as it is. Between two pieces the other sessions of the thread have their turn: a few bytes
// may come to thousands of pieces.

#include <algorithm>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include "http/session.h"

namespace seendb::http {
namespace {

/// Decoded bytes made at a time, and for a small body.
constexpr size_t kPiece = 64u << 10;
constexpr size_t kSmallPiece = 4u << 10;
/// Smaller answers are sent as they are: compressing saves no packet.
constexpr size_t kLeastEncoded = 1'024;

}  // namespace

void Session::BeginCoding() {
  answer_coding_ = plan_.compress ? ChooseCoding(head_.accept_encoding) : Coding::kIdentity;
  const bool wanted = plan_.body != BodyMode::kDiscard && head_.HasBody();
  if (plan_.coding == Coding::kIdentity || !wanted) return;
  coded_ = std::make_unique<CodedBody>(plan_.coding, &shared_->budget);
  body_.Expect(plan_.body == BodyMode::kWhole ? shared_->limits.body_bytes : SIZE_MAX);
}

/// The compressed bytes of a whole body: a little more than may come out, since bytes that can't
/// be compressed grow by their framing.
uint64_t Session::CompressedLimit() const {
  const uint64_t body_bytes = shared_->limits.body_bytes;
  return body_bytes + body_bytes / 1'024 + 1'024;
}

/// False when more bytes are needed.
bool Session::TakeCoded() {
  if (!TakeCompressed() || !DecodePiece()) return true;  // it has failed
  return BodyMoved() || coded_->has_more;
}

/// Gets the compressed bytes out of their chunks. False where the request has failed.
bool Session::TakeCompressed() {
  if (!head_.chunked || coded_->all_here) return true;
  const size_t limit = plan_.body == BodyMode::kStream ? SIZE_MAX : CompressedLimit();
  const auto progress = parser_->PutChunks(&in_, &coded_->unchunked, limit);
  if (progress == RequestParser::Progress::kBroken) {
    Fail(parser_->error());
    return false;
  }
  coded_->all_here = progress == RequestParser::Progress::kDone;
  return true;
}

/// Decodes what fits one piece. False where the request has failed.
bool Session::DecodePiece() {
  CodedBody& coded = *coded_;
  Bytes& from = head_.chunked ? coded.unchunked : in_;
  const std::string_view bytes = head_.chunked ? from.view() : from.view().substr(0, left_);
  const size_t limit = plan_.body == BodyMode::kStream ? SIZE_MAX : shared_->limits.body_bytes;
  const size_t room =
      std::min({kPiece, std::max(kSmallPiece, 4 * bytes.size()), limit - body_.size()});
  char beyond = 0;  // for the byte that is one too many
  char* const to = room > 0 ? body_.Reserve(room) : &beyond;
  if (to == nullptr) {
    Fail({503, "busy", "too many request bytes in flight"});
    return false;
  }
  const Decoder::Step step = coded.decoder.Put(bytes, to, std::max<size_t>(room, 1));
  if (step.made > room) {
    Fail({413, "too_large", "decoded request body over " + std::to_string(limit) + " bytes"});
    return false;
  }
  coded.has_more = step.taken < bytes.size() || (step.made == room && room > 0);
  body_.Commit(step.made);
  from.Consume(step.taken);
  if (!head_.chunked) {
    left_ -= step.taken;
    coded.all_here = left_ == 0;
  }
  if (coded.decoder.error()) {
    Fail(*coded.decoder.error());
    return false;
  }
  if (!coded.all_here || coded.has_more) return true;
  body_complete_ = true;
  if (coded.decoder.End()) return true;
  if (plan_.body == BodyMode::kStream) {
    Fail(*coded.decoder.error());
    return false;
  }
  plan_.refused = true;  // the request is read to its end: the connection stays
  plan_.refusal = *coded.decoder.error();
  return true;
}

/// Lets the other sessions of this thread do something before this one goes on.
void Session::GiveWay() {
  phase_ = Phase::kWork;
  boost::asio::post(stream_.get_executor(), [self = shared_from_this()] {
    if (self->phase_ != Phase::kWork) return;  // closed
    self->phase_ = Phase::kBody;
    self->deadline_ = self->After(self->shared_->limits.idle_ms);  // it is not the peer who is slow
    self->Pump();
  });
}

/// Whether response_ is a whole answer that should be compressed.
bool Session::CanEncode() const {
  return answer_coding_ != Coding::kIdentity && !handling_ &&
         response_.body.size() >= kLeastEncoded;
}

/// Compresses response_, on any thread; once.
void Session::EncodeAnswer() {
  const Coding coding = std::exchange(answer_coding_, Coding::kIdentity);
  std::string encoded;
  Encoder(coding).Put(response_.body, /*end=*/true, &encoded);
  if (encoded.size() >= response_.body.size()) return;
  response_.body.swap(encoded);
  response_.content_encoding = CodingName(coding);
}

/// Compresses what a stream made, unless it comes again or is dropped.
void Session::EncodePiece() {
  int64_t later_us = 0;
  const BodyStream& stream = *plan_.stream;
  if (stream_out_.empty() || stream.Failed() || stream.Later(&later_us)) return;
  if (!encoder_) encoder_ = std::make_unique<Encoder>(answer_coding_);
  std::string encoded;
  encoder_->Put(stream_out_, /*end=*/false, &encoded);
  stream_out_.swap(encoded);
}

void Session::AppendEncoded(std::string_view piece, bool end) {
  if (!encoder_) encoder_ = std::make_unique<Encoder>(answer_coding_);
  std::string encoded;
  encoder_->Put(piece, end, &encoded);
  AppendChunk(encoded);
}

}  // namespace seendb::http
