#include "http/io_thread.h"

#include <algorithm>

#include "http/session.h"

namespace seendb::http {
namespace {

/// Connections that are taken in any flood.
constexpr size_t kFloodedLeast = 256;
/// Waiting clients that are asked at a time whether they are gone.
constexpr size_t kAsked = 64;

}  // namespace

void IoThread::Run() {
  if (lane == nullptr) {
    io.run();
    return;
  }
  while (!io.stopped()) Turn(/*block=*/true);
}

bool IoThread::Turn(bool block) {
  if (lane != nullptr) lane->SetCallers(session_count.load(std::memory_order_relaxed));
  const bool read = Read(block);
  return Work() || read;
}

Clock::time_point IoThread::CameAfter() {
  if (lane == nullptr) return Clock::now();
  if (waits_) Looked(Clock::now());
  return looked_;
}

/// All that had come by `now` was read.
void IoThread::Looked(Clock::time_point now) {
  if (!waits_ && lane != nullptr) {
    CountGap(now);
    flood_.ReadAll();
    session_limit.store(SIZE_MAX, std::memory_order_relaxed);
  }
  waits_ = false;
  looked_ = read_until_ = now;
}

/// More has come by `now` than what was read since `began`. In a flood each refusal takes time that
/// an answer could have, so the number of connections is what bounds the waits: all that are open
/// wait kFlood, if each asks for one request.
void IoThread::CutShort(Clock::time_point began, Clock::time_point now) {
  CountGap(now);
  const bool before = flood_.on();
  flood_.CutShort(began, now);
  if (before == flood_.on()) return;
  const auto each = std::max<Clock::duration>(lane->MeanCost(), std::chrono::microseconds(1));
  session_limit =
      before ? SIZE_MAX : std::max(kFloodedLeast, static_cast<size_t>(admission::kFlood / each));
}

void IoThread::CountGap(Clock::time_point now) {
  lane->LoopGap(now - read_until_);
  read_until_ = now;
}

bool IoThread::Read(bool block) {
  if (lane == nullptr) return io.poll() > 0;
  const bool read = ReadAll();
  if (read || !block || !lane->empty()) return read;
  waits_ = true;
  if (io.run_one() == 0) return false;
  if (waits_) Looked(Clock::now());
  ReadAll();
  return true;
}

/// Reads until nothing more has come, or reading has had its share of the time. False where nothing
/// had.
bool IoThread::ReadAll() {
  const double share = lane->IntakeShare(flood_.on());
  const std::chrono::duration<double, std::micro> most(
      static_cast<double>(lane->settings().slice_us) * share / (1 - share));
  const auto began = Clock::now();
  auto now = began;
  bool did = false;
  while (io.poll_one() > 0) {
    did = true;
    now = Clock::now();
    if (now - began > most && !lane->empty()) {
      lane->SpentReading(now - began);
      CutShort(began, now);
      return true;
    }
  }
  now = Clock::now();
  if (did) lane->SpentReading(now - began);
  Looked(now);
  return did;
}

/// Works on what waits, for a slice of time.
bool IoThread::Work() {
  if (lane == nullptr || lane->empty()) return false;
  auto now = Clock::now();
  const auto until = now + std::chrono::microseconds(lane->settings().slice_us);
  if (lane->LooksForGone(now)) DropGone();
  do {
    const admission::Lane::Turn turn = lane->Take(now);
    if (turn.entry == nullptr) break;
    static_cast<Session*>(turn.entry->owner)->TakeTurn(turn.verdict, now);
    now = Clock::now();
  } while (now < until);
  return true;
}

/// Requests whose clients are gone cost nothing but this look.
void IoThread::DropGone() {
  polled_.clear();
  asked_.clear();
  lane->ForOldest(kAsked, [this](admission::Entry* entry) {
    auto* const session = static_cast<Session*>(entry->owner);
    polled_.push_back({session->descriptor(), POLLRDHUP, 0});
    asked_.push_back(session);
  });
  if (poll(polled_.data(), polled_.size(), 0) <= 0) return;
  const bool overloaded = lane->counters().overloaded.load(std::memory_order_relaxed);
  for (size_t i = 0; i < asked_.size(); ++i) {
    const short events = polled_[i].revents;
    // A client may have sent all it has to say, and wait for the answer. One that is to be kept
    // alive hardly does that.
    const bool half_closed = (events & POLLRDHUP) != 0 && overloaded && asked_[i]->keeps_alive();
    if ((events & (POLLHUP | POLLERR)) != 0 || half_closed) asked_[i]->Close();
  }
}

void IoThread::AddIdle(Idler* idler) {
  if (idler->is_linked()) return;
  idle_.push_back(*idler);
  idle_count.fetch_add(1, std::memory_order_relaxed);
}

void IoThread::RemoveIdle(Idler* idler) {
  if (!idler->is_linked()) return;
  idler->unlink();
  idle_count.fetch_sub(1, std::memory_order_relaxed);
}

void IoThread::CloseLongestIdle() {
  if (idle_.empty()) return;  // a request came: for a moment there is one too many
  shared->counters.evicted.fetch_add(1, std::memory_order_relaxed);
  idle_.front().MakeRoom();
}

}  // namespace seendb::http
