// server/http/session.h: one connection: reads requests, has them handled, writes the answers.
//
// Owned by its pending operations. Everything runs on the I/O thread it was made for, except
// handlers a Plan sends to a worker pool; while one runs, the session waits for it. Requests are
// taken one at a time, in order; answers to pipelined requests are written together.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "http/bytes.h"
#include "http/coded_body.h"
#include "http/encoder.h"
#include "http/request_parser.h"
#include "http/shared.h"
#include "http/stream.h"

namespace seendb::http {

/// See the head of this file.
class Session final : public std::enable_shared_from_this<Session>,
                      public IdlePlace,
                      private Waiting,
                      private ReplyTo {
 public:
  using Clock = std::chrono::steady_clock;

  /// Takes over a connected socket of `thread` (which outlives the session), which came in by
  /// `door`. `tls`: null for none.
  Session(Stream::Socket socket, TlsContext tls, Door door, IoThread* thread);
  ~Session();

  /// Begins to serve.
  void Start();
  /// There are too many connections: serves one request that watches the process (Plan::probe),
  /// which has to come soon, and answers 503 to any other.
  void StartBeyondLimit();
  /// True when it has been slow for too long; then TimeOut answers (where it can) and closes.
  bool Overdue(Clock::time_point now) const;
  void TimeOut();
  /// Closes at once.
  void Abort();

 private:
  enum class Phase : uint8_t { kHandshake, kHead, kBody, kWork, kWrite, kLinger, kDone };

  // session.cc: the cycle of a request.
  bool CountPeer();
  void Pump();
  bool TakeHead();
  void BeginRequest();
  bool TakeBody();
  bool BodyMoved();
  void BodyDone();
  void Answered();
  void RespondEncoded();
  void FeedStream();
  void FeedOn();
  void StreamFed();
  void AnswerHead();
  void Fail(const Error& error);
  void Break();
  bool AnswersFull() const;
  Executor ExecutorNow() const;
  template <typename Job>
  void RunOn(Executor executor, Job job, void (Session::*then)());
  void CountWait(Executor executor, Clock::duration waited);
  /// False where the workers take no more; then the session is in Phase::kWork.
  template <typename Job>
  bool TryRunOn(Executor executor, Job job, void (Session::*then)());

  // session_coding.cc: compressed bodies and answers.
  void BeginCoding();
  uint64_t CompressedLimit() const;
  bool TakeCoded();
  bool TakeCompressed();
  bool DecodePiece();
  void GiveWay();
  bool CanEncode() const;
  void EncodeAnswer();
  void EncodePiece();
  void AppendEncoded(std::string_view piece, bool end);

  // session_wait.cc: waits without a thread.
  std::function<void(std::shared_ptr<void>)> Resume() override;
  Came Take() override;
  void GiveBack(Came came) override;
  void Wait(int64_t limit_us, void (Session::*again)());
  void Resumed(uint64_t number, std::shared_ptr<void> given);
  void EndWait();
  Clock::duration ReplyWorked(Clock::time_point now) const;
  void ForgetWaits();
  Reply Defer() override;
  void Answer(std::shared_ptr<ReplyTo> self, uint64_t number, Response response) override;
  bool Post(Executor executor, std::function<void()> job) override;
  void Replied();

  // session_io.cc: sockets and answers.
  void Handshake();
  void Fill();
  void ReadMore();
  void OnRead(const boost::system::error_code& ec, size_t count, bool into_body);
  void Respond();
  void AppendHead(bool keep, bool streaming);
  void AppendStreamHead();
  void AppendChunk(std::string_view piece);
  void AppendLastChunk();
  void Write();
  void OnWritten(const boost::system::error_code& ec, size_t count);
  void Linger();
  void Discard();
  void Written(size_t bytes);
  void EnterIdle();
  void LeaveIdle();
  /// Counts what answers and the stream hold against the budget of answers.
  void Charge();
  void Close();
  void EndRequest(unsigned status);
  Clock::time_point After(int64_t ms) const { return Clock::now() + std::chrono::milliseconds(ms); }

  IoThread* const thread_;
  Shared* const shared_;
  Stream stream_;
  Connection connection_;

  Phase phase_ = Phase::kHead;
  Clock::time_point deadline_;
  Clock::time_point transfer_until_;  // the body's, or the answer's being written
  Clock::time_point read_until_;      // the peer has to have read more of the answer by then
  size_t written_ = 0;                // of what is being written
  bool reading_ = false;
  bool close_after_write_ = false;
  bool broken_input_ = false;  // what follows on this connection can't be trusted
  bool beyond_limit_ = false;  // see StartBeyondLimit
  bool counted_peer_ = false;  // by PeerCounts

  Bytes in_;    // received, not parsed
  Bytes body_;  // of the current request
  RequestHead head_;
  std::optional<RequestParser> parser_;  // of the current head, or of a chunked body
  Clock::time_point head_until_;         // deadline of a head that has begun

  Plan plan_;
  bool in_request_ = false;  // from a complete head to its answer; counted in in_flight
  Clock::time_point began_;
  uint64_t left_ = 0;        // of a body of known length
  bool only_blank_ = false;  // the newest bytes of a stream are empty lines, which are no progress
  Clock::time_point line_until_, stream_until_;  // a stream's next progress, and its end
  bool body_complete_ = false;
  std::unique_ptr<CodedBody> coded_;  // of a compressed body
  size_t fed_ = 0;                    // bytes of body_ the stream has seen and not taken
  size_t stream_taken_ = 0;
  bool stream_head_sent_ = false, stream_keep_ = false;
  std::string stream_out_;                    // made by a stream, not framed yet
  Coding answer_coding_ = Coding::kIdentity;  // that the answer is to get
  std::unique_ptr<Encoder> encoder_;          // of a streamed answer
  bool job_failed_ = false;

  std::atomic<uint64_t> wait_number_{0};  // counts what Resume and Defer made
  bool deferred_ = false;                 // the handler took a Reply
  bool waits_ = false, resumed_ = false;
  Came came_;
  Clock::time_point waits_since_;
  void (Session::*after_wait_)() = nullptr;
  std::optional<boost::asio::steady_timer> wait_limit_;
  std::shared_ptr<Session> self_;  // while it waits: nothing else owns it

  // Of this request, for Outcome.
  Clock::duration waited_{}, worked_{};
  uint64_t bytes_in_ = 0, bytes_out_ = 0;  // a body of known length is added at the end
  // When the job began that the Reply was posted with; zero: there is none.
  std::atomic<Clock::time_point> reply_job_began_{};

  Response response_;
  std::string out_;        // to be written: heads and small bodies
  bool big_body_ = false;  // response_.body is to be written after out_
  int64_t unwritten_ = 0;  // answers in out_, still counted in in_flight
  size_t charged_ = 0;     // bytes counted by Charge
};

}  // namespace seendb::http
