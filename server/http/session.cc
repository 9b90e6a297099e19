#include "http/session.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/post.hpp>

#include "http/probe.h"
#include "http/refusal.h"
#include "http/wait.h"

namespace seendb::http {
namespace {

/// How long a head, or TLS, may take beyond the limit of connections.
constexpr int64_t kBeyondLimitMs = 1'000;
/// How long a connection we close may take to read our last words.
constexpr int64_t kLingerMs = 2'000;
/// Memory a connection keeps for bodies between requests. Beyond the second of these sizes it keeps
/// it no longer than this after a request.
constexpr size_t kKeepBody = 256u << 10;
constexpr size_t kKeepIdle = 4u << 10;
constexpr std::chrono::seconds kKeepFor{1};

Error TooManyAnswers() { return {503, "busy", "too many answer bytes in flight"}; }

/// Makes `*response`, which is clear, the answer to an error, in the shape that the plan says.
void WriteShaped(const Error& error, const Plan& plan, Response* response) {
  WriteError(error, response);
  if (plan.shape_error != nullptr) plan.shape_error(response);
}

}  // namespace

Session::Session(Arrival arrival, IoThread* thread)
    : thread_(thread),
      shared_(thread->shared),
      beyond_limit_(arrival.beyond_limit),
      over_share_(arrival.over_share),
      counted_peer_(arrival.counted_peer),
      transport_(&arrival, thread, this),
      reader_(&transport_, &shared_->budget),
      writer_(&reader_.head, &plan_, &shared_->answers, &thread->date),
      turn_(this, this, thread, transport_.stream().get_executor()),
      wait_(this, transport_.stream().get_executor()) {}

Session::~Session() {
  Close();
  handling_.Cancel();
}

void Session::Start() {
  thread_->sessions.insert(this);
  thread_->session_count.fetch_add(1, std::memory_order_relaxed);
  if (beyond_limit_) reader_.LimitHead(kBeyondLimitMs);
  if (over_share_ && transport_.secure()) return Close();
  serving_.Begin(Serve());
  GoOn();
}

/// The life of a connection.
Task<> Session::Serve() {
  if (transport_.secure()) {
    // The peer has as long as for a head; who idles meanwhile may have to go.
    phase_ = Phase::kHandshake;
    transport_.deadline = Transport::After(beyond_limit_ ? kBeyondLimitMs : transport_.HeaderMs());
    thread_->AddIdle(this);
    TlsGreeting greeting(this, &transport_, &turn_);
    const bool agreed = co_await greeting.Agree();
    if (!agreed) co_return Close();
    thread_->RemoveIdle(this);
  }
  if (over_share_) {
    Fail({503, "busy", "too many connections from this address (limits.connections_per_peer)"});
    co_await Write();
  }
  while (!closing_) {
    if (!TakeHead()) co_await ReadHead();
    if (phase_ == Phase::kDone) co_return;  // it has moved on
    if (in_request_ && !TakeBody()) co_await ReadBody();
    if (in_request_) co_await Handle();
    if (closing_ || flush_ || writer_.full() || transport_.in.empty()) co_await Write();
    turn_.End();
  }
  co_await Linger();
}

void Session::GoOn() {
  ++pauses_;
  try {
    serving_.GoOn();
  } catch (const std::exception&) {
    Close();  // out of memory, most likely: this connection is the price, not the process
  }
}

void Session::Came(Event event, bool ok) {
  if (event == Event::kRead && phase_ != Phase::kHandshake) thread_->RemoveIdle(this);
  if (phase_ == Phase::kDone) return;
  // A read whose time was up may end while the last words are being written.
  if (event == Event::kRead && phase_ == Phase::kWrite) return;
  if (!ok) return Close();
  GoOn();
}

void Session::TakeTurn(const admission::Verdict& verdict, Clock::time_point now) {
  const std::shared_ptr<Loop> self = turn_.Came(verdict, now);
  Came(Event::kWork, true);
  turn_.End();
  turn_.EndPipeline();
}

Task<> Session::ReadHead() {
  do {
    co_await Fill();
  } while (!closing_ && !TakeHead());
}

/// Waits for more bytes; what has been answered goes out first.
Task<> Session::Fill() {
  if (!writer_.empty()) {
    co_await Write();
    co_return;
  }
  phase_ = in_request_ ? Phase::kBody : Phase::kHead;
  if (!in_request_ && reader_.before_head() && !reader_.drops()) thread_->AddIdle(this);
  if (!reader_.Ask(in_request_ ? &plan_ : nullptr)) {
    co_return Fail({503, "busy", "too many request bytes in flight"});
  }
  co_await Pause();
  reader_.Received();
}

/// False when more bytes are needed.
bool Session::TakeHead() {
  if (reader_.drops() && !reader_.Drop()) return false;
  const bool moves_on = thread_->lane == nullptr && !beyond_limit_ && !transport_.secure() &&
                        reader_.before_head() &&
                        JudgeFirstBytes(transport_.in.view()) == FirstBytes::kOther;
  if (moves_on) {
    if (!writer_.empty()) return false;  // the answers of before go first
    MoveOn();
    return true;
  }
  if (reader_.Prepare()) plan_ = Plan();
  const RequestReader::Got got = reader_.TakeHead();
  if (got == RequestReader::Got::kBroken) Fail(reader_.error());
  if (got == RequestReader::Got::kSome) Begin();
  return got != RequestReader::Got::kNothing;
}

/// A head has come: what is to be done with the request.
void Session::Begin() {
  const RequestHead& head = reader_.head;
  began_ = Clock::now();
  in_request_ = true;
  shared_->counters.in_flight.fetch_add(1, std::memory_order_relaxed);
  reader_.head.connection = &transport_.connection;
  plan_ = shared_->service->Begin(head);
  if (beyond_limit_ && !plan_.probe) {
    shared_->counters.refused.fetch_add(1, std::memory_order_relaxed);
    return Fail({503, "busy", "too many connections"});
  }
  reader_.Begin(began_);
  if (!transport_.stream().IsTrusted(shared_->tls)) {
    return Fail({401, "unauthorized", "the authority of the client's certificate counts no more"});
  }
  if (!plan_.refused && writer_.Refuses(reader_.body.size())) {
    plan_.refused = true;
    plan_.refusal = TooManyAnswers();
  }
  const admission::Verdict verdict =
      turn_.Admit(&plan_, head, reader_.left(), reader_.first_byte(), began_);
  if (!verdict.admitted()) return Refuse(verdict, /*at_head=*/true);
  if (plan_.stream) plan_.stream->Attend(&wait_);
  if (const std::optional<Error> error = reader_.Expect(&plan_)) return Fail(*error);
  writer_.Begin();
  const bool continues = head.expects_continue && head.http11 && head.HasBody();
  if (continues && transport_.in.empty()) writer_.Continue();
}

/// The connection goes on to an I/O thread, and this session has ended.
void Session::MoveOn() {
  Arrival arrival = transport_.Release();
  arrival.counted_peer = std::exchange(counted_peer_, false);
  shared_->counters.open.fetch_add(1, std::memory_order_relaxed);  // Close counts this one out
  Close();
  HandOver(std::move(arrival), shared_);
}

/// True when the body is here, or the request has failed. A stream takes its body by itself.
bool Session::TakeBody() {
  if (plan_.body == BodyMode::kStream) return false;
  if (reader_.TakeBody(&plan_) == RequestReader::Got::kBroken) Fail(reader_.error());
  return !in_request_ || reader_.complete();
}

Task<> Session::ReadBody() {
  if (plan_.body == BodyMode::kStream) {
    co_await Stream();
    co_return;
  }
  do {
    if (reader_.has_more()) {
      co_await GiveWay();
    } else {
      co_await Fill();
    }
  } while (in_request_ && !TakeBody());
}

/// Lets the other sessions of this thread do something before this one goes on.
Task<> Session::GiveWay() {
  phase_ = Phase::kWork;
  boost::asio::post(transport_.stream().get_executor(),
                    [self = shared_from_this()] { self->Came(Event::kWork, true); });
  co_await Pause();
  transport_.deadline =
      Transport::After(shared_->limits.idle_ms);  // it is not the peer who is slow
}

/// Answers a request whose body is here.
Task<> Session::Handle() {
  if (plan_.ticket.tenant != nullptr) {
    plan_.ticket.tenant->AddBytes(reader_.body.size(), Clock::now());
  }
  Response& response = writer_.response;
  response.Clear();
  if (plan_.refused) {
    WriteShaped(plan_.refusal, plan_, &response);
    response.allow = plan_.allow;
    co_return Respond();
  }
  if (plan_.stream) co_return AnswerHead();
  const RequestTurn::Job step = JobOf<&Session::RunHandler>(this);
  co_await InTurn(step);
  while (in_request_ && handling_ && !turn_.failed()) {
    turn_.End();
    Wait& wait = *handling_.wait();
    if (wait.what == Wait::For::kTurn) {
      plan_.executor = wait.executor;
      co_await InTurn(step);
      continue;
    }
    if (wait.what == Wait::For::kGiven) {
      co_await AwaitCall(wait.limit_us);
      wait.came = wait_.Take();
    } else {
      const bool posted = co_await OnPool(wait.executor, step);
      if (posted) continue;
      wait.refused = true;
    }
    turn_.Run(step);
  }
  if (!in_request_) co_return;
  if (turn_.failed()) {
    response.Clear();
    WriteShaped({500, "internal", "the request could not be handled"}, plan_, &response);
  }
  const RequestTurn::Job encode = JobOf<&ResponseWriter::Encode>(&writer_);
  if (writer_.EncodesMuch() && plan_.encode_executor != Executor::kInline) {
    turn_.End();
    co_await OnPool(plan_.encode_executor, encode);  // otherwise it goes out as it is
  } else if (writer_.Encodes()) {
    turn_.Run(encode);  // out of memory, it goes out as it is
  }
  Respond();
}

/// On the thread that has the request: up to where the handler ends or waits.
void Session::RunHandler() {
  const RequestHead& head = reader_.head;
  Response* const response = &writer_.response;
  const Wait* const wait = handling_.wait();
  const bool its_turn = wait == nullptr || wait->what == Wait::For::kTurn;
  if (its_turn && writer_.Refuses(reader_.body.size())) {
    handling_.Cancel();
    return WriteShaped(TooManyAnswers(), plan_, response);
  }
  const auto age =
      Clock::now() - reader_.first_byte() + std::chrono::milliseconds(head.routing.age_ms);
  const int64_t age_us = std::chrono::duration_cast<std::chrono::microseconds>(age).count();
  if (handling_) {
    request_->age_us = age_us;
  } else {
    request_.emplace(
        Request{.head = head, .body = reader_.body.view(), .waiting = &wait_, .age_us = age_us});
    handling_.Begin(shared_->service->Handle(plan_, *request_, response));
  }
  if (handling_) handling_.GoOn();
  if (turn_.away() && !handling_ && writer_.Encodes()) writer_.Encode();
}

/// Answers HEAD where GET would stream; the stream is never asked.
void Session::AnswerHead() {
  const RequestHead& head = reader_.head;
  const bool keep = head.keep_alive && head.http11 && !shared_->draining;
  writer_.PutStreamHead(keep);
  closing_ = !keep;
  flush_ = true;
  EndRequest(200);
}

/// Runs `job` where the request belongs, once its turn has come there; or answers a refusal.
Task<> Session::InTurn(RequestTurn::Job job) {
  if (!turn_.RunsNow(plan_, reader_.body.size(), reader_.news())) return AwaitTurn(job);
  turn_.Run(job);
  return {};
}

Task<> Session::AwaitTurn(RequestTurn::Job job) {
  if (!writer_.empty()) {
    co_await Write();  // answers of before don't wait
    if (turn_.RunsNow(plan_, reader_.body.size(), reader_.news())) co_return turn_.Run(job);
  }
  const auto entered = turn_.Enter(transport_.came_at(), job);
  if (!entered) co_return Fail({503, "busy", "too much work in flight"});
  if (!entered->admitted()) co_return Refuse(*entered, /*at_head=*/false);
  phase_ = Phase::kWork;
  co_await Pause();
  if (!turn_.verdict().admitted()) co_return Refuse(turn_.verdict(), /*at_head=*/false);
  if (!turn_.at_workers()) turn_.Run(job);
}

/// Has a worker run `job`. False, and it was not run, where they take no more.
Task<bool> Session::OnPool(Executor executor, RequestTurn::Job job) {
  if (!turn_.Post(executor, job)) co_return false;
  phase_ = Phase::kWork;
  co_await Pause();
  co_return true;
}

/// Waits for a call of what CallWait::Resume made; that may have been before.
Task<> Session::AwaitCall(int64_t limit_us) {
  if (wait_.Begin(limit_us)) {
    phase_ = Phase::kWork;
    co_await Pause();
  }
  turn_.CountWait(wait_.waited());
}

/// Answers that the request is not taken, and keeps the connection where its body can be dropped.
void Session::Refuse(const admission::Verdict& verdict, bool at_head) {
  turn_.BeginRefusal(at_head ? transport_.read_at() : Clock::now(), began_);
  const RequestHead& head = reader_.head;
  // A new connection costs more than what is dropped: only where there are too many one closes.
  const bool crowded = thread_->Crowded();
  Response& response = writer_.response;
  response.Clear();
  WriteRefusal(verdict, &response);
  if (plan_.shape_error != nullptr) plan_.shape_error(&response);
  if (at_head && head.HasBody()) {
    const bool droppable = !head.chunked && !head.expects_continue && !crowded &&
                           reader_.left() <= thread_->lane->settings().discard_bytes;
    if (droppable) {
      reader_.BeginDrop();
      transport_.transfer_until = Transport::After(shared_->limits.transfer_ms);
    } else {
      broken_input_ = true;
    }
  }
  if (crowded) response.close = true;
  if (reader_.drops()) static_cast<void>(reader_.Drop());
  Respond();
}

/// Answers an error after which the connection closes: what is left of the request is not read.
void Session::Fail(const Error& error) {
  broken_input_ = true;
  Response& response = writer_.response;
  response.Clear();
  WriteShaped(error, plan_, &response);
  response.allow = plan_.allow;
  if (!in_request_) began_ = Clock::now();
  Break();
}

/// Answers the error in the response, as far as that is possible still.
void Session::Break() {
  if (!writer_.streams() || !in_request_) return Respond();
  writer_.PutFailure();
  closing_ = true;
  EndRequest(writer_.response.status);
}

/// Answers with the response, and ends the request.
void Session::Respond() {
  const bool keep = reader_.head.keep_alive && !writer_.response.close && !broken_input_ &&
                    !shared_->draining && !beyond_limit_;
  writer_.Put(keep);
  closing_ = !keep;
  EndRequest(writer_.response.status);
}

void Session::EndRequest(unsigned status) {
  const Response& response = writer_.response;
  const Clock::time_point now = Clock::now();
  const uint64_t bytes_in = reader_.TakeBytesIn(in_request_);
  shared_->service->Done({reader_.head, plan_, status, response.error_code, response.log_tag, now,
                          now - began_, turn_.waited(), turn_.worked(), bytes_in,
                          writer_.TakeBytesOut(), transport_.connection.peer});
  turn_.EndTimes();
  if (in_request_) ++unwritten_;
  in_request_ = false;
  turn_.Leave();
  wait_.Forget();
  handling_.Cancel();
  plan_.stream.reset();
  writer_.End();
  reader_.End(shared_->budget.Crowded() ? 0 : kKeepBody);
}

Task<> Session::Write() {
  phase_ = Phase::kWrite;
  flush_ = false;
  writer_.Charge();
  transport_.Write(writer_.buffers());
  turn_.End();  // an answer's way into the socket is a part of it
  co_await Pause();
  shared_->counters.in_flight.fetch_sub(unwritten_, std::memory_order_relaxed);
  unwritten_ = 0;
  transport_.deadline = Transport::After(shared_->limits.idle_ms);
  writer_.Wrote();
}

/// Lets the peer read our last words before the connection goes: closing with bytes unread would
/// take them away from it.
Task<> Session::Linger() {
  transport_.deadline = Transport::After(kLingerMs);
  if (transport_.secure()) {
    phase_ = Phase::kWrite;
    transport_.SayEnd();
    co_await Pause();
  }
  phase_ = Phase::kLinger;
  transport_.stream().ShutdownSend();
  while (transport_.reading() || transport_.ReadRest()) co_await Pause();
  Close();
}

bool Session::Overdue(Clock::time_point now) const {
  return phase_ != Phase::kWork && now >= transport_.deadline;
}

void Session::TimeOut() {
  shared_->counters.timed_out.fetch_add(1, std::memory_order_relaxed);
  const bool begun = in_request_ || !reader_.before_head();
  if (!begun || (phase_ != Phase::kHead && phase_ != Phase::kBody)) return Close();
  Fail({408, "timeout", "the request did not arrive in time"});
  GoOn();
}

void Session::Shrink(Clock::time_point now) {
  const bool idle = phase_ == Phase::kHead && !in_request_ && writer_.empty();
  if (!idle || now - transport_.read_at() < kKeepFor) return;
  reader_.body.Clear(kKeepIdle);
  writer_.Shrink();
}

void Session::Close() {
  if (phase_ == Phase::kDone) return;
  phase_ = Phase::kDone;
  closing_ = true;
  // One of these may be the last owner.
  const std::shared_ptr<Loop> turned = turn_.Close(), waited = wait_.Close();
  if (!turn_.away()) handling_.Cancel();  // otherwise when the worker lets go of this
  transport_.Close();
  thread_->RemoveIdle(this);
  if (std::exchange(counted_peer_, false)) shared_->peers.Leave(transport_.connection.peer);
  shared_->counters.in_flight.fetch_sub(unwritten_ + (in_request_ ? 1 : 0),
                                        std::memory_order_relaxed);
  shared_->counters.open.fetch_sub(1, std::memory_order_relaxed);
  unwritten_ = 0;
  in_request_ = false;
  writer_.Close();
  const size_t erased = thread_->sessions.erase(this);  // 0: it was not started
  thread_->session_count.fetch_sub(erased, std::memory_order_relaxed);
}

}  // namespace seendb::http
