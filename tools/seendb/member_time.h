// seendb/member_time.h: the time of a member of an old store's key.

#pragma once

#include <cstdint>
#include <optional>

#include "redis/key_reader.h"
#include "redis/keys.h"

namespace seendb::tool {

/// A sorted set's scores and a hash's values are times, where they have a unit. Other members get
/// the time that the operator names; in a list each is 1 ms older than the one before it, as LPUSH
/// leaves them: so the newest impressions are those at its head.
struct TimeOfMembers {
  redis::ScoreUnit unit = redis::ScoreUnit::kNone;
  std::optional<int64_t> at_ms = {};
  redis::KeyKind kind = redis::KeyKind::kZset;

  bool by_score() const {
    return (kind == redis::KeyKind::kZset || kind == redis::KeyKind::kHash) &&
           unit != redis::ScoreUnit::kNone;
  }
  /// Whether members of such a key have a time at all.
  bool known() const { return by_score() || at_ms.has_value(); }
  /// The time of the member at a position in its key; nothing where its score is no time.
  std::optional<int64_t> Of(const redis::Member& member, uint64_t position) const {
    if (by_score()) {
      const auto score = redis::ParseScore(member.score);
      return score ? redis::ScoreToMs(*score, unit) : std::nullopt;
    }
    if (kind != redis::KeyKind::kList || !at_ms) return at_ms;
    return *at_ms - static_cast<int64_t>(position);
  }
};

}  // namespace seendb::tool
