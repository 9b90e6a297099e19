#include "http/session.h"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "http/wait.h"

namespace seendb::http {
namespace {

/// A body that nobody wants is read to its end up to this size; beyond, the connection closes.
constexpr uint64_t kDiscardBytes = 64u << 10;
/// Bytes a stream is fed at a time.
constexpr uint64_t kStreamPiece = 64u << 10;
/// The work of a stream that is a turn of its tenant's rate.
constexpr std::chrono::duration<double> kWorkOfTurn{0.1};
/// How long a head may take beyond the limit of connections.
constexpr int64_t kBeyondLimitMs = 1'000;
/// Larger answers are not compressed on I/O threads.
constexpr size_t kEncodedInline = 64u << 10;

Error TooManyAnswers() { return {503, "busy", "too many answer bytes in flight"}; }

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

/// Makes `*response`, which is clear, the answer to an error, in the shape that the plan says.
void WriteShaped(const Error& error, const Plan& plan, Response* response) {
  WriteError(error, response);
  if (plan.shape_error != nullptr) plan.shape_error(response);
}

}  // namespace

Session::Session(Arrival arrival, IoThread* thread)
    : thread_(thread),
      shared_(thread->shared),
      stream_(std::move(arrival.socket), std::move(arrival.tls)),
      connection_(std::move(arrival.connection)),
      deadline_(After(shared_->limits.idle_ms)),
      beyond_limit_(arrival.beyond_limit),
      over_share_(arrival.over_share),
      counted_peer_(arrival.counted_peer),
      in_(&shared_->unlimited),
      body_(&shared_->budget),
      met_at_(arrival.received.empty() ? arrival.came : Clock::time_point()),
      read_at_(Clock::now()),
      came_at_(arrival.came) {
  connection_.secure = stream_.secure();
  entry_.owner = this;
  if (!in_.Append(arrival.received)) broken_input_ = true;  // never: `unlimited` gives all
}

Session::~Session() {
  Close();
  handling_.Cancel();
}

void Session::Start() {
  thread_->sessions.insert(this);
  thread_->session_count.fetch_add(1, std::memory_order_relaxed);
  if (beyond_limit_) head_until_ = After(kBeyondLimitMs);
  if (stream_.secure()) return over_share_ ? Close() : Handshake();
  if (over_share_) {
    Fail({503, "busy", "too many connections from this address (limits.connections_per_peer)"});
  }
  Pump();
}

bool Session::Overdue(Clock::time_point now) const {
  return phase_ != Phase::kWork && now >= deadline_;
}

void Session::TimeOut() {
  shared_->counters.timed_out.fetch_add(1, std::memory_order_relaxed);
  const bool begun = in_request_ || (parser_ && parser_->started());
  if (begun && (phase_ == Phase::kHead || phase_ == Phase::kBody)) {
    Fail({408, "timeout", "the request did not arrive in time"});
  } else {
    Close();
  }
}

void Session::Abort() { Close(); }

/// Goes on with what has been received until more is needed or something is under way.
void Session::Pump() {
  try {
    while (phase_ == Phase::kHead || phase_ == Phase::kBody) {
      const bool advanced = phase_ == Phase::kHead ? TakeHead() : TakeBody();
      if (!advanced) return Fill();
      if (phase_ == Phase::kBody && coded_ && coded_->has_more) return GiveWay();
    }
  } catch (const std::exception&) {
    Close();  // out of memory, most likely: this connection is the price, not the process
  }
}

/// False when more bytes are needed.
bool Session::TakeHead() {
  if (dropped_left_ > 0 && !DropBody()) return false;
  if ((!parser_ || !parser_->started()) && MovesOn()) {
    if (!out_.empty()) return false;  // the answers of before go first
    MoveOn();
    return true;
  }
  if (!parser_) {
    parser_.emplace(shared_->limits.header_bytes, &head_);
    plan_ = Plan();
  }
  const bool begun = parser_->started();
  const size_t had = in_.size();
  const RequestParser::Progress progress = parser_->PutHead(&in_);
  bytes_in_ += had - in_.size();
  if (!begun && parser_->started()) {
    first_byte_ = came_at_;
    thread_->ReadHead(read_at_ - came_at_);
  }
  switch (progress) {
    case RequestParser::Progress::kBroken:
      Fail(parser_->error());
      return true;
    case RequestParser::Progress::kNeedsMore:
      if (!begun && parser_->started() && !beyond_limit_) head_until_ = After(HeaderMs());
      return false;
    case RequestParser::Progress::kHead:
    case RequestParser::Progress::kDone:
      break;
  }
  BeginRequest();
  return true;
}

void Session::BeginRequest() {
  began_ = Clock::now();
  transfer_until_ = began_ + std::chrono::milliseconds(shared_->limits.transfer_ms);
  in_request_ = true;
  shared_->counters.in_flight.fetch_add(1, std::memory_order_relaxed);
  progressed_ = true;
  stream_until_ =
      shared_->limits.stream_ms == 0 ? Clock::time_point::max() : After(shared_->limits.stream_ms);
  head_.connection = &connection_;
  plan_ = shared_->service->Begin(head_);
  if (beyond_limit_ && !plan_.probe) {
    shared_->counters.refused.fetch_add(1, std::memory_order_relaxed);
    return Fail({503, "busy", "too many connections"});
  }
  left_ = head_.content_length.value_or(0);
  if (!stream_.IsTrusted(shared_->tls)) {
    return Fail({401, "unauthorized", "the authority of the client's certificate counts no more"});
  }
  if (AnswersFull() && !plan_.refused) {
    plan_.refused = true;
    plan_.refusal = TooManyAnswers();
  }
  if (AdmitHead()) ExpectBody();
}

void Session::ExpectBody() {
  if (plan_.stream) plan_.stream->Attend(this);
  phase_ = Phase::kBody;
  body_complete_ = stream_head_sent_ = false;
  fed_ = 0;
  body_.Expect(head_.content_length && plan_.body == BodyMode::kWhole ? left_ : SIZE_MAX);
  const bool limited = plan_.refused || plan_.body != BodyMode::kStream;
  const uint64_t most =
      plan_.coding == Coding::kIdentity ? shared_->limits.body_bytes : CompressedLimit();
  if (limited && left_ > most) {
    return Fail({413, "too_large", "request body over " + std::to_string(most) + " bytes"});
  }
  const bool answers_head = head_.method == Method::kHead && plan_.body == BodyMode::kStream;
  if (plan_.refused || answers_head) plan_.body = BodyMode::kDiscard;
  BeginCoding();
  if (!head_.HasBody()) return;
  if (plan_.refused) {
    const bool unread = head_.expects_continue || head_.chunked || left_ > kDiscardBytes;
    if (unread) return Fail(plan_.refusal);
  }
  if (head_.expects_continue && head_.http11 && in_.empty()) {
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
  }
}

/// False when more bytes are needed.
bool Session::TakeBody() {
  if (body_complete_) return BodyMoved();  // a stream goes on with its answer
  if (coded_) return TakeCoded();
  if (head_.chunked) {
    const size_t limit = plan_.body == BodyMode::kStream ? SIZE_MAX : shared_->limits.body_bytes;
    Bytes* const body = plan_.body == BodyMode::kDiscard ? nullptr : &body_;
    const size_t had = in_.size();
    const auto progress = parser_->PutChunks(&in_, body, limit);
    bytes_in_ += had - in_.size();
    if (progress == RequestParser::Progress::kBroken) {
      Fail(parser_->error());
      return true;
    }
    body_complete_ = progress == RequestParser::Progress::kDone;
    return BodyMoved();
  }
  std::string_view piece = in_.view().substr(0, left_);
  if (plan_.body == BodyMode::kStream) piece = piece.substr(0, kStreamPiece);
  if (plan_.body != BodyMode::kDiscard && !body_.Append(piece)) {
    Fail({503, "busy", "too many request bytes in flight"});
    return true;
  }
  left_ -= piece.size();
  in_.Consume(piece.size());
  ReadBodyHere();
  body_complete_ = left_ == 0;
  return BodyMoved();
}

/// Looks whether the body received so far can be handed on. False when more bytes are needed.
bool Session::BodyMoved() {
  if (plan_.body == BodyMode::kStream) {
    if (body_.size() == fed_ && !body_complete_) return false;
    progressed_ = progressed_ || !IsBlank(body_.view().substr(fed_));
    stream_out_.clear();
    FeedOn();
    return true;
  }
  if (!body_complete_) return false;
  if (plan_.ticket.tenant != nullptr) plan_.ticket.tenant->AddBytes(body_.size(), Clock::now());
  BodyDone();
  return true;
}

void Session::BodyDone() {
  if (handling_) return Schedule(&Session::Handle, &Session::Answered);  // its turn
  response_.Clear();
  if (plan_.refused) {
    WriteShaped(plan_.refusal, plan_, &response_);
    response_.allow = plan_.allow;
    return Respond();
  }
  if (plan_.stream) return AnswerHead();
  Schedule(&Session::Handle, &Session::Answered);
}

/// On the thread that has the request.
void Session::Handle() {
  const Wait* const wait = handling_.wait();
  if ((wait == nullptr || wait->what == Wait::For::kTurn) && AnswersFull()) {
    handling_.Cancel();
    return WriteShaped(TooManyAnswers(), plan_, &response_);
  }
  const auto age = Clock::now() - first_byte_ + std::chrono::milliseconds(head_.routing.age_ms);
  const int64_t age_us = std::chrono::duration_cast<std::chrono::microseconds>(age).count();
  if (handling_) {
    request_->age_us = age_us;
  } else {
    request_.emplace(
        Request{.head = head_, .body = body_.view(), .waiting = this, .age_us = age_us});
    handling_.Begin(shared_->service->Handle(plan_, *request_, &response_));
  }
  if (handling_) handling_.GoOn();
  if (at_worker_ && CanEncode()) EncodeAnswer();
}

void Session::Answered() {
  if (job_failed_) {
    response_.Clear();
    WriteShaped({500, "internal", "the request could not be handled"}, plan_, &response_);
  }
  if (handling_ && !job_failed_) return AwaitWhat();
  RespondEncoded();
}

/// The handler waits for something.
void Session::AwaitWhat() {
  Wait& wait = *handling_.wait();
  switch (wait.what) {
    case Wait::For::kTurn:
      plan_.executor = wait.executor;
      return Schedule(&Session::Handle, &Session::Answered);
    case Wait::For::kWorker:
      if (PostToWorkers(wait.executor, &Session::Handle, &Session::Answered)) return;
      wait.refused = true;
      return RunNow();
    case Wait::For::kGiven:
      job_ = &Session::Handle;
      then_ = &Session::Answered;
      return AwaitCall(wait.limit_us, &Session::RunNow);
  }
}

/// Responds with response_, compressed where it should be and is not yet.
void Session::RespondEncoded() {
  if (!CanEncode()) return Respond();
  const bool large = response_.body.size() > kEncodedInline;
  if (large && plan_.encode_executor != Executor::kInline) {
    const bool posted =
        PostToWorkers(plan_.encode_executor, &Session::EncodeAnswer, &Session::Respond);
    if (!posted) Respond();  // as it is
    return;
  }
  const Clock::time_point began = Clock::now();
  try {
    EncodeAnswer();
  } catch (const std::exception&) {
    // Out of memory: it goes out as it is.
  }
  worked_ += Clock::now() - began;
  Respond();
}

/// Answers HEAD where GET would stream; the stream is never asked.
void Session::AnswerHead() {
  stream_keep_ = head_.keep_alive && head_.http11 && !shared_->draining;
  AppendStreamHead();
  close_after_write_ = !stream_keep_;
  EndRequest(200);
  Write();
}

void Session::FeedOn() { Schedule(&Session::Feed, &Session::StreamFed); }

/// On the thread that has the request.
void Session::Feed() {
  stream_taken_ = plan_.stream->Take(body_.view(), body_complete_, &stream_out_);
  if (answer_coding_ != Coding::kIdentity) EncodePiece();
}

void Session::StreamFed() {
  ChargeTenant(body_.size() - fed_);
  if (job_failed_) return Fail({500, "internal", "the request could not be handled"});
  body_.Consume(stream_taken_);
  fed_ = body_.size();
  if (stream_taken_ > 0 || body_.empty()) transfer_until_ = After(shared_->limits.transfer_ms);
  Charge();
  if (int64_t limit_us = 0; plan_.stream->Later(&limit_us)) {
    return AwaitCall(limit_us, &Session::FeedOn);
  }
  const bool end = (body_complete_ && !plan_.stream->HasMore()) || plan_.stream->Failed();
  if (!body_complete_ && end) broken_input_ = true;
  phase_ = Phase::kBody;
  if (!plan_.stream->AnswersAsItGoes()) {
    if (!end) return;
    response_.Clear();
    plan_.stream->Finish(&response_);
    return Respond();
  }
  if (plan_.stream->Failed()) {
    response_.Clear();
    plan_.stream->Finish(&response_);
    return Break();
  }
  if (stream_out_.empty() && !end) return;
  if (!stream_head_sent_) {
    stream_keep_ = head_.keep_alive && head_.http11 && !broken_input_;
    AppendStreamHead();
    stream_head_sent_ = true;
  }
  AppendChunk(stream_out_);
  if (end) {
    if (answer_coding_ != Coding::kIdentity) AppendEncoded({}, /*end=*/true);
    AppendLastChunk();
    close_after_write_ = !stream_keep_ || broken_input_ || shared_->draining;
    EndRequest(200);
  }
  Write();
}

/// A stream brings its tenant's rate no more than whole requests would: each turn of it is a body
/// of the largest size, or so much work. The first was taken with the head.
void Session::ChargeTenant(size_t bytes) {
  const Clock::duration work = worked_ - std::exchange(charged_work_, worked_);
  if (plan_.ticket.tenant == nullptr) return;
  const double by_bytes =
      static_cast<double>(bytes) / static_cast<double>(shared_->limits.body_bytes);
  const double by_work = std::chrono::duration<double>(work) / kWorkOfTurn;
  const Clock::time_point now = Clock::now();
  plan_.ticket.tenant->Charge(std::max(by_bytes, by_work), now);
  plan_.ticket.tenant->AddBytes(bytes, now);
}

/// Whether too much is unread for one more answer that may be large. Of a small body none is.
bool Session::AnswersFull() const {
  if (!plan_.large || !shared_->answers.Full()) return false;
  const size_t body = std::max<size_t>(body_.size(), head_.content_length.value_or(0));
  return plan_.body != BodyMode::kWhole || !head_.HasBody() || body > Bytes::kSmall;
}

/// Answers an error after which the connection closes: what is left of the request is not read.
void Session::Fail(const Error& error) {
  broken_input_ = true;
  response_.Clear();
  WriteShaped(error, plan_, &response_);
  response_.allow = plan_.allow;
  if (!in_request_) began_ = Clock::now();
  Break();
}

/// Answers the error in response_, as far as that is possible still.
void Session::Break() {
  if (!stream_head_sent_ || !in_request_) return Respond();
  // Too late for a status: the error is the last line, and the body stays without its end.
  response_.body.push_back('\n');
  if (answer_coding_ != Coding::kIdentity) {
    AppendEncoded(response_.body, /*end=*/false);
  } else {
    AppendChunk(response_.body);
  }
  close_after_write_ = true;
  EndRequest(response_.status);
  Write();
}

}  // namespace seendb::http
