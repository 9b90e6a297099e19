#include "http/response_writer.h"

#include <algorithm>
#include <charconv>

#include "http/status_text.h"

namespace seendb::http {
namespace {

/// Bodies up to this size are copied behind their head, larger ones written from where they are.
constexpr size_t kSmallBody = 16u << 10;
/// Answers to pipelined requests are gathered up to this size.
constexpr size_t kGather = 64u << 10;
/// Memory a connection keeps between requests, and for longer.
constexpr size_t kKeepOut = 1u << 20;
constexpr size_t kKeepOutIdle = 4u << 10;
/// Smaller answers are sent as they are: compressing saves no packet.
constexpr size_t kLeastEncoded = 1'024;
/// Larger answers are not compressed on I/O threads.
constexpr size_t kEncodedInline = 64u << 10;
/// The media type of an answer that goes out as it is made.
constexpr std::string_view kStreamType = "application/x-ndjson";

void AppendNumber(uint64_t number, int base, std::string* out) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number, base).ptr;
  out->append(digits, static_cast<size_t>(end - digits));
}

}  // namespace

ResponseWriter::ResponseWriter(const RequestHead* head, const Plan* plan, MemoryBudget* answers,
                               const std::string* date)
    : head_(head), plan_(plan), answers_(answers), date_(date) {}

void ResponseWriter::Begin() {
  coding_ = plan_->compress ? ChooseCoding(head_->accept_encoding) : Coding::kIdentity;
}

void ResponseWriter::Put(bool keep) {
  PutHead(keep, /*streaming=*/false);
  if (head_->method == Method::kHead) return;
  big_body_ = response.body.size() > kSmallBody;
  if (!big_body_) out_ += response.body;
  bytes_out_ += response.body.size();
}

void ResponseWriter::PutHead(bool keep, bool streaming) {
  const size_t had = out_.size();
  out_ += "HTTP/1.1 ";
  AppendNumber(response.status, 10, &out_);
  out_ += ' ';
  out_ += StatusText(response.status);
  out_ += "\r\nDate: ";
  out_ += *date_;
  out_ += "\r\nContent-Type: ";
  out_ += response.content_type;
  out_ += "\r\nX-Content-Type-Options: nosniff";
  if (!streaming) {
    out_ += "\r\nContent-Length: ";
    AppendNumber(response.body.size(), 10, &out_);
  } else if (head_->http11) {
    out_ += "\r\nTransfer-Encoding: chunked";
  }
  if (!response.content_encoding.empty()) {
    (out_ += "\r\nContent-Encoding: ") += response.content_encoding;
  }
  if (plan_->compress) out_ += "\r\nVary: Accept-Encoding";
  if (!head_->request_id.empty()) (out_ += "\r\nX-Request-Id: ") += head_->request_id;
  out_ += response.headers;
  if (!response.allow.empty()) (out_ += "\r\nAllow: ") += response.allow;
  if (response.retry_after_s > 0) {
    out_ += "\r\nRetry-After: ";
    AppendNumber(static_cast<uint64_t>(response.retry_after_s), 10, &out_);
  }
  if (!keep) {
    out_ += "\r\nConnection: close";
  } else if (!head_->http11) {
    out_ += "\r\nConnection: keep-alive";
  }
  out_ += "\r\n\r\n";
  bytes_out_ += out_.size() - had;
}

void ResponseWriter::PutStreamHead(bool keep) {
  response.Clear();
  response.content_type = kStreamType;
  if (coding_ != Coding::kIdentity) response.content_encoding = CodingName(coding_);
  PutHead(keep, /*streaming=*/true);
  streams_ = true;
}

void ResponseWriter::PutChunk(std::string_view bytes) {
  if (bytes.empty()) return;  // an empty chunk would be the last
  const size_t had = out_.size();
  if (head_->http11) {
    AppendNumber(bytes.size(), 16, &out_);
    out_ += "\r\n";
  }
  out_ += bytes;
  if (head_->http11) out_ += "\r\n";
  bytes_out_ += out_.size() - had;
}

void ResponseWriter::PutEnd() {
  constexpr std::string_view kLast = "0\r\n\r\n";
  if (coding_ != Coding::kIdentity) PutEncoded({}, /*end=*/true);
  if (!head_->http11) return;
  out_ += kLast;
  bytes_out_ += kLast.size();
}

void ResponseWriter::PutFailure() {
  response.body.push_back('\n');
  if (coding_ == Coding::kIdentity) return PutChunk(response.body);
  PutEncoded(response.body, /*end=*/false);
}

void ResponseWriter::PutEncoded(std::string_view bytes, bool end) {
  PutChunk(EncodeOn(bytes, end));
}

std::string ResponseWriter::EncodeOn(std::string_view bytes, bool end) {
  if (!encoder_) encoder_ = std::make_unique<Encoder>(coding_);
  std::string encoded;
  encoder_->Put(bytes, end, &encoded);
  return encoded;
}

bool ResponseWriter::Encodes() const {
  return coding_ != Coding::kIdentity && response.body.size() >= kLeastEncoded;
}

bool ResponseWriter::EncodesMuch() const {
  return Encodes() && response.body.size() > kEncodedInline;
}

void ResponseWriter::Encode() {
  const Coding coding = std::exchange(coding_, Coding::kIdentity);
  std::string encoded;
  Encoder(coding).Put(response.body, /*end=*/true, &encoded);
  if (encoded.size() >= response.body.size()) return;
  response.body.swap(encoded);
  response.content_encoding = CodingName(coding);
}

void ResponseWriter::EncodePiece() {
  if (coding_ == Coding::kIdentity || piece.empty()) return;
  piece = EncodeOn(piece, /*end=*/false);
}

bool ResponseWriter::full() const { return big_body_ || out_.size() > kGather; }

std::array<boost::asio::const_buffer, 2> ResponseWriter::buffers() const {
  return {boost::asio::buffer(out_),
          big_body_ ? boost::asio::buffer(response.body) : boost::asio::const_buffer()};
}

void ResponseWriter::Wrote() {
  out_.clear();
  big_body_ = false;
  KeepMost(answers_->Crowded() ? 0 : kKeepOut);
  Charge();
}

void ResponseWriter::KeepMost(size_t bytes) {
  for (std::string* buffer : {&out_, &response.body, &piece}) {
    if (buffer->capacity() > bytes) std::string().swap(*buffer);
  }
}

void ResponseWriter::Shrink() {
  KeepMost(kKeepOutIdle);
  Charge();
}

void ResponseWriter::End() {
  encoder_.reset();
  streams_ = false;
}

bool ResponseWriter::Refuses(size_t body) const {
  if (!plan_->large || !answers_->Full()) return false;
  const size_t most = std::max<size_t>(body, head_->content_length.value_or(0));
  return plan_->body != BodyMode::kWhole || !head_->HasBody() || most > Bytes::kSmall;
}

void ResponseWriter::Charge() {
  size_t bytes = out_.capacity() + response.body.capacity() + piece.capacity();
  if (plan_->stream) bytes += plan_->stream->HeldBytes();
  if (encoder_) bytes += encoder_->HeldBytes();
  if (bytes > charged_) answers_->Force(bytes - charged_);
  if (bytes < charged_) answers_->Give(charged_ - bytes);
  charged_ = bytes;
}

}  // namespace seendb::http
