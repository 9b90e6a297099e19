// The half of Session that touches the socket and forms answers.

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "http/session.h"
#include "http/status_text.h"

namespace seendb::http {
namespace {

/// A read buffer's least free space, and its size while a body streams through it.
constexpr size_t kReadBytes = 16u << 10;
constexpr size_t kBodyReadBytes = 64u << 10;
/// Of a body that is read beside its head, before the next connection has its turn.
constexpr size_t kBodyReadHere = 1u << 20;
/// Bodies up to this size are copied behind their head, larger ones written from where they are.
constexpr size_t kSmallBody = 16u << 10;
/// Answers to pipelined requests are gathered up to this size.
constexpr size_t kGather = 64u << 10;
/// How long an answer may be read at any rate.
constexpr std::chrono::seconds kAnyRate{5};
/// Memory a connection keeps between requests.
constexpr size_t kKeepBody = 256u << 10;
constexpr size_t kKeepOut = 1u << 20;
/// Beyond the first of these sizes it keeps it no longer than this after a request.
constexpr size_t kKeepIdle = 4u << 10;
constexpr std::chrono::seconds kKeepFor{1};
/// What an answer is that goes out as it is made.
constexpr std::string_view kStreamType = "application/x-ndjson";
/// How long a connection we close may take to read our last words.
constexpr int64_t kLingerMs = 2'000;
/// The times of Limits while more comes than can be read; that of a head also at the door.
constexpr int64_t kShortHeaderMs = 2'000;
constexpr int64_t kShortIdleMs = 10'000;
/// A look for what has come that is older than this says too little of when it came.
constexpr std::chrono::milliseconds kLate{20};
/// The kernel's clock of what a connection receives goes by these.
constexpr std::chrono::milliseconds kTcpTick{4};

void AppendNumber(uint64_t number, int base, std::string* out) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number, base).ptr;
  out->append(digits, static_cast<size_t>(end - digits));
}

}  // namespace

/// Asks for more bytes; what has been answered goes out first.
void Session::Fill() {
  if (!out_.empty()) return Write();
  ReadMore();
}

void Session::ReadMore() {
  if (dropped_left_ > 0) return AwaitDropped();
  const bool in_head = phase_ == Phase::kHead;
  const bool head_begun = in_head && parser_ && parser_->started();
  const bool soon = head_begun || (in_head && beyond_limit_);
  deadline_ = soon ? head_until_ : After(IdleMs());
  // Empty lines before a head keep no connection.
  if (in_head && !soon) deadline_ = std::min(deadline_, WaitsUntil());
  // A stream may pause between lines, but not in the middle of one.
  const bool owes_body =
      phase_ == Phase::kBody && (plan_.body != BodyMode::kStream || !body_.empty());
  if (owes_body) deadline_ = std::min(deadline_, transfer_until_);
  const bool streams = phase_ == Phase::kBody && plan_.body == BodyMode::kStream;
  if (streams && std::exchange(progressed_, false)) line_until_ = After(shared_->limits.idle_ms);
  if (streams) deadline_ = std::min({deadline_, line_until_, stream_until_});
  if (in_head && !head_begun) thread_->AddIdle(this);
  const bool into_body =
      phase_ == Phase::kBody && !head_.chunked && !coded_ && plan_.body != BodyMode::kDiscard;
  size_t room = phase_ == Phase::kBody ? kBodyReadBytes : kReadBytes;
  if (into_body) {
    const uint64_t step = plan_.body == BodyMode::kStream
                              ? kBodyReadBytes
                              : std::max<uint64_t>(kBodyReadBytes, body_.size());
    room = static_cast<size_t>(std::min<uint64_t>(left_, step));
  }
  ReadInto(into_body ? &body_ : &in_, room);
}

/// `to`: body_ or in_.
void Session::ReadInto(Bytes* to, size_t room) {
  const bool into_body = to == &body_;
  char* const at = to->Reserve(room);
  if (at == nullptr) {
    Fail({503, "busy", "too many request bytes in flight"});
    return Pump();
  }
  reading_ = true;
  stream_.Read(
      boost::asio::buffer(at, room),
      [self = shared_from_this(), into_body](const boost::system::error_code& ec, size_t count) {
        self->OnRead(ec, count, into_body);
      });
}

