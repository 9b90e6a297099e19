// seendb/play_log.h: an invented play log with the shape of a real one, in time order.
//
// Users have the heavy tail of a month of KuaiRand-1K (a published log of Kuaishou): events a user
// p50 8,327, p90 24,418, p99 62,626, max 127,557; that is a lognormal with sigma 0.85, cut off at
// 15.32 medians. Each user's plays are spread over days of unlike activity and over the hours of
// the day (quiet nights, busy evenings). Items are picked by a Zipf-Mandelbrot law of exponent 1
// whose head is flattened over the first 2% of the catalogue; the same user may play an item twice.
//
//   PlayLog log({.users = 100});
//   PlayLog::Event event;
//   while (log.Next(&event)) Print(log.UserName(event.user), log.ItemName(event.item),
//   event.at_ms);
//
// The same options give the same log on every machine. Memory: 40 bytes a user and 24 bytes a play
// of one hour.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "random.h"

namespace seendb::tool {

/// What a PlayLog looks like.
struct PlayLogOptions {
  uint64_t users = 100;
  uint64_t plays_per_user_median = 8'327;
  uint64_t days = 31;
  uint64_t items = 1'000'000;  ///< catalogue
  int64_t start_ms = 0;        ///< first possible time, ms since 1970
  uint64_t seed = 1;
};

/// Limits of the above, beyond which GeneratorOptionError complains.
inline constexpr uint64_t kGeneratedUsersMax = 100'000'000;
inline constexpr uint64_t kGeneratedDaysMax = 3'660;
inline constexpr uint64_t kGeneratedMedianMax = 1'000'000;

/// What is wrong with the options; empty if nothing.
std::string PlayLogOptionError(const PlayLogOptions& options);

/// Generates a log: see the head of this file. Threads: one.
class PlayLog {
 public:
  /// One play.
  struct Event {
    int64_t at_ms = 0;
    uint64_t user = 0;  ///< 0 .. users - 1
    uint64_t item = 0;  ///< 0 .. items - 1
  };

  /// Precondition: PlayLogOptionError(options) is empty.
  explicit PlayLog(const PlayLogOptions& options);
  /// The next play, in order of time. False at the end.
  bool Next(Event* event);
  /// Plays in the whole log.
  uint64_t total() const { return total_; }
  /// Plays of one user in the whole log.
  uint64_t PlaysOf(uint64_t user) const { return users_[user].plays; }
  /// "u17". Appended, not added: GCC 12 takes "u" + ... for an overflow where it is inlined.
  static std::string UserName(uint64_t user) {
    return std::string("u").append(std::to_string(user));
  }
  /// "v4711".
  static std::string ItemName(uint64_t item) {
    return std::string("v").append(std::to_string(item));
  }

 private:
  struct User {
    uint64_t plays;   // in all
    uint64_t given;   // so far
    uint64_t weight;  // of all hours
    uint64_t passed;  // weight of the hours so far
    Random random;
  };

  void NextHour();
  uint64_t DayWeight(uint64_t user, uint64_t day) const;
  uint64_t PickItem(Random* random) const;

  PlayLogOptions options_;
  std::vector<User> users_;
  std::vector<Event> hour_;  // sorted by time
  size_t at_ = 0;            // next of hour_
  uint64_t next_hour_ = 0;
  uint64_t total_ = 0;
  double head_ = 1;       // flattened ranks
  double log_range_ = 0;  // ln((items + head) / head)
  uint64_t stride_ = 1;   // rank -> item, so that popularity is not the order of the names
};

}  // namespace seendb::tool
