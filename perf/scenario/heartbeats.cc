// Heartbeats: players tell every five seconds where they are. Acknowledged heartbeats a second by
// threads and batch, and bytes written a heartbeat until all is compacted, filters included. 20,000
// users watch at once, 20 heartbeats an item, 20 bytes of fields each; durability "interval". The
// peer puts each heartbeat's state into a RocksDB, in the same batches.

#include <thread>

#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include "scenario/all.h"
#include "scenario/common.h"
#include "scenario/world.h"
#include "seams.h"
#include "seendb/engine.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kViewers = 20'000;
constexpr uint64_t kBeatsAnItem = 20;
constexpr int64_t kBeatMs = 5'000;
constexpr std::string_view kFields = R"({"quality":"1080p"})";
constexpr std::string_view kDevice = "tv";

/// What a viewer's player says next. One thread's viewers are its own.
struct Viewers {
  explicit Viewers(uint64_t seed) : random(seed), first(seed * kViewers), beats(kViewers) {}

  void Next(Play* play, Watch* watch) {
    const uint64_t viewer = random.Below(kViewers);
    const uint64_t beat = beats[viewer]++;
    play->user = IdRef(first + viewer);
    play->item = IdRef(ItemOf(first + viewer, beat / kBeatsAnItem));
    play->at_ms = kStartMs + static_cast<int64_t>(beat) * kBeatMs;
    play->watch = watch;
    *watch = {static_cast<int32_t>(beat % kBeatsAnItem) * 5, 100, kDevice, kFields};
  }

  Random random;
  uint64_t first;
  std::vector<uint64_t> beats;
};

/// An engine whose one collection keeps history.
struct Watched {
  Watched() : clock(kStartMs + 10 * kDayMs) {
    auto opened = Engine::Open(folder.path() + "/db", {}, Seams{&clock, nullptr});
    Check(opened.status());
    engine = std::move(*opened);
    PolicyPatch patch;
    patch.history.enabled = true;
    Check(engine->PutCollection("default", patch));
  }
  const TemporaryFolder folder;
  ManualClock clock;
  std::unique_ptr<Engine> engine;
};

double Embedded(int threads, size_t batch, double seconds) {
  const Watched watched;
  std::atomic<uint64_t> total{0};
  const Stopwatch stopwatch;
  std::vector<std::thread> players;
  for (int t = 0; t < threads; ++t) {
    players.emplace_back([&, t] {
      Viewers viewers(static_cast<uint64_t>(t) + 1);
      std::vector<Play> plays(batch);
      std::vector<Watch> watches(batch);
      uint64_t done = 0;
      while (stopwatch.Seconds() < seconds) {
        for (size_t i = 0; i < batch; ++i) viewers.Next(&plays[i], &watches[i]);
        const auto recorded = watched.engine->RecordPlays(plays);
        Check(recorded.status());
        done += recorded->accepted;
      }
      total += done;
    });
  }
  for (std::thread& player : players) player.join();
  return static_cast<double>(total) / stopwatch.Seconds();
}

double EngineBytes(uint64_t heartbeats, size_t batch) {
  const Watched watched;
  Viewers viewers(1);
  std::vector<Play> plays(batch);
  std::vector<Watch> watches(batch);
  for (uint64_t done = 0; done < heartbeats; done += batch) {
    for (size_t i = 0; i < batch; ++i) viewers.Next(&plays[i], &watches[i]);
    Check(watched.engine->RecordPlays(plays).status());
  }
  Check(watched.engine->Drain());
  Check(watched.engine->Compact());
  const EngineStats stats = watched.engine->Stats();
  return static_cast<double>(stats.wal_bytes_written + stats.flush_bytes_written +
                             stats.compaction_bytes_written) /
         static_cast<double>(heartbeats);
}

void Must(const rocksdb::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

double PutBytes(uint64_t heartbeats, size_t batch) {
  const TemporaryFolder folder;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.statistics = rocksdb::CreateDBStatistics();
  rocksdb::DB* opened = nullptr;
  Must(rocksdb::DB::Open(options, folder.path() + "/db", &opened));
  const std::unique_ptr<rocksdb::DB> db(opened);
  Viewers viewers(1);
  Play play;
  Watch watch;
  for (uint64_t done = 0; done < heartbeats; done += batch) {
    rocksdb::WriteBatch writes;
    for (size_t i = 0; i < batch; ++i) {
      viewers.Next(&play, &watch);
      const int64_t at_ms = *play.at_ms;
      std::string value(reinterpret_cast<const char*>(&at_ms), sizeof(at_ms));
      value += std::to_string(*watch.progress_s) + "," + std::to_string(*watch.duration_s) + ",";
      value.append(watch.device).append(",").append(watch.fields);
      Must(writes.Put(play.user.ToString() + "/" + play.item.ToString(), value));
    }
    Must(db->Write({}, &writes));
  }
  Must(db->Flush({}));
  Must(db->CompactRange({}, nullptr, nullptr));
  const auto ticks = [&](rocksdb::Tickers ticker) {
    return static_cast<double>(options.statistics->getTickerCount(ticker));
  };
  const double bytes = ticks(rocksdb::WAL_FILE_BYTES) + ticks(rocksdb::FLUSH_WRITE_BYTES) +
                       ticks(rocksdb::COMPACT_WRITE_BYTES);
  return bytes / static_cast<double>(heartbeats);
}

}  // namespace

void RunHeartbeats(const Settings& settings, Report* report) {
  const double seconds = settings.quick ? 0.3 : 1.5;
  const uint64_t heartbeats = settings.quick ? 200'000 : 3'000'000;
  const int rounds = std::min(settings.rounds, 3);
  for (const size_t batch : {size_t{10}, size_t{100}}) {
    const auto size = Number(static_cast<double>(batch));
    for (int round = 0; round < rounds; ++round) {
      for (const int threads : {1, 2}) {
        report->Add({"heartbeats",
                     {{"batch", size}, {"threads", Number(threads)}},
                     "seendb",
                     "heartbeats_per_s",
                     Better::kMore},
                    Embedded(threads, batch, seconds));
      }
    }
    report->Add({"heartbeats", {{"batch", size}}, "seendb", "bytes_a_heartbeat"},
                EngineBytes(heartbeats, batch));
    report->Add({"heartbeats", {{"batch", size}}, "rocksdb-put", "bytes_a_heartbeat"},
                PutBytes(heartbeats, batch));
  }
}

}  // namespace seendb::perf
