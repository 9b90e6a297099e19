#include "heartbeats.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace seendb::tool {
namespace {

constexpr int32_t kShortest = 15, kLongest = 600;  // items, in seconds
constexpr uint64_t kLengths = uint64_t{kLongest} - kShortest + 1;
constexpr uint64_t kFinishOneOf = 3;
constexpr int64_t kSecondMs = 1'000;
constexpr std::array<std::string_view, 4> kDevices = {"phone", "tv", "web", "tablet"};

/// The same for the same two numbers, and like no other.
uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t state = a;
  state = SplitMix64(&state) ^ b;
  return SplitMix64(&state);
}

}  // namespace

bool Heartbeats::Later::operator()(const Viewing& a, const Viewing& b) const {
  const auto key = [](const Viewing& viewing) {
    const PlayLog::Event& play = viewing.play;
    return std::tie(play.at_ms, play.user, play.item, viewing.position_s);
  };
  return key(a) > key(b);
}

Heartbeats::Heartbeats(PlayLog* log, uint64_t seed, int32_t period_s)
    : log_(*log), seed_(seed), period_s_(period_s), more_(log->Next(&next_)) {}

Heartbeats::Viewing Heartbeats::Begin(const PlayLog::Event& play) const {
  const int32_t duration_s = kShortest + static_cast<int32_t>(Mix(seed_, play.item) % kLengths);
  const uint64_t chance = Mix(Mix(play.user, play.item), static_cast<uint64_t>(play.at_ms));
  const bool to_its_end = chance % kFinishOneOf == 0;
  const auto part = static_cast<int32_t>(chance / kFinishOneOf % static_cast<uint64_t>(duration_s));
  return {play, 0, to_its_end ? duration_s : part, duration_s};
}

bool Heartbeats::Next(Heartbeat* beat) {
  while (more_ && (viewings_.empty() || next_.at_ms <= viewings_.top().play.at_ms)) {
    viewings_.push(Begin(next_));
    more_ = log_.Next(&next_);
  }
  if (viewings_.empty()) return false;
  Viewing viewing = viewings_.top();
  viewings_.pop();
  const bool finished = viewing.position_s == viewing.duration_s;
  beat->play = viewing.play;
  beat->watch = {.progress_s = finished ? kFinished : viewing.position_s,
                 .duration_s = viewing.duration_s,
                 .device = kDevices[Mix(seed_, viewing.play.user) % kDevices.size()]};
  if (viewing.position_s == viewing.until_s) return true;
  const int32_t step_s = std::min(period_s_, viewing.until_s - viewing.position_s);
  viewing.position_s += step_s;
  viewing.play.at_ms += step_s * kSecondMs;
  viewings_.push(viewing);
  return true;
}

}  // namespace seendb::tool
