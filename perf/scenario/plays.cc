// Durable plays in, embedded: acknowledged plays a second by 1 and 2 threads and batch size.
// Durability `interval`: every acknowledged play survives a killed process.

#include <thread>

#include "scenario/scenario.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kUsers = 200'000;
constexpr double kSeconds = 3;

double Run(int threads, size_t batch) {
  const TemporaryFolder folder;
  Options options;
  options.background = false;
  auto opened = Engine::Open(folder.path() + "/db", options);
  Check(opened.status());
  Engine& engine = **opened;
  std::atomic<uint64_t> total{0};
  const Stopwatch watch;
  std::vector<std::thread> writers;
  for (int t = 0; t < threads; ++t) {
    writers.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t) + 1);
      std::vector<Play> plays(batch);
      uint64_t done = 0;
      while (watch.Seconds() < kSeconds) {
        for (Play& play : plays) {
          play.user = IdRef(random.Next() % kUsers);
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

}  // namespace
}  // namespace seendb::perf

int main() {
  std::printf("Durable plays in, embedded, random users of 200,000, 4 shards\n");
  std::printf("| threads | plays a batch | M plays/s |\n|---|---|---|\n");
  for (const int threads : {1, 2}) {
    for (const size_t batch : {size_t{1}, size_t{10}, size_t{100}, size_t{1000}}) {
      std::printf("| %d | %zu | %.2f |\n", threads, batch, seendb::perf::Run(threads, batch) / 1e6);
      std::fflush(stdout);
    }
  }
}