/// Reads what has come of a body beside its head, without a turn of the loop between them: so it
/// counts as waiting work before the next head is judged, and it is cheaper.
void Session::ReadBodyHere() {
  if (plan_.body != BodyMode::kWhole || stream_.secure()) return;
  for (size_t here = 0; left_ > 0 && here < kBodyReadHere;) {
    size_t room = std::max({kBodyReadBytes, body_.size(), body_.Room()});
    if (int unread = 0; room < left_ && ioctl(stream_.descriptor(), FIONREAD, &unread) == 0) {
      room = std::max(room, static_cast<size_t>(unread));
    }
    room = static_cast<size_t>(std::min<uint64_t>(room, left_));
    char* const at = body_.Reserve(room);
    if (at == nullptr) return;  // ReadMore refuses it
    const ssize_t count = recv(stream_.descriptor(), at, room, MSG_DONTWAIT);
    if (count <= 0) return;  // nothing more yet, or the peer has closed: the next read tells
    body_.Commit(static_cast<size_t>(count));
    left_ -= static_cast<uint64_t>(count);
    here += static_cast<size_t>(count);
    shared_->counters.bytes_in.fetch_add(static_cast<uint64_t>(count), std::memory_order_relaxed);
  }
}

/// Until when the connection may wait for a head to begin.
Session::Clock::time_point Session::WaitsUntil() {
  if (!parser_ || !parser_->touched()) idle_until_ = After(shared_->limits.idle_ms);
  return idle_until_;
}

int64_t Session::HeaderMs() const {
  const int64_t header_ms = shared_->limits.header_ms;
  const bool short_of_it = thread_->lane == nullptr || thread_->flooded();
  return short_of_it ? std::min(header_ms, kShortHeaderMs) : header_ms;
}

int64_t Session::IdleMs() const {
  const int64_t idle_ms = shared_->limits.idle_ms;
  return thread_->flooded() ? std::min(idle_ms, kShortIdleMs) : idle_ms;
}

/// When the bytes came that were just read, at the earliest.
Session::Clock::time_point Session::CameAt() {
  Clock::time_point at = thread_->CameAfter();
  const Clock::time_point now = Clock::now();
  if (now - at > kLate && !stream_.secure() && connection_.family != AF_UNIX) {
    tcp_info info{};
    socklen_t length = sizeof(info);
    if (getsockopt(stream_.descriptor(), IPPROTO_TCP, TCP_INFO, &info, &length) == 0) {
      const auto ago = std::chrono::milliseconds(info.tcpi_last_data_recv) + kTcpTick;
      at = std::max(at, now - ago);
    }
  }
  const Clock::time_point met = std::exchange(met_at_, Clock::time_point());
  return met == Clock::time_point() ? at : std::min(at, met);
}

/// Waits for more of a body that is dropped. Under TLS it has to be read for that: 1 MiB of it
/// costs less than the handshake of a new connection.
void Session::AwaitDropped() {
  deadline_ = std::min(After(IdleMs()), transfer_until_);
  if (!DropsInKernel()) return ReadInto(&in_, kReadBytes);
  stream_.WaitReadable([self = shared_from_this()](const boost::system::error_code& ec) {
    if (self->phase_ == Phase::kDone) return;
    if (ec) return self->Close();
    self->Pump();
  });
}

void Session::OnRead(const boost::system::error_code& ec, size_t count, bool into_body) {
  reading_ = false;
  read_at_ = Clock::now();
  thread_->RemoveIdle(this);
  if (phase_ == Phase::kDone) return;
  shared_->counters.bytes_in.fetch_add(count, std::memory_order_relaxed);
  if (phase_ == Phase::kWrite) return;  // timed out meanwhile; its last words are being written
  if (ec) return Close();
  if (phase_ == Phase::kLinger) return Discard();
  came_at_ = CameAt();
  if (into_body) {
    body_.Commit(count);
    left_ -= count;
  } else {
    in_.Commit(count);
  }
  Pump();
}

/// Puts response_ into the output and ends the request.
void Session::Respond() {
  const bool keep = head_.keep_alive && !response_.close && !broken_input_ && !shared_->draining &&
                    !beyond_limit_;
  AppendHead(keep, /*streaming=*/false);
  const bool bodyless = head_.method == Method::kHead;
  big_body_ = !bodyless && response_.body.size() > kSmallBody;
  if (!bodyless && !big_body_) out_ += response_.body;
  if (!bodyless) bytes_out_ += response_.body.size();
  close_after_write_ = !keep;
  phase_ = Phase::kHead;
  EndRequest(response_.status);
  if (!keep || big_body_ || out_.size() > kGather) Write();
}

