// format/history_journal.h: the plays of an accepted batch that enter history, and the filters with
// it (format.md, "History journal record"). Those for the filters alone are in a journal record.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/history_codec.h"
#include "format/journal_codec.h"

namespace seendb {

/// One play that enters history. `user` and `item` are canonical texts.
struct WatchedPlay {
  std::string_view user, item;
  int64_t at_ms = 0;
  std::string_view words;  ///< what the report says: bytes of PutWords (history_state.h)
};

/// Writes one record play by play.
class HistoryJournalEncoder : public JournalWriter {
 public:
  /// Starts a record for `collection`. Times are stored relative to `base_ms`.
  void Begin(std::string_view collection, int64_t base_ms) {
    BeginRecord(Tag::kHistoryJournalWords, collection, base_ms);
  }
  void Add(const WatchedPlay& play);
};

/// Reads a record of either version, in place.
class HistoryJournalDecoder : public JournalReader {
 public:
  /// Whether a journal value is of this kind at all.
  static bool IsOne(std::string_view record);
  /// Checks tag and checksum; false where the record is damaged.
  bool Begin(std::string_view record);
  /// The next play, good until the next call; false at the end, or where the record is malformed
  /// (then ok() is false).
  bool Next(WatchedPlay* play);

 private:
  bool first_version_ = false;
  std::string words_;  // of a play of version 1
};

}  // namespace seendb
