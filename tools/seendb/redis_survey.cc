#include "redis_survey.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "seendb/id.h"
#include "seendb/policy.h"
#include "sizing_plan.h"

namespace seendb::tool {
namespace {

constexpr int64_t kDayMs = 86'400'000;
/// Buckets that a policy may keep.
constexpr int64_t kRetentionMax = 128;
/// Members per second of an import without a limit; with Redis, the server and the tool together on
/// two processors it is twice that (tools/doc/from-redis.md), on a busy machine less.
constexpr double kMembersPerS = 400'000;

}  // namespace

void RedisSurvey::NoteItem(std::string_view item) {
  ++items_;
  integers_ += IdRef(item).is_number() ? 1 : 0;
  item_bytes_ += item.size();
}

void RedisSurvey::AddTimed(const char* type, uint64_t members, const End& oldest,
                           const End& newest) {
  ++users_;
  ++types_[type];
  ++lengths_[members];
  members_ += members;
  NoteItem(oldest.item);
  NoteItem(newest.item);
  const redis::ScoreUnit unit = redis::GuessScoreUnit(newest.score);
  Times& times = by_unit_[static_cast<size_t>(unit)];
  ++times.keys;
  const auto first_ms = redis::ScoreToMs(oldest.score, unit);
  const auto last_ms = redis::ScoreToMs(newest.score, unit);
  if (!first_ms || !last_ms) return;
  times.oldest_ms = std::min(times.oldest_ms, *first_ms);
  times.newest_ms = std::max(times.newest_ms, *last_ms);
  const int64_t months =
      BucketIndexOf(seendb::Policy(), *last_ms) - BucketIndexOf(seendb::Policy(), *first_ms) + 1;
  months_ += std::min(static_cast<uint64_t>(std::max<int64_t>(months, 1)), members);
}

void RedisSurvey::AddPlain(const std::string& type, uint64_t members) {
  ++users_;
  ++plain_;
  ++types_[type];
  ++lengths_[members];
  members_ += members;
  ++months_;
}

void RedisSurvey::AddMemory(uint64_t bytes, uint64_t members) {
  sample_bytes_ += bytes;
  sample_members_ += members;
}

redis::ScoreUnit RedisSurvey::unit() const {
  const auto most =
      std::max_element(by_unit_.begin(), by_unit_.end(),
                       [](const Times& one, const Times& other) { return one.keys < other.keys; });
  return most->keys == 0 ? redis::ScoreUnit::kNone
                         : static_cast<redis::ScoreUnit>(most - by_unit_.begin());
}

uint64_t RedisSurvey::LengthAt(double fraction) const {
  const auto wanted = static_cast<uint64_t>(std::ceil(fraction * static_cast<double>(users_)));
  uint64_t passed = 0;
  for (const auto& [length, users] : lengths_) {
    passed += users;
    if (passed >= wanted) return length;
  }
  return 0;
}

/// The policy that holds every member, as PUT /collections takes it.
Json RedisSurvey::Policy(int64_t now_ms, Json* notes) const {
  const seendb::Policy months;
  Json policy = Json::object();
  if (unit() == redis::ScoreUnit::kNone) {
    if (plain_ != 0) policy["impressions"] = std::min<uint64_t>(10'000, LengthAt(1));
    return policy;
  }
  const int64_t wanted = BucketIndexOf(months, now_ms) -
                         BucketIndexOf(months, std::min(times().oldest_ms, now_ms)) + 1;
  const int64_t window = std::min(wanted, kRetentionMax - 1);
  policy = {{"bucket", "month"}, {"window", window}, {"retention", window + 1}};
  char text[160];
  std::snprintf(text, sizeof(text), "oldest score %.1f months: window %lld, retention %lld",
                static_cast<double>(now_ms - times().oldest_ms) / (30.4375 * kDayMs),
                static_cast<long long>(window), static_cast<long long>(window) + 1);
  notes->push_back(text);
  if (window < wanted) notes->push_back("what is older than 127 months does not fit any policy");
  const int64_t ahead_ms = times().newest_ms - now_ms;
  if (ahead_ms > months.max_future_ms) {
    const int64_t hours = std::min<int64_t>(ahead_ms / 3'600'000 + 2, 366 * 24);
    policy["max_future"] = std::to_string(hours) + "h";
    notes->push_back("the newest score is in the future: is the unit right?");
  }
  return policy;
}

Json RedisSurvey::Report(int64_t now_ms) const {
  Json notes = Json::array();
  Json policy = Policy(now_ms, &notes);
  const uint64_t scored = times().keys;
  if (scored + plain_ < users_) {
    notes.push_back(
        "some scores are of another unit, or no times; oldest, newest and policy leave out " +
        std::to_string(users_ - scored - plain_) + " keys for it");
  }
  const auto members = static_cast<double>(members_);
  const double memory = sample_members_ == 0 ? 0
                                             : static_cast<double>(sample_bytes_) * members /
                                                   static_cast<double>(sample_members_);
  Json report = {{"users", users_},
                 {"members", members_},
                 {"types", types_},
                 {"other_keys", others_},
                 {"score_unit", redis::ScoreUnitName(unit())}};
  if (unit() != redis::ScoreUnit::kNone) {
    report["oldest_ms"] = times().oldest_ms;
    report["newest_ms"] = times().newest_ms;
  }
  if (items_ != 0) {
    report["integer_members"] = integers_ == items_;
    report["member_bytes"] = static_cast<double>(item_bytes_) / static_cast<double>(items_);
  }
  report["lengths"] = {{"p50", LengthAt(0.5)},
                       {"p90", LengthAt(0.9)},
                       {"p99", LengthAt(0.99)},
                       {"max", LengthAt(1)}};
  report["memory_bytes"] = static_cast<uint64_t>(memory);
  if (expiring_ != 0) {
    report["expiring_share"] = static_cast<double>(expiring_) / static_cast<double>(looked_at_);
    notes.push_back("keys expire: what has expired before the import is not moved");
  }
  report["policy"] = std::move(policy);
  report["disk_bytes"] =
      static_cast<uint64_t>(PlaysDiskBytes(members, static_cast<double>(months_)));
  report["import_s"] = static_cast<uint64_t>(std::ceil(members / kMembersPerS));
  report["notes"] = std::move(notes);
  return report;
}

}  // namespace seendb::tool