void Session::EndRequest(unsigned status) {
  if (in_request_) bytes_in_ += head_.content_length.value_or(0) - left_;
  const Clock::time_point now = Clock::now();
  shared_->service->Done({head_, plan_, status, response_.error_code, response_.log_tag, now,
                          now - began_, waited_, worked_, bytes_in_, bytes_out_, connection_.peer});
  waited_ = worked_ = charged_work_ = {};
  bytes_in_ = bytes_out_ = 0;
  if (in_request_) ++unwritten_;
  in_request_ = false;
  LeaveLane();
  ForgetWaits();
  handling_.Cancel();
  plan_.stream.reset();
  coded_.reset();
  encoder_.reset();
  parser_.reset();
  if (reading_) return;  // a read that timed out still holds the buffers
  body_.Clear(shared_->budget.Crowded() ? 0 : kKeepBody);
  if (in_.empty()) in_.Clear(kBodyReadBytes);
}

void Session::AppendHead(bool keep, bool streaming) {
  const size_t had = out_.size();
  out_ += "HTTP/1.1 ";
  AppendNumber(response_.status, 10, &out_);
  out_ += ' ';
  out_ += StatusText(response_.status);
  out_ += "\r\nDate: ";
  out_ += thread_->date;
  out_ += "\r\nContent-Type: ";
  out_ += response_.content_type;
  out_ += "\r\nX-Content-Type-Options: nosniff";
  if (!streaming) {
    out_ += "\r\nContent-Length: ";
    AppendNumber(response_.body.size(), 10, &out_);
  } else if (head_.http11) {
    out_ += "\r\nTransfer-Encoding: chunked";
  }
  if (!response_.content_encoding.empty()) {
    (out_ += "\r\nContent-Encoding: ") += response_.content_encoding;
  }
  if (plan_.compress) out_ += "\r\nVary: Accept-Encoding";
  if (!head_.request_id.empty()) (out_ += "\r\nX-Request-Id: ") += head_.request_id;
  out_ += response_.headers;
  if (!response_.allow.empty()) (out_ += "\r\nAllow: ") += response_.allow;
  if (response_.retry_after_s > 0) {
    out_ += "\r\nRetry-After: ";
    AppendNumber(static_cast<uint64_t>(response_.retry_after_s), 10, &out_);
  }
  if (!keep) {
    out_ += "\r\nConnection: close";
  } else if (!head_.http11) {
    out_ += "\r\nConnection: keep-alive";
  }
  out_ += "\r\n\r\n";
  bytes_out_ += out_.size() - had;
}

/// The head of an answer that goes out as it is made.
void Session::AppendStreamHead() {
  response_.Clear();
  response_.content_type = kStreamType;
  if (answer_coding_ != Coding::kIdentity) response_.content_encoding = CodingName(answer_coding_);
  AppendHead(stream_keep_, /*streaming=*/true);
}

void Session::AppendChunk(std::string_view piece) {
  if (piece.empty()) return;  // an empty chunk would be the last
  const size_t had = out_.size();
  if (head_.http11) {
    AppendNumber(piece.size(), 16, &out_);
    out_ += "\r\n";
  }
  out_ += piece;
  if (head_.http11) out_ += "\r\n";
  bytes_out_ += out_.size() - had;
}

void Session::AppendLastChunk() {
  constexpr std::string_view kLast = "0\r\n\r\n";
  if (!head_.http11) return;
  out_ += kLast;
  bytes_out_ += kLast.size();
}

void Session::Write() {
  phase_ = Phase::kWrite;
  Charge();
  transfer_until_ = After(shared_->limits.transfer_ms);
  read_until_ = Clock::now() + kAnyRate;
  written_ = 0;
  Written(0);
  const std::array<boost::asio::const_buffer, 2> buffers = {
      boost::asio::buffer(out_),
      big_body_ ? boost::asio::buffer(response_.body) : boost::asio::const_buffer()};
  stream_.Write(
      buffers,
      [this](const boost::system::error_code& ec, size_t written) -> size_t {
        Written(written);
        return ec ? 0 : 1u << 20;
      },
      [self = shared_from_this()](const boost::system::error_code& ec, size_t count) {
        self->OnWritten(ec, count);
      });
}

