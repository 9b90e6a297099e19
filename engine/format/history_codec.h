// format/history_codec.h: keys and values of the families history/* and timeline/* (format.md,
// "History entry", "Timeline row").
//
// A state of an item is its time, whether it is a deletion, and a payload: progress, duration,
// device and fields, as bytes. States are ordered by time, then a deletion above an entry, then
// the payload's bytes; the greatest is the one that counts. Total: any order of merging ends the
// same.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes.h"

namespace seendb {

/// The time of a state that is none: below every other.
inline constexpr int64_t kNoTimeMs = std::numeric_limits<int64_t>::min();

/// What a payload says.
struct PayloadView {
  int32_t progress_s = 0;
  int32_t duration_s = 0;
  std::string_view device, fields;
};

/// Appends a payload's bytes.
void PutPayload(std::string* out, const PayloadView& payload);
/// The next payload's bytes; nothing, and `in` not ok, where it is malformed or beyond a limit.
std::string_view ReadPayload(Reader* in, PayloadView* payload);

/// A state in place: borrows the payload's bytes.
struct HistoryView {
  int64_t at_ms = kNoTimeMs;
  bool tombstone = false;
  std::string_view payload;

  /// Whether this state is the greater one.
  bool Supersedes(const HistoryView& other) const;
};

/// What is stored under a key: a state, and what merges could not read.
struct HistoryValue {
  HistoryView state;
  bool damaged = false;              ///< a damaged operand or value was met
  std::vector<std::string> newer{};  ///< values of newer versions, whole; ascending, each once

  /// Reads a value, whose bytes the state borrows; false where it is damaged.
  bool Parse(std::string_view value);
  /// Writes the value into `*out` (cleared first).
  void Encode(std::string* out) const;
  /// The payload, decoded. Precondition: Parse or an encoder made the state.
  PayloadView payload() const;
};

/// Writes a state's value into `*out` (cleared first).
void EncodeHistory(const HistoryView& state, std::string* out);

/// The beginning of all keys of a user, in both families.
std::string HistoryPrefix(std::string_view user);
/// The least key behind all of a user's.
std::string HistoryPrefixEnd(std::string_view user);
/// The key of a state.
std::string HistoryKey(std::string_view user, std::string_view item);
/// The key of a timeline row: of one user, later times come first, then items ascend. An empty item
/// gives the place before all rows of that time.
std::string TimelineKey(std::string_view user, int64_t at_ms, std::string_view item);
/// The parts of a key; false where it is none.
bool ParseHistoryKey(std::string_view key, std::string_view* user, std::string_view* item);
bool ParseTimelineKey(std::string_view key, std::string_view* user, int64_t* at_ms,
                      std::string_view* item);

}  // namespace seendb
