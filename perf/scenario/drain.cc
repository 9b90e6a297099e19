// The hourly drain: 10 plays a user and hour, hours one after the other: SeenDB's blind merges
// beside peers that read each user's value, change it and write it back. An hour is a round. SeenDB
// journals plays as they come in, which the peers leave to a Redis; its WAL bytes are given for the
// drain alone, and for both together.

#include "scenario/contest.h"

namespace seendb::perf {
namespace {

constexpr std::string_view kPeers[] = {"seendb", "rocksdb-rmw", "rocksdb-delta"};
constexpr uint64_t kPlays = 10;

}  // namespace

void RunDrain(const Settings& settings, Report* report) {
  const TemporaryFolder folder;
  PeerOptions options;
  options.folder = folder.path();
  options.shards = 4;
  const uint64_t users = settings.quick ? 10'000 : 100'000;
  std::vector<Contestant> contestants = Invite(settings, "drain", kPeers, options, report);
  const int hours = std::clamp(settings.rounds, 3, 5);
  const auto plays = static_cast<double>(users * kPlays);
  for (int hour = 0; hour < hours; ++hour) {
    for (Contestant& contestant : contestants) {
      Peer& peer = *contestant.peer;
      const Case where = {{"hour", Number(hour + 1)}};
      const int64_t now_ms = kStartMs + 10 * kDayMs + hour * kHourMs;
      peer.SetTime(now_ms);
      const auto first = static_cast<uint64_t>(hour) * kPlays;
      const uint64_t log_before = peer.LogBytes();
      for (uint64_t user = 0; user < users; ++user) {
        peer.Add(user, 0, PlayedItems(user, 0, first, first + kPlays));
      }
      peer.SetTime(now_ms + kHourMs / 2);  // all is in
      const uint64_t log_in = peer.LogBytes();
      const Stopwatch watch;
      peer.Drain();
      const double seconds = watch.Seconds();
      const uint64_t log_after = peer.LogBytes();
      report->Add({"drain", where, contestant.name, "plays_per_s", Better::kMore}, plays / seconds);
      report->Add({"drain", where, contestant.name, "drain_log_bytes_a_play"},
                  static_cast<double>(log_after - log_in) / plays);
      report->Add({"drain", where, contestant.name, "log_bytes_a_play"},
                  static_cast<double>(log_after - log_before) / plays);
    }
  }
}

}  // namespace seendb::perf
