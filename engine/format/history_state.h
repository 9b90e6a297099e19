// format/history_state.h: what is known of one item in a user's history: of each thing a report can
// say the newest word, when the item was reported last, and up to when it was deleted.
//
// A report says some of four things: progress, duration, device, fields. What it does not say stays
// as it was said before. So each word has its own time; of two words the later counts, of one time
// the larger (finished is above every position; texts are compared as bytes). A deletion takes all
// that was said up to its time, and goes on to take what arrives later and is no newer. A join of
// states is therefore associative, commutative and idempotent: a state that only grows (a
// conflict-free replicated data type: last-writer-wins registers under a tombstone).

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "format/bytes.h"

namespace seendb {

/// The time of what never was: below every other.
inline constexpr int64_t kNoTimeMs = std::numeric_limits<int64_t>::min();

/// One thing that was said of an item, and when.
template <typename Value>
struct Word {
  int64_t said_ms = kNoTimeMs;  ///< kNoTimeMs: never said
  Value value = {};

  bool said() const { return said_ms != kNoTimeMs; }
  bool operator==(const Word& other) const = default;
};

/// A state in place: texts are borrowed.
struct HistoryState {
  int64_t at_ms = kNoTimeMs;       ///< of the newest report that no deletion covers
  int64_t deleted_ms = kNoTimeMs;  ///< of the newest deletion
  Word<int32_t> progress_s, duration_s;
  Word<std::string_view> device, fields;

  /// Whether a deletion is the newest that is known.
  bool deleted() const { return at_ms == kNoTimeMs && deleted_ms != kNoTimeMs; }
  /// The newest that is known, a report or a deletion.
  int64_t time_ms() const { return at_ms > deleted_ms ? at_ms : deleted_ms; }
  /// Whether all four things were said after that time: what was said before adds nothing.
  bool SaysAllAfter(int64_t ms) const {
    return progress_s.said_ms > ms && duration_s.said_ms > ms && device.said_ms > ms &&
           fields.said_ms > ms;
  }
  /// Takes in all that `other` knows.
  void Join(const HistoryState& other);
  /// Forgets what was said up to that time; `at_ms` stays.
  void EndWordsUpTo(int64_t up_to_ms);
  /// Takes out the words that were said before that time, as a state of their own, reported when
  /// the newest of them was said; without a report where there is none.
  HistoryState TakeWordsBefore(int64_t begin_ms);
  bool operator==(const HistoryState& other) const = default;
};

/// A deletion at that time.
HistoryState DeletionAt(int64_t at_ms);

/// Appends the words of a state, with their times where these are not the report's own.
void PutWords(std::string* out, const HistoryState& state);
/// Reads the next words of a state whose times are set; nothing, and `in` not ok, where they are
/// malformed, beyond a limit, or not as PutWords writes them.
void ReadWords(Reader* in, HistoryState* state);

/// The state of a report at that time, of words as PutWords wrote them.
HistoryState StateOf(int64_t at_ms, std::string_view words);

/// The words of version 1, all said at the report's time. 0 and an empty text were its way to say
/// nothing. `in` is not ok where they are malformed, or said by a report that has no time.
void ReadPayloadV1(Reader* in, HistoryState* state);

}  // namespace seendb
