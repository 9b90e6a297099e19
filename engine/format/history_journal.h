// format/history_journal.h: the plays of an accepted batch that enter history, and the filters with
// it (format.md, "History journal record"). Those for the filters alone are in a journal record.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/bytes.h"
#include "format/history_codec.h"

namespace seendb {

/// One play that enters history. `user` and `item` are canonical texts.
struct WatchedPlay {
  std::string_view user, item;
  int64_t at_ms = 0;
  std::string_view payload;  ///< see history_codec.h
};

/// Writes one record play by play; a run of plays of one user names the user once.
class HistoryJournalEncoder {
 public:
  /// Starts a record for `collection`. Times are stored relative to `base_ms`.
  void Begin(std::string_view collection, int64_t base_ms);
  void Add(const WatchedPlay& play);
  /// The finished record; valid until the next Begin.
  std::string_view Finish();

 private:
  std::string bytes_;
  std::string plays_;
  std::string last_user_;
  int64_t base_ms_ = 0;
  uint32_t count_ = 0;
};

/// Reads a record in place.
class HistoryJournalDecoder {
 public:
  /// Whether a journal value is of this kind at all.
  static bool IsOne(std::string_view record);
  /// Checks tag and checksum; false where the record is damaged.
  bool Begin(std::string_view record);
  std::string_view collection() const { return collection_; }
  uint32_t count() const { return count_; }
  /// The next play; false at the end, or where the record is malformed (then ok() is false).
  bool Next(WatchedPlay* play);
  bool ok() const { return ok_; }

 private:
  Reader in_{std::string_view()};
  std::string_view collection_;
  std::string_view user_;
  int64_t base_ms_ = 0;
  uint32_t count_ = 0;
  uint32_t read_ = 0;
  bool ok_ = false;
};

}  // namespace seendb