void Session::OnWritten(const boost::system::error_code& ec, size_t count) {
  if (phase_ == Phase::kDone) return;
  if (ec) return Close();
  shared_->counters.bytes_out.fetch_add(count, std::memory_order_relaxed);
  shared_->counters.in_flight.fetch_sub(unwritten_, std::memory_order_relaxed);
  unwritten_ = 0;
  deadline_ = After(shared_->limits.idle_ms);
  out_.clear();
  big_body_ = false;
  const size_t keep = shared_->answers.Crowded() ? 0 : kKeepOut;
  for (std::string* buffer : {&out_, &response_.body, &stream_out_}) {
    if (buffer->capacity() > keep) std::string().swap(*buffer);
  }
  Charge();
  if (close_after_write_) return Linger();
  phase_ = in_request_ ? Phase::kBody : Phase::kHead;
  Pump();
}

/// So many bytes of what is being written went out. Each gives the peer the time for it by
/// limits.read_bytes_per_s, up to kAnyRate in advance.
void Session::Written(size_t bytes) {
  const auto now = Clock::now();
  deadline_ = std::min(now + std::chrono::milliseconds(shared_->limits.idle_ms), transfer_until_);
  if (const int64_t rate = shared_->limits.read_bytes_per_s; rate > 0) {
    const std::chrono::duration<double> worth(static_cast<double>(bytes - written_) /
                                              static_cast<double>(rate));
    const Clock::duration most = kAnyRate;
    read_until_ = std::max(read_until_, now);
    read_until_ += worth < most ? std::chrono::duration_cast<Clock::duration>(worth) : most;
    read_until_ = std::min(read_until_, now + most);
    deadline_ = std::min(deadline_, read_until_);
  }
  written_ = bytes;
}

/// Lets the peer read our last words before the connection goes: closing with bytes unread would
/// take them away from it.
void Session::Linger() {
  phase_ = Phase::kLinger;
  deadline_ = After(kLingerMs);
  if (!stream_.secure()) {
    stream_.ShutdownSend();
    return Discard();
  }
  stream_.SayEnd([self = shared_from_this()](const boost::system::error_code&) {
    if (self->phase_ == Phase::kDone) return;
    self->stream_.ShutdownSend();
    self->Discard();
  });
}

/// Reads until the peer closes, or the deadline has passed.
void Session::Discard() {
  if (reading_) return;
  char* const at = in_.Reserve(kReadBytes);
  if (at == nullptr) return Close();
  reading_ = true;
  stream_.ReadRaw(boost::asio::buffer(at, kReadBytes),
                  [self = shared_from_this()](const boost::system::error_code& ec, size_t count) {
                    self->OnRead(ec, count, /*into_body=*/false);
                  });
}

void Session::Charge() {
  size_t bytes = out_.capacity() + response_.body.capacity() + stream_out_.capacity();
  if (plan_.stream) bytes += plan_.stream->HeldBytes();
  if (encoder_) bytes += encoder_->HeldBytes();
  if (bytes > charged_) shared_->answers.Force(bytes - charged_);
  if (bytes < charged_) shared_->answers.Give(charged_ - bytes);
  charged_ = bytes;
}

void Session::Shrink(Clock::time_point now) {
  const bool idle = phase_ == Phase::kHead && !in_request_ && out_.empty() && !big_body_;
  if (!idle || now - read_at_ < kKeepFor) return;
  body_.Clear(kKeepIdle);
  for (std::string* buffer : {&out_, &response_.body, &stream_out_}) {
    if (buffer->capacity() > kKeepIdle) std::string().swap(*buffer);
  }
  Charge();
}

void Session::Close() {
  if (phase_ == Phase::kDone) return;
  phase_ = Phase::kDone;
  const std::shared_ptr<Session> self = std::move(self_);  // it may be the last owner
  came_ = {};
  if (!at_worker_) handling_.Cancel();  // otherwise when the worker lets go of this
  wait_limit_.reset();
  LeaveLane();
  LeaveHandshakes();
  stream_.Close();
  thread_->RemoveIdle(this);
  if (std::exchange(counted_peer_, false)) shared_->peers.Leave(connection_.peer);
  shared_->counters.in_flight.fetch_sub(unwritten_ + (in_request_ ? 1 : 0),
                                        std::memory_order_relaxed);
  shared_->counters.open.fetch_sub(1, std::memory_order_relaxed);
  unwritten_ = 0;
  in_request_ = false;
  shared_->answers.Give(charged_);
  charged_ = 0;
  const size_t erased = thread_->sessions.erase(this);  // 0: it was not started
  thread_->session_count.fetch_sub(erased, std::memory_order_relaxed);
}

}  // namespace seendb::http
