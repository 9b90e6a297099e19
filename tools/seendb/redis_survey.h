// seendb/redis_survey.h: what an old store holds, added up key by key, and the policy that holds
// it.

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "http_client.h"
#include "redis/keys.h"

namespace seendb::tool {

/// The books of a survey. Memory: a number for each length that a key has.
class RedisSurvey {
 public:
  /// A member and its score, or a hash's field and its value.
  struct End {
    std::string_view item;
    double score = 0;
  };
  /// A sorted set with its first and last member.
  void AddZset(uint64_t members, const End& oldest, const End& newest) {
    AddTimed("zset", members, oldest, newest);
  }
  /// A hash of items and times, with the oldest and newest of those that were looked at.
  void AddHash(uint64_t members, const End& oldest, const End& newest) {
    AddTimed("hash", members, oldest, newest);
  }
  /// A list or a set, which has no times.
  void AddPlain(const std::string& type, uint64_t members);
  /// A key that is neither: of another type, or of no user.
  void AddOther(const std::string& what) { ++others_[what]; }
  /// What Redis needs for a key of so many members.
  void AddMemory(uint64_t bytes, uint64_t members);
  /// Whether a key of the sample has a time at which it expires.
  void AddExpiry(bool expires) {
    ++looked_at_;
    expiring_ += expires ? 1 : 0;
  }

  uint64_t users() const { return users_; }
  uint64_t members() const { return members_; }
  /// The unit of most scores.
  redis::ScoreUnit unit() const;
  /// The whole: `users`, `members`, `oldest_ms`, `newest_ms`, `score_unit`, `policy`, `lengths` ...
  Json Report(int64_t now_ms) const;

 private:
  struct Times {
    uint64_t keys = 0;
    int64_t oldest_ms = std::numeric_limits<int64_t>::max();
    int64_t newest_ms = std::numeric_limits<int64_t>::min();
  };

  void AddTimed(const char* type, uint64_t members, const End& oldest, const End& newest);
  const Times& times() const { return by_unit_[static_cast<size_t>(unit())]; }
  Json Policy(int64_t now_ms, Json* notes) const;
  uint64_t LengthAt(double fraction) const;
  void NoteItem(std::string_view item);

  uint64_t users_ = 0, members_ = 0, plain_ = 0;
  std::map<uint64_t, uint64_t> lengths_;
  std::map<std::string, uint64_t> types_, others_;
  std::array<Times, 4> by_unit_;
  uint64_t months_ = 0;  // of all users: months from the oldest to the newest member
  uint64_t items_ = 0, integers_ = 0, item_bytes_ = 0;  // of the sample
  uint64_t sample_bytes_ = 0, sample_members_ = 0;      // of Redis's memory
  uint64_t looked_at_ = 0, expiring_ = 0;               // keys of the sample
};

}  // namespace seendb::tool
