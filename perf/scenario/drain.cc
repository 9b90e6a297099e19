// The hourly drain: 10 plays a user and hour as blind merges, beside read-modify-write of the same
// filters (3,300 items a month at 0.25%), several hours one after the other, both in one run.

#include "filter/hash.h"
#include "peers/rmw_filter.h"
#include "scenario/scenario.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kUsers = 100'000;
constexpr int kPlays = 10;
constexpr int kHours = 3;

uint64_t ItemOf(uint64_t user, int hour, int i) {
  return user * 1'000'000 + static_cast<uint64_t>(hour) * 1'000 + static_cast<uint64_t>(i);
}

void Stage(Engine& engine, int hour) {
  std::vector<Play> plays;
  for (uint64_t user = 0; user < kUsers; ++user) {
    for (int i = 0; i < kPlays; ++i) plays.push_back({IdRef(user), IdRef(ItemOf(user, hour, i))});
    if (plays.size() < 10'000 && user + 1 < kUsers) continue;
    Check(engine.RecordPlays(plays).status());
    plays.clear();
  }
}

void Run() {
  const TemporaryFolder folder;
  ManualClock clock(kStartMs + 10 * kDayMs);
  auto engine = OpenEngine(folder.path() + "/db", &clock);
  RmwFilters peer(folder.path() + "/rmw", 3'300, 0.0025);
  std::printf("Drain of %d plays for each of %llu users an hour\n", kPlays,
              static_cast<unsigned long long>(kUsers));
  std::printf(
      "| hour | SeenDB M plays/s | WAL MB (journal + drain) | of it drain MB | RMW M plays/s | "
      "RMW WAL MB | speed ratio | WAL ratio, drain alone |\n|---|---|---|---|---|---|---|---|\n");
  const double plays = static_cast<double>(kUsers) * kPlays;
  for (int hour = 0; hour < kHours; ++hour) {
    clock.Set(clock.NowMs() + 3'600'000);
    const uint64_t wal_begin = engine->Stats().wal_bytes_written;
    Stage(*engine, hour);
    const uint64_t wal_staged = engine->Stats().wal_bytes_written;
    const Stopwatch ours;
    Check(engine->Drain());
    const double drain_s = ours.Seconds();
    const uint64_t wal_end = engine->Stats().wal_bytes_written;

    const uint64_t peer_begin = peer.wal_bytes();
    const Stopwatch theirs;
    rocksdb::WriteBatch batch;
    std::vector<Fingerprint> items(kPlays);
    for (uint64_t user = 0; user < kUsers; ++user) {
      for (int i = 0; i < kPlays; ++i) {
        items[static_cast<size_t>(i)] = FingerprintOf(IdRef(ItemOf(user, hour, i)));
      }
      peer.Add(std::to_string(user), items, &batch);
      if (batch.GetDataSize() > (1 << 20)) peer.Write(&batch);
    }
    peer.Write(&batch);
    peer.Sync();
    const double rmw_s = theirs.Seconds();
    const auto rmw_wal = static_cast<double>(peer.wal_bytes() - peer_begin);
    const auto drain_wal = static_cast<double>(wal_end - wal_staged);
    std::printf("| %d | %.2f | %.1f | %.1f | %.2f | %.1f | %.1fx | 1/%.0f |\n", hour + 1,
                plays / drain_s / 1e6, static_cast<double>(wal_end - wal_begin) / 1e6,
                drain_wal / 1e6, plays / rmw_s / 1e6, rmw_wal / 1e6, rmw_s / drain_s,
                rmw_wal / drain_wal);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace seendb::perf

int main() { seendb::perf::Run(); }
