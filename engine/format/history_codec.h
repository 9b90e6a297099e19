// format/history_codec.h: keys and values of the families history/* and timeline/* (format.md,
// "History entry", "Timeline row").
//
// Values are the states of history_state.h, written in version 2 and read in both.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes.h"
#include "format/history_state.h"

namespace seendb {

/// What is stored under a key: a state, and what merges could not read.
struct HistoryValue {
  HistoryState state;
  bool damaged = false;              ///< a damaged operand or value was met
  std::vector<std::string> newer{};  ///< values of newer versions, whole; ascending, each once

  /// Reads a value of either version, whose bytes the state borrows; false where it is damaged.
  /// Values that older software set aside as newer, and that are known by now, are joined.
  bool Parse(std::string_view value);
  /// Writes the value into `*out` (cleared first).
  void Encode(std::string* out) const;

 private:
  bool ParseOne(std::string_view value, std::vector<std::string_view>* set_aside);
};

/// Writes a state's value into `*out` (cleared first).
void EncodeHistory(const HistoryState& state, std::string* out);

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
