// Plays in: acknowledged plays a second by threads and batch size, random users of 200,000, 4
// shards, durability "interval": every acknowledged play survives a killed process. The peer: ZADD
// to a Redis without persistence, whose plays don't survive anything, 64 batches on the way at
// once.

#include <thread>

#include "scenario/all.h"
#include "scenario/common.h"
#include "seendb/engine.h"
#ifdef SEENDB_PERF_REDIS
#include "peers/redis.h"
#endif

namespace seendb::perf {
namespace {

constexpr uint64_t kUsers = 200'000;

double Embedded(int threads, size_t batch, double seconds) {
  const TemporaryFolder folder;
  auto opened = Engine::Open(folder.path() + "/db", {});
  Check(opened.status());
  Engine& engine = **opened;
  std::atomic<uint64_t> total{0};
  const Stopwatch watch;
  std::vector<std::thread> writers;
  writers.reserve(static_cast<size_t>(threads));
  for (int t = 0; t < threads; ++t) {
    writers.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t) + 1);
      std::vector<Play> plays(batch);
      uint64_t done = 0;
      while (watch.Seconds() < seconds) {
        for (Play& play : plays) {
          play.user = IdRef(random.Below(kUsers));
          play.item = IdRef(random.Next());
        }
        const auto recorded = engine.RecordPlays(plays);
        Check(recorded.status());
        done += recorded->accepted;
      }
      total += done;
    });
  }
  for (std::thread& writer : writers) writer.join();
  return static_cast<double>(total) / watch.Seconds();
}

#ifdef SEENDB_PERF_REDIS
double Zadd(const std::string& address, size_t batch, double seconds) {
  RedisConnection redis(address);
  Random random(1);
  uint64_t sent = 0;
  const std::string prefix = "seendb-perf/plays/";
  const Stopwatch watch;
  while (watch.Seconds() < seconds) {
    constexpr int kOnTheWay = 64;
    for (int i = 0; i < kOnTheWay; ++i) {  // a batch: one user's plays
      std::vector<std::string> texts = {prefix + std::to_string(random.Below(kUsers))};
      std::vector<std::string_view> words = {"ZADD", texts[0]};
      texts.reserve(batch + 1);
      words[1] = texts[0];
      for (size_t p = 0; p < batch; ++p) {
        texts.push_back(std::to_string(random.Below(uint64_t{1} << 30)));
        words.push_back("1780272000000");
        words.push_back(texts.back());
      }
      redis.Append(words);
    }
    for (int i = 0; i < kOnTheWay; ++i) redis.Next();
    sent += kOnTheWay * batch;
  }
  const double rate = static_cast<double>(sent) / watch.Seconds();
  for (uint64_t user = 0; user < kUsers; ++user) {
    redis.Append(std::vector<std::string_view>{"DEL", prefix + std::to_string(user)});
    if (user % 1'000 == 999) {
      for (int i = 0; i < 1'000; ++i) redis.Next();
    }
  }
  return rate;
}
#endif

}  // namespace

void RunPlays(const Settings& settings, Report* report) {
  const double seconds = settings.quick ? 0.3 : 1.5;
  const int rounds = std::min(settings.rounds, 3);
  for (const size_t batch : {size_t{1}, size_t{10}, size_t{100}, size_t{1'000}}) {
    const std::string plays = Number(static_cast<double>(batch));
    for (int round = 0; round < rounds; ++round) {
      for (const int threads : {1, 2}) {
        report->Add({"plays",
                     {{"batch", plays}, {"threads", Number(threads)}},
                     "seendb",
                     "plays_per_s",
                     Better::kMore},
                    Embedded(threads, batch, seconds));
      }
#ifdef SEENDB_PERF_REDIS
      if (settings.redis.empty()) continue;
      report->Add({"plays",
                   {{"batch", plays}, {"threads", "1"}},
                   "redis-zset-range",
                   "plays_per_s",
                   Better::kMore},
                  Zadd(settings.redis, batch, seconds));
#endif
    }
  }
}

}  // namespace seendb::perf
