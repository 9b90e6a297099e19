// format/user_codec.h: what the family `users` keeps of a user (format.md, "User record"), as
// stored value and as merge operand: when the user was erased, what was cleared from history and
// filters, when it was paused, which deleted items may be recommended again; under a key of its
// own, when it was last active.
//
// Join unites two records: it keeps the maximum of numbers and times, each item's last written
// override and deletion ahead, and all toggles. Then it removes toggles from before an erasure,
// overrides and deletions ahead from before an erasure or a clear of filters, and of all these what
// is older than `forget_before_ms`.
// Join is associative, commutative and idempotent.

#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "format/bytes.h"

namespace seendb {

/// A time before all others: never.
inline constexpr int64_t kNeverMs = std::numeric_limits<int64_t>::min();

/// No day.
inline constexpr int64_t kNoDay = std::numeric_limits<int64_t>::min();

/// Most overrides, and most deletions ahead, that are kept per user and collection: the latest
/// ones.
inline constexpr size_t kMaxOverrides = 10'000;

/// An item was deleted from history and may be recommended again; or, cancelled, it was played
/// anew.
struct Override {
  int64_t at_ms = kNeverMs;  ///< plays up to it are covered
  uint64_t seq = 0;          ///< of the shard, when it was written
  bool cancelled = false;

  /// Whether this one counts and not `other`: the one written later.
  bool Supersedes(const Override& other) const {
    if (seq != other.seq) return seq > other.seq;
    if (at_ms != other.at_ms) return at_ms > other.at_ms;
    return cancelled && !other.cancelled;
  }
  friend bool operator==(const Override&, const Override&) = default;
};

/// A clear of filters, or an erasure: earlier plays and impressions no longer count. `seq == 0`:
/// there was none.
struct Forgotten {
  uint64_t seq = 0;          ///< journal records at or below it no longer count
  int64_t at_ms = kNeverMs;  ///< plays not after it are refused

  void Join(const Forgotten& other) {
    seq = std::max(seq, other.seq);
    at_ms = std::max(at_ms, other.at_ms);
  }
  friend bool operator==(const Forgotten&, const Forgotten&) = default;
};

/// An item was deleted from history while some of its plays lay ahead of the clock.
struct DeletionAhead {
  uint64_t seq = 0;             ///< of the shard, when it was written
  int64_t until_ms = kNeverMs;  ///< plays up to it are deleted; after `asked_ms`
  int64_t asked_ms = kNeverMs;  ///< when the deletion was asked for

  /// Whether it would hide a play of that time, though that was made later. One of `until_ms`
  /// itself is the play that was deleted.
  bool Hides(int64_t at_ms) const { return at_ms > asked_ms && at_ms < until_ms; }
  /// The greater one counts: the one written last.
  friend auto operator<=>(const DeletionAhead&, const DeletionAhead&) = default;
};

/// What holds for a user in one collection.
struct CollectionMarks {
  int64_t cleared_at_ms = kNeverMs;  ///< history up to it is gone
  int64_t evicted_at_ms = kNeverMs;  ///< likewise, beyond the policy's max_entries
  Forgotten forgotten{};             ///< filters and impressions were cleared, too
  std::map<Fingerprint, Override> overrides{};
  std::map<Fingerprint, DeletionAhead> deletions_ahead{};

  /// The override of an item that is in force; null where there is none.
  const Override* FindOverride(Fingerprint item) const;
  friend bool operator==(const CollectionMarks&, const CollectionMarks&) = default;
};

/// History was paused or resumed from a time on. Ordered as they were written.
struct PauseToggle {
  int64_t at_ms = 0;
  uint64_t seq = 0;  ///< of the shard
  bool paused = false;
  friend auto operator<=>(const PauseToggle& a, const PauseToggle& b) {
    return std::tie(a.seq, a.at_ms, a.paused) <=> std::tie(b.seq, b.at_ms, b.paused);
  }
  friend bool operator==(const PauseToggle&, const PauseToggle&) = default;
};

/// See the head of this file.
struct UserRecord {
  uint64_t erased_seq = 0;   ///< journal records at or below it no longer count for the user
  int64_t erased_at_ms = 0;  ///< plays not after it are refused
  bool damaged = false;      ///< a damaged operand or value was met
  /// Values of newer versions that were met, whole; ascending, each once.
  std::vector<std::string> newer{};
  std::map<std::string, CollectionMarks, std::less<>> marks{};  ///< by collection
  std::vector<PauseToggle> toggles{};                           ///< ascending
  /// Older overrides and toggles are removed; the newest of those toggles stays.
  int64_t forget_before_ms = kNeverMs;
  /// Of a day key (day_key.h) alone: the last day the user was active, since 1970-01-01.
  int64_t last_day = kNoDay;

  friend bool operator==(const UserRecord&, const UserRecord&) = default;

  /// Reads a value; false where it is damaged.
  bool Parse(std::string_view value);
  /// Writes the value into `*out` (cleared first).
  void Encode(std::string* out) const;
  /// Unites with `other`.
  void Join(const UserRecord& other);
  /// Notes a value that Parse refuses: in `newer`, or as `damaged`.
  void JoinUnread(std::string_view value);

  /// The largest of the shard's sequences in it.
  uint64_t LastSequence() const;
  /// Whether a time lies in a pause.
  bool PausedAt(int64_t at_ms) const;
  /// What no longer counts for the filters of a collection: forgotten there, or erased.
  Forgotten ForgottenIn(std::string_view collection) const;
  /// History of a collection up to this time does not count: cleared, evicted or erased.
  int64_t Watermark(std::string_view collection) const;
  /// The override of an item that is in force; null where there is none.
  const Override* FindOverride(std::string_view collection, Fingerprint item) const;
  /// The end of the deletion that would hide a play of that time, though it was made later; absent
  /// where there is none.
  std::optional<int64_t> HiddenUntil(std::string_view collection, Fingerprint item,
                                     int64_t at_ms) const;

 private:
  void Forget();
};

}  // namespace seendb
