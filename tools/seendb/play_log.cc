#include "play_log.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <tuple>

namespace seendb::tool {
namespace {

constexpr double kSigma = 0.85;
constexpr double kLargestInMedians = 127'557.0 / 8'327.0;
constexpr int64_t kHourMs = 3'600'000;

/// How busy the hours of a day are (UTC); sums to 100.
constexpr std::array<uint64_t, 24> kHourWeights = {2, 1, 1, 1, 1, 1, 2, 3, 4, 4, 4, 4,
                                                   6, 6, 5, 4, 4, 5, 6, 8, 9, 9, 6, 4};
constexpr uint64_t kDayWeightMax = 7;

// Streams of the seed.
constexpr uint64_t kUserStream = 1ULL << 40;
constexpr uint64_t kDayStream = 2ULL << 40;

}  // namespace

std::string PlayLogOptionError(const PlayLogOptions& options) {
  if (options.users < 1 || options.users > kGeneratedUsersMax) return "users: 1 to 100,000,000";
  if (options.days < 1 || options.days > kGeneratedDaysMax) return "days: 1 to 3,660";
  if (options.items < 1 || options.items > (1ULL << 40)) return "items: 1 to 2^40";
  if (options.plays_per_user_median < 1 || options.plays_per_user_median > kGeneratedMedianMax) {
    return "plays per user: 1 to 1,000,000";
  }
  if (options.start_ms < 0) return "start: not before 1970";
  return {};
}

PlayLog::PlayLog(const PlayLogOptions& options) : options_(options) {
  assert(PlayLogOptionError(options).empty());
  const auto items = static_cast<double>(options.items);
  head_ = std::max(1.0, items / 50);
  log_range_ = PortableLog((items + head_) / head_);
  // A stride prime to the catalogue's size visits every item once.
  stride_ = static_cast<uint64_t>(items * 0.6180339887) | 1;
  while (std::gcd(stride_, options.items) != 1) stride_ += 2;

  const auto median = static_cast<double>(options.plays_per_user_median);
  users_.reserve(options.users);
  for (uint64_t i = 0; i < options.users; ++i) {
    User user{0, 0, 0, 0, Random(options.seed, kUserStream + i)};
    const double ratio = std::min(kLargestInMedians, PortableExp(kSigma * user.random.Normal()));
    user.plays = std::max<uint64_t>(1, static_cast<uint64_t>(median * ratio + 0.5));
    total_ += user.plays;
    users_.push_back(user);
    for (uint64_t day = 0; day < options.days; ++day) users_.back().weight += DayWeight(i, day);
    users_.back().weight *= 100;  // the sum of kHourWeights
  }
}

/// How active a user is on a day; at least a little, so that no user's weights are all zero.
uint64_t PlayLog::DayWeight(uint64_t user, uint64_t day) const {
  uint64_t state = options_.seed ^ (kDayStream + user * kGeneratedDaysMax + day);
  return 1 + SplitMix64(&state) % kDayWeightMax;
}

uint64_t PlayLog::PickItem(Random* random) const {
  const double rank = head_ * (PortableExp(random->Uniform() * log_range_) - 1);
  const uint64_t whole = std::min(static_cast<uint64_t>(rank), options_.items - 1);
  // 2^40 * 2^40 overflows, so the product is taken in 128 bits.
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Wide>(whole) * stride_ % options_.items);
}

/// Fills hour_ with the plays of the next hour: each user's share of their plays is the share of
/// their weight that has passed, rounded down, so that the last hour completes it.
void PlayLog::NextHour() {
  const uint64_t day = next_hour_ / 24;
  const uint64_t hour_weight = kHourWeights[next_hour_ % 24];
  const int64_t begin_ms = options_.start_ms + static_cast<int64_t>(next_hour_) * kHourMs;
  ++next_hour_;
  hour_.clear();
  at_ = 0;
  for (uint64_t i = 0; i < users_.size(); ++i) {
    User& user = users_[i];
    user.passed += DayWeight(i, day) * hour_weight;
    const uint64_t due = user.plays * user.passed / user.weight;
    for (; user.given < due; ++user.given) {
      const auto offset_ms = static_cast<int64_t>(user.random.Below(kHourMs));
      hour_.push_back({begin_ms + offset_ms, i, PickItem(&user.random)});
    }
  }
  std::sort(hour_.begin(), hour_.end(), [](const Event& a, const Event& b) {
    return std::tie(a.at_ms, a.user, a.item) < std::tie(b.at_ms, b.user, b.item);
  });
}

bool PlayLog::Next(Event* event) {
  while (at_ == hour_.size()) {
    if (next_hour_ == options_.days * 24) return false;
    NextHour();
  }
  *event = hour_[at_++];
  return true;
}

}  // namespace seendb::tool
