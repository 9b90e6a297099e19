// sets/versions.h: which version of each set counts, by the pieces that a log has, taken in its
// order. Memory alone.
//
// A version counts once all its pieces came, unless one that was begun later counts: later is whose
// first piece has the greater offset. A version that counts ends all that were begun before it,
// whole or not. One that lost a piece, since the log has none under its key any more, ends too. So
// two readers that are as far agree, whatever a compaction took away of what has ended.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sets/log_rows.h"

namespace seendb::sets {

/// See the head of this file. Threads: one at a time.
class Versions {
 public:
  /// Those of one set.
  using OfSet = std::map<VersionId, LogVersion>;

  /// The fate of a piece.
  enum class Taken : uint8_t {
    kPassed,  ///< nothing: its version has ended, or it is one that came before
    kKept,    ///< its version is not whole yet
    kWhole,   ///< with it the version is whole: Count is next
  };
  Taken TakePiece(const Piece& piece, int64_t offset, int64_t at_ms, uint64_t bytes);

  /// A version that changed.
  struct Change {
    VersionId id;
    LogVersion::State before = LogVersion::State::kUnfinished;
    uint32_t pieces = 1;
  };
  /// The version is the set from now on. The others that end by it; it is the last in the list.
  std::vector<Change> Count(std::string_view name, const VersionId& id, int64_t at_ms);
  /// The version ends, without another in its place.
  Change End(std::string_view name, const VersionId& id, int64_t at_ms);
  /// The log has no value under a piece's key any more. Empty: nothing is to be done. With its last
  /// piece a version is forgotten.
  std::vector<Change> TakeNone(const Piece& piece, int64_t at_ms);
  /// Notes the time at those that do not count, and have none yet (LogVersion::seen).
  void NoteSeen(std::chrono::steady_clock::time_point now);

  /// Takes over from the disk: a version, and then the pieces that came of it.
  void Restore(std::string_view name, const VersionId& id, LogVersion version);
  /// False: it is of no unfinished version.
  bool RestorePiece(const Piece& piece, uint64_t bytes);

  /// Null: nothing is known of it.
  const LogVersion* Find(std::string_view name, const VersionId& id) const;
  const LogVersion* Counting(std::string_view name) const;
  void ForEach(const std::function<void(const std::string& name, const VersionId& id,
                                        const LogVersion& version)>& take) const;
  /// Whether something but what counts is known of the set.
  bool HasEnded(std::string_view name) const;
  /// The bytes of the pieces of all versions that are not whole.
  uint64_t unfinished_bytes() const { return unfinished_bytes_; }
  size_t names() const { return sets_.size(); }

 private:
  using Sets = std::map<std::string, OfSet, std::less<>>;
  LogVersion* Get(std::string_view name, const VersionId& id);
  Change EndOne(const VersionId& id, int64_t at_ms, LogVersion* version);

  Sets sets_;
  uint64_t unfinished_bytes_ = 0;
};

}  // namespace seendb::sets
