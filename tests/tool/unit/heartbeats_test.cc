#include "heartbeats.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

const PlayLogOptions kOptions = {.users = 30,
                                 .plays_per_user_median = 40,
                                 .days = 2,
                                 .items = 200,
                                 .start_ms = 1'700'000'000'000,
                                 .seed = 5};

std::vector<Heartbeat> All(uint64_t seed, int32_t period_s) {
  PlayLog log(kOptions);
  Heartbeats beats(&log, seed, period_s);
  std::vector<Heartbeat> all;
  for (Heartbeat beat; beats.Next(&beat);) all.push_back(beat);
  return all;
}

using Key = std::tuple<int64_t, uint64_t, uint64_t>;  // begin, user, item

Key KeyOf(const PlayLog::Event& play) { return {play.at_ms, play.user, play.item}; }

TEST(Heartbeats, ComeInOrderOfTimeAndTellEveryPlay) {
  std::set<Key> plays;
  PlayLog log(kOptions);
  for (PlayLog::Event play; log.Next(&play);) plays.insert(KeyOf(play));
  std::set<Key> begun;
  int64_t last_ms = 0;
  for (const Heartbeat& beat : All(5, 10)) {
    ASSERT_GE(beat.play.at_ms, last_ms);
    last_ms = beat.play.at_ms;
    if (beat.watch.progress_s == 0) begun.insert(KeyOf(beat.play));
  }
  EXPECT_EQ(begun, plays);
}

TEST(Heartbeats, APlayAdvancesByThePeriodToItsEnd) {
  constexpr int32_t kPeriodS = 7;
  std::map<uint64_t, int32_t> durations;  // of items
  std::map<Key, std::vector<int32_t>> reports;
  for (const Heartbeat& beat : All(5, kPeriodS)) {
    const int32_t progress_s = beat.watch.progress_s.value_or(-2);
    const int32_t duration_s = beat.watch.duration_s.value_or(-2);
    const int32_t at_s = progress_s == kFinished ? duration_s : progress_s;
    PlayLog::Event begin = beat.play;
    begin.at_ms -= at_s * 1'000;
    reports[KeyOf(begin)].push_back(progress_s);
    ASSERT_GE(duration_s, 15);
    ASSERT_LE(duration_s, 600);
    const int32_t known = durations.emplace(beat.play.item, duration_s).first->second;
    ASSERT_EQ(known, duration_s) << "an item has one";
  }
  size_t finished = 0;
  for (const auto& [key, positions] : reports) {
    ASSERT_EQ(positions.front(), 0);
    for (size_t i = 1; i + 1 < positions.size(); ++i) {
      ASSERT_EQ(positions[i], positions[i - 1] + kPeriodS);
    }
    if (positions.back() == kFinished) ++finished;
  }
  const double share = static_cast<double>(finished) / static_cast<double>(reports.size());
  EXPECT_NEAR(share, 1.0 / 3, 0.05);
}

TEST(Heartbeats, TheSeedAndTheLogDecide) {
  const auto text = [](const std::vector<Heartbeat>& beats) {
    std::string out;
    for (const auto& [play, watch] : beats) {
      out += std::to_string(play.at_ms) + ' ' + std::to_string(watch.progress_s.value_or(-2)) +
             ' ' + std::string(watch.device) + '\n';
    }
    return out;
  };
  EXPECT_EQ(text(All(5, 10)), text(All(5, 10)));
  EXPECT_NE(text(All(5, 10)), text(All(6, 10)));
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
