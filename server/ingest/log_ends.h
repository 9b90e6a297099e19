// ingest/log_ends.h: since when the reader of a log lacks something of it, told by ends of the log
// and by the monotonic clock: neither messages' times nor the machine's clock have a say.
//
// Whoever asks for the end notes it with the moment at which it asked. Once the reader has applied
// all before that end, it has all that was in the log at that moment. At most 64 ends wait to be
// reached: of more, every other one goes, and the next ones are noted at twice the distance.
//
// Threads: one at a time.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace seendb::ingest {

/// See the head of this file.
class LogEnds {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The log ended at `end` at some moment behind `asked_at`. `next`: what the reader applies next,
  /// where that is known.
  void Note(int64_t end, Time asked_at, std::optional<int64_t> next);
  /// The reader has applied all before `next`.
  void Advance(int64_t next);
  /// It has all that was in the log then; nothing: it never came to an end that was noted.
  std::optional<Time> whole_at() const { return whole_at_; }

 private:
  struct End {
    Time asked_at;
    int64_t offset;
  };
  void Reached(Time asked_at);

  std::deque<End> ends_;  // ascending, which it has not come to
  Time::duration apart_ = {};
  std::optional<Time> whole_at_;
};

}  // namespace seendb::ingest
