// redis/keys.h: what a key of an old store says (whose it is) and what a score does (when).

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "seendb/status.h"

namespace seendb::redis {

/// Whether `next` can be the cursor behind `cursor` in a scan: a store that gives the same again
/// would be walked for ever.
inline bool GoesOn(std::string_view cursor, std::string_view next) {
  return next == "0" || (!next.empty() && next != cursor);
}

/// The shape of a user's key: "watched:{user}". `{user}` is replaced as it stands, so that
/// "watched:{{user}}" is the key "watched:{42}", with a hash tag.
class KeyTemplate {
 public:
  /// kInvalidArgument: it has no `{user}`, or more than one; the message begins with `named_by`,
  /// the flag or setting that it is from.
  static Result<KeyTemplate> Parse(std::string_view text, std::string_view named_by);

  /// The user whose key it is; nothing where it has another shape.
  std::optional<std::string_view> UserOf(std::string_view key) const;
  std::string KeyOf(std::string_view user) const { return prefix_ + std::string(user) + suffix_; }
  /// The pattern of SCAN that all such keys match.
  std::string Pattern() const;
  std::string ToText() const { return KeyOf("{user}"); }

 private:
  std::string prefix_, suffix_;
};

/// The template that all `keys` fit: what they begin and end with in common, cut at a separator.
/// Nothing where they have nothing in common.
std::optional<KeyTemplate> GuessTemplate(std::span<const std::string> keys);

/// What a score counts since 1970.
enum class ScoreUnit { kNone, kSeconds, kMillis, kMicros };

/// "s", "ms", "us", "none".
const char* ScoreUnitName(ScoreUnit unit);
Result<ScoreUnit> ScoreUnitByName(std::string_view name);
/// The unit in which the score is a time from 1985 to 2160; kNone where there is no such unit.
ScoreUnit GuessScoreUnit(double score);
/// The score as ms since 1970; nothing where it is no time of the years up to 9999.
std::optional<int64_t> ScoreToMs(double score, ScoreUnit unit);
/// A score as Redis writes it; nothing for anything else.
std::optional<double> ParseScore(std::string_view text);

}  // namespace seendb::redis
