#include "http/request_reader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace seendb::http {
namespace {

/// A body that nobody wants is read to its end up to this size; beyond, the connection closes.
constexpr uint64_t kDiscardBytes = 64u << 10;
/// Bytes a stream is fed at a time.
constexpr uint64_t kStreamPiece = 64u << 10;
/// Decoded bytes made at a time, and for a small body.
constexpr size_t kPiece = 64u << 10;
constexpr size_t kSmallPiece = 4u << 10;

Error TooManyRequestBytes() { return {503, "busy", "too many request bytes in flight"}; }

/// No part of a line that holds something. In blocks, without a branch for each byte: a compressed
/// body may stand for gigabytes of spaces.
bool IsBlank(std::string_view bytes) {
  constexpr size_t kBlock = 256;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kBlock))) {
    bool holds = false;
    for (const char c : bytes.substr(0, kBlock)) holds |= static_cast<unsigned char>(c) > ' ';
    if (holds) return false;
  }
  return true;
}

}  // namespace

RequestReader::RequestReader(Transport* transport, MemoryBudget* budget)
    : body(budget), transport_(transport), budget_(budget) {}

bool RequestReader::Prepare() {
  if (parser_) return false;
  parser_.emplace(transport_->limits().header_bytes, &head);
  return true;
}

RequestReader::Got RequestReader::TakeHead() {
  const bool begun = parser_->started();
  const size_t had = transport_->in.size();
  const RequestParser::Progress progress = parser_->PutHead(&transport_->in);
  bytes_in_ += had - transport_->in.size();
  if (!begun && parser_->started()) {
    first_byte_ = transport_->came_at();
    transport_->thread()->ReadHead(transport_->read_at() - transport_->came_at());
  }
  switch (progress) {
    case RequestParser::Progress::kBroken:
      return Break(parser_->error());
    case RequestParser::Progress::kNeedsMore:
      if (!begun && parser_->started() && !limited_) {
        head_until_ = Transport::After(transport_->HeaderMs());
      }
      return Got::kNothing;
    case RequestParser::Progress::kHead:
    case RequestParser::Progress::kDone:
      break;
  }
  return Got::kSome;
}

void RequestReader::LimitHead(int64_t ms) {
  limited_ = true;
  head_until_ = Transport::After(ms);
}

void RequestReader::Begin(Clock::time_point now) {
  const Limits& limits = transport_->limits();
  transport_->transfer_until = now + std::chrono::milliseconds(limits.transfer_ms);
  progressed_ = true;
  stream_until_ =
      limits.stream_ms == 0 ? Clock::time_point::max() : Transport::After(limits.stream_ms);
  left_ = head.content_length.value_or(0);
}

/// The compressed bytes of a whole body: a little more than may come out, since bytes that can't
/// be compressed grow by their framing.
uint64_t RequestReader::CompressedLimit() const {
  const uint64_t body_bytes = transport_->limits().body_bytes;
  return body_bytes + body_bytes / 1'024 + 1'024;
}

std::optional<Error> RequestReader::Expect(Plan* plan) {
  const Limits& limits = transport_->limits();
  complete_ = false;
  fed_ = 0;
  body.Expect(head.content_length && plan->body == BodyMode::kWhole ? left_ : SIZE_MAX);
  const bool limited = plan->refused || plan->body != BodyMode::kStream;
  const uint64_t most = plan->coding == Coding::kIdentity ? limits.body_bytes : CompressedLimit();
  if (limited && left_ > most) {
    return Error{413, "too_large", "request body over " + std::to_string(most) + " bytes"};
  }
  const bool answers_head = head.method == Method::kHead && plan->body == BodyMode::kStream;
  if (plan->refused || answers_head) plan->body = BodyMode::kDiscard;
  if (!head.HasBody()) return std::nullopt;
  if (plan->coding != Coding::kIdentity && plan->body != BodyMode::kDiscard) {
    coded_ = std::make_unique<CodedBody>(plan->coding, budget_);
    body.Expect(plan->body == BodyMode::kWhole ? limits.body_bytes : SIZE_MAX);
  }
  const bool unread = head.expects_continue || head.chunked || left_ > kDiscardBytes;
  if (plan->refused && unread) return plan->refusal;
  return std::nullopt;
}

RequestReader::Got RequestReader::Break(Error error) {
  error_ = std::move(error);
  return Got::kBroken;
}

RequestReader::Got RequestReader::TakeBody(Plan* plan) {
  if (coded_) return TakeCoded(plan);
  Bytes& in = transport_->in;
  if (head.chunked) {
    const size_t limit =
        plan->body == BodyMode::kStream ? SIZE_MAX : transport_->limits().body_bytes;
    const size_t had = in.size();
    const auto progress =
        parser_->PutChunks(&in, plan->body == BodyMode::kDiscard ? nullptr : &body, limit);
    bytes_in_ += had - in.size();
    if (progress == RequestParser::Progress::kBroken) return Break(parser_->error());
    complete_ = progress == RequestParser::Progress::kDone;
  } else {
    std::string_view piece = in.view().substr(0, left_);
    if (plan->body == BodyMode::kStream) piece = piece.substr(0, kStreamPiece);
    if (plan->body != BodyMode::kDiscard && !body.Append(piece)) {
      return Break(TooManyRequestBytes());
    }
    left_ -= piece.size();
    in.Consume(piece.size());
    if (plan->body == BodyMode::kWhole) transport_->ReadHere(&body, &left_);
    complete_ = left_ == 0;
  }
  return complete_ || (plan->body == BodyMode::kStream && news() > 0) ? Got::kSome : Got::kNothing;
}

