// scenario/world.h: the users, items and months every peer is measured on.
//
// Items are ids of a catalogue of 2^30, spread over it for each user: friendly to delta coding
// (about 19 bits an id for a month of 3,300), as a dense catalogue is; scattered 64-bit ids would
// cost that peer up to three times the bytes. Six months from 2026-06-01 on; month 0 is the oldest.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenario/common.h"
#include "seendb/id.h"

namespace seendb::perf {

/// First millisecond of June to December 2026, UTC.
inline constexpr int64_t kStartMs = 1'780'272'000'000;
inline constexpr std::array<int64_t, 7> kMonthBeginMs = {kStartMs,
                                                         kStartMs + 30 * kDayMs,
                                                         kStartMs + 61 * kDayMs,
                                                         kStartMs + 92 * kDayMs,
                                                         kStartMs + 122 * kDayMs,
                                                         kStartMs + 153 * kDayMs,
                                                         kStartMs + 183 * kDayMs};
/// Months read by a question; the newest is `first month + kWindow - 1`.
inline constexpr int kWindow = 4;

/// The user's item numbered `n` < 2^30; distinct for distinct n.
inline uint64_t ItemOf(uint64_t user, uint64_t n) {
  constexpr uint64_t kMask = (uint64_t{1} << 30) - 1;
  uint64_t x = (n ^ Random::Mix(user + 1)) & kMask;
  x ^= x >> 15;
  x = (x * 0x2C1B'3C6D) & kMask;
  x ^= x >> 12;
  x = (x * 0x297A'2D39) & kMask;
  return x ^ (x >> 15);
}
/// The user's `i`th play of a month, and the `i`th item never played (i < 2^28).
inline uint64_t PlayedItem(uint64_t user, int month, uint64_t i) {
  return ItemOf(user, (static_cast<uint64_t>(month) << 20) + i);
}
inline uint64_t UnplayedItem(uint64_t user, uint64_t i) {
  return ItemOf(user, (uint64_t{1} << 29) + i);
}

/// An item as text, in 25 bytes: "video-" and 19 digits.
inline std::string LongText(uint64_t item) {
  const std::string digits = std::to_string(item);
  return "video-" + std::string(19 - digits.size(), '0') + digits;
}

/// Items [begin, end) of the user's month.
inline std::vector<uint64_t> PlayedItems(uint64_t user, int month, uint64_t begin, uint64_t end) {
  std::vector<uint64_t> items;
  for (uint64_t i = begin; i < end; ++i) items.push_back(PlayedItem(user, month, i));
  return items;
}

/// One question in every form a peer may want it, made before a clock starts.
struct Question {
  uint64_t user = 0;
  std::string user_text;
  std::vector<uint64_t> numbers;   ///< candidates
  std::vector<IdRef> ids;          ///< the same, for the engine
  std::vector<std::string> texts;  ///< the same as text, for Redis
  uint64_t seen = 0;               ///< of them, were played
};

/// What to ask: `candidates` of which `seen_percent` were played in the months [0, kWindow), each
/// of `items_a_month`.
struct Asking {
  size_t candidates = 5'000;
  int seen_percent = 20;
  uint64_t items_a_month = 3'300;
};

/// A question about `user`; another one for another `seed`.
inline Question Ask(uint64_t user, const Asking& asking, uint64_t seed = 0) {
  Random random(Random::Mix(user) + seed);
  Question question;
  question.user = user;
  question.user_text = std::to_string(user);
  for (size_t i = 0; i < asking.candidates; ++i) {
    const bool seen = random.Below(100) < static_cast<uint64_t>(asking.seen_percent);
    const int month = static_cast<int>(random.Below(kWindow));
    const uint64_t item = seen ? PlayedItem(user, month, random.Below(asking.items_a_month))
                               : UnplayedItem(user, seed * asking.candidates % (1 << 27) + i);
    question.seen += seen ? 1 : 0;
    question.numbers.push_back(item);
    question.ids.emplace_back(item);
    question.texts.push_back(std::to_string(item));
  }
  return question;
}

}  // namespace seendb::perf
