// The part of Session that serves bodies without an end: pieces are handed on as they come, and the
// answer goes out as it is made.

#include "http/session.h"

namespace seendb::http {

/// Hands a body on as it comes, and the answer as it is made.
Task<> Session::Stream() {
  while (in_request_) {
    const uint64_t pauses = pauses_;
    if (!reader_.complete()) {
      const RequestReader::Got got = reader_.TakeBody(&plan_);
      if (got == RequestReader::Got::kBroken) co_return Fail(reader_.error());
      if (got == RequestReader::Got::kNothing) {
        co_await Fill();
        continue;
      }
    }
    if (reader_.complete() || reader_.news() > 0) {
      reader_.NoteProgress();
      writer_.piece.clear();
      int64_t limit_us = 0;
      bool later = false;
      do {
        co_await InTurn(JobOf<&Session::Feed>(this));
        if (!in_request_) co_return;
        turn_.End();
        turn_.ChargeTenant(plan_.ticket.tenant, reader_.news(), shared_->limits.body_bytes);
        if (turn_.failed()) {
          co_return Fail({500, "internal", "the request could not be handled"});
        }
        reader_.Consume(stream_taken_);
        if (stream_taken_ > 0 || reader_.body.empty()) {
          transport_.transfer_until = Transport::After(shared_->limits.transfer_ms);
        }
        writer_.Charge();
        later = plan_.stream->Later(&limit_us);
        if (later) co_await AwaitCall(limit_us);
      } while (later);
      if (Fed()) co_await Write();
    }
    if (in_request_ && reader_.has_more() && pauses == pauses_) co_await GiveWay();
  }
}

/// On the thread that has the request.
void Session::Feed() {
  BodyStream& stream = *plan_.stream;
  stream_taken_ = stream.Take(reader_.body.view(), reader_.complete(), &writer_.piece);
  int64_t later_us = 0;
  if (!stream.Failed() && !stream.Later(&later_us)) writer_.EncodePiece();
}

/// Adds what the stream has made to its answer. True where it is to be written.
bool Session::Fed() {
  BodyStream& stream = *plan_.stream;
  const bool end = (reader_.complete() && !stream.HasMore()) || stream.Failed();
  if (!reader_.complete() && end) broken_input_ = true;
  if (!stream.AnswersAsItGoes() || stream.Failed()) {
    if (!end) return false;
    writer_.response.Clear();
    stream.Finish(&writer_.response);
    stream.AnswersAsItGoes() ? Break() : Respond();
    return false;
  }
  if (writer_.piece.empty() && !end) return false;
  if (!writer_.streams()) {
    stream_keep_ = reader_.head.keep_alive && reader_.head.http11 && !broken_input_;
    writer_.PutStreamHead(stream_keep_);
  }
  writer_.PutPiece();
  if (!end) return true;
  writer_.PutEnd();
  closing_ = !stream_keep_ || broken_input_ || shared_->draining;
  flush_ = true;
  EndRequest(200);
  return false;
}

}  // namespace seendb::http
