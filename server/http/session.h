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

#include "http/arrival.h"
#include "http/bytes.h"
#include "http/coded_body.h"
#include "http/encoder.h"
#include "http/io_thread.h"
#include "http/request_parser.h"
#include "http/shared.h"
#include "http/stream.h"
#include "http/task.h"

namespace seendb::http {

/// See the head of this file.
class Session final : public std::enable_shared_from_this<Session>, public Idler, private Waiting {
 public:
  using Clock = std::chrono::steady_clock;

  /// Takes over a connection, whose socket is of `thread` (which outlives the session).
  Session(Arrival arrival, IoThread* thread);
  ~Session();

  /// Begins to serve. On the door thread: serves probes (Plan::probe); the first other request
  /// moves the connection to an I/O thread. Beyond the limit of connections: serves one probe,
  /// which has to come soon, and answers 503 to any other request.
  void Start();
  /// The I/O thread calls this when the request that waits in its lane, or the TLS ClientHello, has
  /// its turn or is refused.
  void TakeTurn(const admission::Verdict& verdict, Clock::time_point now);
  /// Whether the client means to go on after this request.
  bool keeps_alive() const { return head_.keep_alive; }
  int descriptor() { return stream_.descriptor(); }
  /// True when it has been slow for too long; then TimeOut answers (where it can) and closes.
  bool Overdue(Clock::time_point now) const;
  void TimeOut();
  /// Gives the memory of its last request back, once it has waited for the next for a while.
  void Shrink(Clock::time_point now);
  /// Closes at once.
  void Abort();
  void MakeRoom() override { Abort(); }

 private:
  enum class Phase : uint8_t { kHandshake, kHead, kBody, kWork, kWrite, kLinger, kDone };

  // session.cc: the cycle of a request.
  void Pump();
  bool TakeHead();
  void BeginRequest();
  void ExpectBody();
  bool TakeBody();
  bool BodyMoved();
  void BodyDone();
  void Handle();
  void Answered();
  void AwaitWhat();
  void RespondEncoded();
  void FeedOn();
  void Feed();
  void StreamFed();
  void AnswerHead();
  void Fail(const Error& error);
  void Break();
  bool AnswersFull() const;

  // session_work.cc: where and when a request is run, or refused for the load.
  using Step = void (Session::*)();
  bool MovesOn() const;
  void MoveOn();
  bool DropBody();
  bool DropsInKernel() const;
  bool AdmitHead();
  void CompleteTicket();
  void Refuse(const admission::Verdict& verdict, bool at_head);
  Executor ExecutorNow() const;
  void Schedule(Step job, Step then);
  void ScheduleOnWorkers();
  void RunNow();
  void RunJob();
  void OnWorker(const admission::Verdict& verdict, Clock::time_point posted);
  void LeaveLane();
  admission::Entry* EntryFor(Executor executor);
  /// False where the workers take no more. Only for what belongs to an answer that was made.
  bool PostToWorkers(Executor executor, Step job, Step then);
  void CountWait(Executor executor, Clock::duration waited);

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
  void AwaitCall(int64_t limit_us, void (Session::*again)());
  void Resumed(uint64_t number, std::shared_ptr<void> given);
  void EndWait();
  void ForgetWaits();

  // session_handshake.cc: TLS.
  void Handshake();
  void AwaitHello();
  void MeetHello();
  void AnswerHello(const admission::Verdict& verdict, Clock::time_point now);
  void Agreed(const boost::system::error_code& ec);
  void LeaveHandshakes();
  void TurnAway();

  // session_io.cc: sockets and answers.
  void Fill();
  void ReadMore();
  int64_t HeaderMs() const;
  int64_t IdleMs() const;
  Clock::time_point WaitsUntil();
  Clock::time_point CameAt();
  void ReadBodyHere();
  void AwaitDropped();
  void ReadInto(Bytes* to, size_t room);
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
  /// Counts what answers and the stream hold against the budget of answers.
  void Charge();
  void ChargeTenant(size_t bytes);
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
  const bool beyond_limit_;    // see Start
  const bool over_share_;      // of connections of its address
  bool counted_peer_ = false;  // by PeerCounts

  Bytes in_;    // received, not parsed
  Bytes body_;  // of the current request
  RequestHead head_;
  std::optional<RequestParser> parser_;  // of the current head, or of a chunked body
  Clock::time_point head_until_;         // deadline of a head that has begun
  Clock::time_point idle_until_;         // and until one begins: empty lines don't extend it

  Plan plan_;
  bool in_request_ = false;  // from a complete head to its answer; counted in in_flight
  Clock::time_point began_;
  Clock::time_point met_at_;      // when its first bytes came to the door, unread; zero: taken
  Clock::time_point read_at_;     // when the newest bytes were read
  Clock::time_point came_at_;     // when they came, at the earliest
  Clock::time_point first_byte_;  // of this request
  uint64_t left_ = 0;             // of a body of known length
  uint64_t dropped_left_ = 0;     // of the body of a request that was refused
  // Since line_until_ was set, a stream has brought content: more than empty lines and framing
  // (heads of chunks, empty compressed pieces).
  bool progressed_ = false;
  Clock::time_point line_until_, stream_until_;  // a stream's next progress, and its end
  bool body_complete_ = false;
  std::unique_ptr<CodedBody> coded_;  // of a compressed body
  size_t fed_ = 0;                    // bytes of body_ the stream has seen and not taken
  size_t stream_taken_ = 0;
  bool stream_head_sent_ = false, stream_keep_ = false;
  std::string stream_out_;                    // made by a stream, not framed yet
  Coding answer_coding_ = Coding::kIdentity;  // that the answer is to get
  std::unique_ptr<Encoder> encoder_;          // of a streamed answer

  enum class Lane : uint8_t { kNone, kThread, kWorkers };
  admission::Entry entry_;    // in the lane of the thread
  WorkerPool::Entry pooled_;  // in the lane of workers
  Lane admitted_by_ = Lane::kNone;
  bool hello_waits_ = false;               // in the lane; counted by the thread
  Executor executor_ = Executor::kInline;  // of job_
  Step job_ = nullptr, then_ = nullptr;    // what is scheduled, and what follows on this thread
  Clock::time_point scheduled_;
  Clock::time_point turn_until_;  // until then pipelined requests are run at once
  bool job_failed_ = false;

  std::optional<Request> request_;  // of the task
  TaskRun handling_{this};          // the handler, where it did not end at once
  bool at_worker_ = false;          // a worker has job_, or is to have it

  std::atomic<uint64_t> wait_number_{0};  // counts what Resume made
  bool waits_ = false, resumed_ = false;
  Came came_;
  Clock::time_point waits_since_;
  void (Session::*after_wait_)() = nullptr;
  std::optional<boost::asio::steady_timer> wait_limit_;
  std::shared_ptr<Session> self_;  // while it waits: nothing else owns it

  // Of this request, for Outcome.
  Clock::duration waited_{}, worked_{};
  Clock::duration charged_work_{};         // of worked_, to the tenant of a stream
  uint64_t bytes_in_ = 0, bytes_out_ = 0;  // a body of known length is added at the end

  Response response_;
  std::string out_;        // to be written: heads and small bodies
  bool big_body_ = false;  // response_.body is to be written after out_
  int64_t unwritten_ = 0;  // answers in out_, still counted in in_flight
  size_t charged_ = 0;     // bytes counted by Charge
};

}  // namespace seendb::http