RequestReader::Got RequestReader::TakeCoded(Plan* plan) {
  if (TakeCompressed(*plan) == Got::kBroken || DecodePiece(plan) == Got::kBroken) {
    return Got::kBroken;
  }
  const bool some = complete_ || (plan->body == BodyMode::kStream && news() > 0);
  return some || has_more() ? Got::kSome : Got::kNothing;
}

/// Gets the compressed bytes out of their chunks.
RequestReader::Got RequestReader::TakeCompressed(const Plan& plan) {
  if (!head.chunked || coded_->all_here) return Got::kSome;
  const size_t limit = plan.body == BodyMode::kStream ? SIZE_MAX : CompressedLimit();
  const auto progress = parser_->PutChunks(&transport_->in, &coded_->unchunked, limit);
  if (progress == RequestParser::Progress::kBroken) return Break(parser_->error());
  coded_->all_here = progress == RequestParser::Progress::kDone;
  return Got::kSome;
}

/// Decodes as much as fits one piece.
RequestReader::Got RequestReader::DecodePiece(Plan* plan) {
  CodedBody& coded = *coded_;
  Bytes& from = head.chunked ? coded.unchunked : transport_->in;
  const std::string_view bytes = head.chunked ? from.view() : from.view().substr(0, left_);
  const size_t limit = plan->body == BodyMode::kStream ? SIZE_MAX : transport_->limits().body_bytes;
  const size_t room =
      std::min({kPiece, std::max(kSmallPiece, 4 * bytes.size()), limit - body.size()});
  char beyond = 0;  // for the byte that is one too many
  char* const to = room > 0 ? body.Reserve(room) : &beyond;
  if (to == nullptr) return Break(TooManyRequestBytes());
  const Decoder::Step step = coded.decoder.Put(bytes, to, std::max<size_t>(room, 1));
  if (step.made > room) {
    return Break(
        {413, "too_large", "decoded request body over " + std::to_string(limit) + " bytes"});
  }
  coded.has_more = step.taken < bytes.size() || (step.made == room && room > 0);
  body.Commit(step.made);
  from.Consume(step.taken);
  if (!head.chunked) {
    left_ -= step.taken;
    coded.all_here = left_ == 0;
  }
  if (coded.decoder.error()) return Break(*coded.decoder.error());
  if (!coded.all_here || coded.has_more) return Got::kSome;
  complete_ = true;
  if (coded.decoder.End()) return Got::kSome;
  if (plan->body == BodyMode::kStream) return Break(*coded.decoder.error());
  plan->refused = true;  // the request is read to its end: the connection stays
  plan->refusal = *coded.decoder.error();
  return Got::kSome;
}

bool RequestReader::Ask(const Plan* plan) {
  Transport& transport = *transport_;
  transport.deadline = Transport::After(transport.IdleMs());
  asks_ = !drops() || !transport.DropsInKernel();
  into_body_ = plan != nullptr && !head.chunked && !coded_ && plan->body != BodyMode::kDiscard;
  if (drops()) {
    // Under TLS it has to be read: 1 MiB of it costs less than the handshake of a new connection.
    transport.deadline = std::min(transport.deadline, transport.transfer_until);
    if (!asks_) transport.AwaitReadable();
    return !asks_ || transport.Read(&transport.in, Transport::kReadBytes);
  }
  if (plan == nullptr) {
    if (!before_head() || limited_) {
      transport.deadline = head_until_;
    } else {
      // Empty lines before a head keep no connection.
      transport.deadline = std::min(transport.deadline, WaitsUntil());
    }
    return transport.Read(&transport.in, Transport::kReadBytes);
  }
  transport.deadline = std::min(transport.deadline, BodyDeadline(*plan));
  if (!into_body_) return transport.Read(&transport.in, Transport::kBodyReadBytes);
  const uint64_t step = plan->body == BodyMode::kStream
                            ? Transport::kBodyReadBytes
                            : std::max<uint64_t>(Transport::kBodyReadBytes, body.size());
  return transport.Read(&body, static_cast<size_t>(std::min<uint64_t>(left_, step)));
}

Clock::time_point RequestReader::BodyDeadline(const Plan& plan) {
  const bool streams = plan.body == BodyMode::kStream;
  Clock::time_point until = Clock::time_point::max();
  // A stream may pause between lines, but not in the middle of one.
  if (!streams || !body.empty()) until = transport_->transfer_until;
  if (!streams) return until;
  if (std::exchange(progressed_, false)) {
    line_until_ = Transport::After(transport_->limits().idle_ms);
  }
  return std::min({until, line_until_, stream_until_});
}

/// Until when the connection may wait for a head to begin.
Clock::time_point RequestReader::WaitsUntil() {
  if (!parser_ || !parser_->touched()) idle_until_ = Transport::After(transport_->limits().idle_ms);
  return idle_until_;
}

void RequestReader::Received() {
  if (!asks_ || transport_->reading()) return;
  const size_t count = transport_->Receive();
  if (into_body_) left_ -= count;
}

void RequestReader::Consume(size_t taken) {
  body.Consume(taken);
  fed_ = body.size();
}

void RequestReader::NoteProgress() {
  progressed_ = progressed_ || !IsBlank(body.view().substr(fed_));
}

bool RequestReader::Drop() {
  dropped_left_ = transport_->Drop(dropped_left_);
  return dropped_left_ == 0;
}

uint64_t RequestReader::TakeBytesIn(bool whole_head) {
  if (whole_head) bytes_in_ += head.content_length.value_or(0) - left_;
  return std::exchange(bytes_in_, 0);
}

void RequestReader::End(size_t keep) {
  coded_.reset();
  parser_.reset();
  if (transport_->reading()) return;  // a read that timed out still holds the buffers
  body.Clear(keep);
  if (transport_->in.empty()) transport_->in.Clear(Transport::kBodyReadBytes);
}

}  // namespace seendb::http
