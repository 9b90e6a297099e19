#include "redis/keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "seendb/policy.h"

namespace seendb::redis {
namespace {

constexpr std::string_view kUser = "{user}";
constexpr std::string_view kSeparators = ":/|.-_{}#@";

struct UnitRow {
  ScoreUnit unit;
  const char* name;
  double per_ms;  // how many of it are a millisecond
};
constexpr std::array<UnitRow, 4> kUnits = {{{ScoreUnit::kSeconds, "s", 1e-3},
                                            {ScoreUnit::kMillis, "ms", 1},
                                            {ScoreUnit::kMicros, "us", 1e3},
                                            {ScoreUnit::kNone, "none", 0}}};

const UnitRow& RowOf(ScoreUnit unit) {
  return *std::find_if(kUnits.begin(), kUnits.end(),
                       [unit](const UnitRow& row) { return row.unit == unit; });
}

constexpr double kGuessFromMs = 5e11;  // 1985
constexpr double kGuessToMs = 6e12;    // 2160

}  // namespace

Result<KeyTemplate> KeyTemplate::Parse(std::string_view text, std::string_view named_by) {
  const size_t at = text.find(kUser);
  if (at == std::string_view::npos || text.find(kUser, at + 1) != std::string_view::npos) {
    return Status::InvalidArgument(std::string(named_by) + " " + std::string(text) +
                                   ": write {user} once, where the user's id stands in the key");
  }
  KeyTemplate made;
  made.prefix_ = text.substr(0, at);
  made.suffix_ = text.substr(at + kUser.size());
  return made;
}

std::optional<std::string_view> KeyTemplate::UserOf(std::string_view key) const {
  if (key.size() <= prefix_.size() + suffix_.size() || !key.starts_with(prefix_) ||
      !key.ends_with(suffix_)) {
    return {};
  }
  return key.substr(prefix_.size(), key.size() - prefix_.size() - suffix_.size());
}

std::string KeyTemplate::Pattern() const {
  const auto escaped = [](std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (std::string_view("*?[]\\^").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
    return out;
  };
  return escaped(prefix_) + "*" + escaped(suffix_);
}

std::optional<KeyTemplate> GuessTemplate(std::span<const std::string> keys) {
  if (keys.empty()) return {};
  std::string_view prefix = keys.front();
  std::string_view suffix = keys.front();
  size_t shortest = prefix.size();
  for (const std::string& key : keys) {
    shortest = std::min(shortest, key.size());
    const auto ends = std::mismatch(prefix.begin(), prefix.end(), key.begin(), key.end());
    prefix = prefix.substr(0, static_cast<size_t>(ends.first - prefix.begin()));
    const auto begins = std::mismatch(suffix.rbegin(), suffix.rend(), key.rbegin(), key.rend());
    suffix = suffix.substr(suffix.size() - static_cast<size_t>(begins.first - suffix.rbegin()));
  }
  const size_t last = prefix.find_last_of(kSeparators);
  prefix = prefix.substr(0, last == std::string_view::npos ? 0 : last + 1);
  const size_t first = suffix.find_first_of(kSeparators);
  suffix = first == std::string_view::npos ? std::string_view() : suffix.substr(first);
  if (prefix.empty() && suffix.empty()) return {};
  if (prefix.size() + suffix.size() >= shortest) return {};
  auto made =
      KeyTemplate::Parse(std::string(prefix) + std::string(kUser) + std::string(suffix), "");
  if (!made.ok()) return {};
  return *made;
}

const char* ScoreUnitName(ScoreUnit unit) { return RowOf(unit).name; }

Result<ScoreUnit> ScoreUnitByName(std::string_view name) {
  for (const UnitRow& row : kUnits) {
    if (name == row.name) return row.unit;
  }
  return Status::InvalidArgument("--score-unit " + std::string(name) +
                                 ": write s, ms, us, none or auto");
}

ScoreUnit GuessScoreUnit(double score) {
  for (const UnitRow& row : kUnits) {
    if (row.unit == ScoreUnit::kNone) break;
    const double ms = score / row.per_ms;
    if (ms >= kGuessFromMs && ms <= kGuessToMs) return row.unit;
  }
  return ScoreUnit::kNone;
}

std::optional<int64_t> ScoreToMs(double score, ScoreUnit unit) {
  if (unit == ScoreUnit::kNone) return {};
  const double ms = std::round(score / RowOf(unit).per_ms);
  if (!(ms >= 0 && ms <= static_cast<double>(kLastTimeMs))) return {};
  return static_cast<int64_t>(ms);
}

std::optional<double> ParseScore(std::string_view text) {
  double score = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), score);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return score;
}

}  // namespace seendb::redis
