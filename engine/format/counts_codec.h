// format/counts_codec.h: a user's newest events by what they are counted by (facts.md, "Counts and
// caps"), as stored value and as merge operand.
//
// An entry is an event under one of its keys; an event with two keys has two entries. A union keeps
// each entry once, of each key and fact the newest 255, of all entries of the user the newest
// 16,384. It is associative, commutative and idempotent: how many newer entries of a key pass the
// first cut never falls while entries come in. With the second cut counting events instead of
// entries it would, and the union would depend on the order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/hash.h"
#include "format/damage.h"
#include "seendb/id.h"
#include "seendb/policy.h"

namespace seendb {

/// The first three are those of Fact. The numbers are stored.
enum class CountedFact : uint8_t { kPlayed = 0, kServed = 1, kExposed = 2, kReserved = 3 };

/// Entries kept of a key and fact, and of a user.
struct CountLimits {
  size_t of_key = 255, of_user = 16'384;
};

/// Longest key: an item, behind its byte.
inline constexpr size_t kMaxCountKeyBytes = 256;

/// One event under one key.
struct CountEntry {
  std::string_view key;  ///< a group, or `FF` and an item's canonical id; borrowed
  int64_t at_ms = 0;
  CountedFact fact = CountedFact::kServed;
  Fingerprint item = 0;
  std::string_view surface = {};  ///< borrowed; empty: nowhere in particular
  int64_t for_ms = 0;             ///< of a reservation: how long it counts

  friend bool operator==(const CountEntry&, const CountEntry&) = default;
};

/// Counted events of a user, as Normalize leaves them: by key, those of a key newest first.
struct CountList {
  std::vector<CountEntry> entries;
  DamageSet damage;

  /// Reads a value, to whose bytes keys and surfaces point; false where it is damaged (the list is
  /// then unspecified). With `kind` the entries of other keys are passed over, not decoded: those
  /// of the kind "author" have the key "author" or one that begins with "author:".
  bool Parse(std::string_view value);
  bool ParseKind(std::string_view value, std::string_view kind);
  /// Writes the value into `*out` (cleared first). Precondition: normalized.
  void Encode(std::string* out) const;
  /// See the head of this file. A reservation that came twice counts as long as the longer one.
  void Normalize(const CountLimits& limits = {});
  /// Leaves out what happened before a time.
  void DropBefore(int64_t at_ms);
  /// Leaves out what no longer counts by its kind at a time. The list must not have been cut to as
  /// many entries as a user may have: by less than that an answer knows that none are missing.
  void DropOld(std::span<const CountedKind> kinds, int64_t now_ms);

 private:
  bool Read(std::string_view value, const std::string_view* kind);
};

/// The key of an item itself.
std::string ItemKey(const IdRef& item);
/// The item of such a key, as text; empty: it is a group's.
std::string_view ItemOfKey(std::string_view key);
/// From which time on events count by a key, at a time; where they do not, after all times.
int64_t OldestCounted(std::string_view key, std::span<const CountedKind> kinds, int64_t now_ms);
/// Whether a key is of a kind: it is the kind, or begins with the kind and ':'; an item's is of
/// "item".
bool IsOfKind(std::string_view key, std::string_view kind);

}  // namespace seendb
