// Bytes an item on disk over six months, one of them open, and the measured false-positive rate
// of the window of four: light, median and heavy users, `bloom` beside `exact`.

#include <cmath>

#include "scenario/scenario.h"

namespace seendb::perf {
namespace {

constexpr int kMonths = 6;
constexpr int kDrainsPerMonth = 10;
constexpr int64_t kMonthBegin[] = {kStartMs,
                                   kStartMs + 30 * kDayMs,
                                   kStartMs + 61 * kDayMs,
                                   kStartMs + 92 * kDayMs,
                                   kStartMs + 122 * kDayMs,
                                   kStartMs + 153 * kDayMs};

struct Shape {
  const char* name;
  uint64_t users;
  // Plays in a month of the user numbered `u` (0..users).
  uint64_t (*plays)(uint64_t u, uint64_t users);
};

// The heavy tail of KuaiRand-1K: median 8,327, p90 24,418, p99 62,626, at most 127,557.
uint64_t HeavyTail(uint64_t u, uint64_t users) {
  const double share = (static_cast<double>(u) + 0.5) / static_cast<double>(users);
  // Log-linear between the published quantiles.
  static constexpr double kAt[] = {0, 0.5, 0.9, 0.99, 1};
  static constexpr double kPlays[] = {600, 8'327, 24'418, 62'626, 127'557};
  size_t i = 0;
  while (share > kAt[i + 1]) ++i;
  const double part = (share - kAt[i]) / (kAt[i + 1] - kAt[i]);
  return static_cast<uint64_t>(
      std::exp(std::log(kPlays[i]) + part * (std::log(kPlays[i + 1]) - std::log(kPlays[i]))));
}

uint64_t ItemOf(uint64_t user, int month, uint64_t i) {
  return (user << 40) | (static_cast<uint64_t>(month) << 32) | i;
}

double MeasuredFpr(Engine& engine, const Shape& shape) {
  Random random(99);
  FilterResponse answer;
  uint64_t seen = 0, asked = 0;
  const uint64_t step = std::max<uint64_t>(shape.users / 200, 1);
  for (uint64_t user = 0; user < shape.users; user += step) {
    std::vector<IdRef> never;
    for (int i = 0; i < 5'000; ++i) never.emplace_back(random.Next() | (uint64_t{1} << 63));
    FilterRequest request;
    request.user = IdRef(user);
    request.collection = "space";
    request.items = never;
    Check(engine.Filter(request, &answer));
    seen += answer.seen;
    asked += never.size();
  }
  return static_cast<double>(seen) / static_cast<double>(asked);
}

void Run(const Shape& shape, Representation representation) {
  const TemporaryFolder folder;
  ManualClock clock(kStartMs);
  Options options;
  options.shards = 2;
  auto engine = OpenEngine(folder.path() + "/db", &clock, options);
  PolicyPatch patch;
  patch.representation = representation;
  Check(engine->PutCollection("space", patch));
  uint64_t items = 0;
  for (int month = 0; month < kMonths; ++month) {
    const bool open = month == kMonths - 1;
    const int drains = open ? kDrainsPerMonth / 2 : kDrainsPerMonth;  // the open month is half past
    for (int drain = 0; drain < drains; ++drain) {
      clock.Set(kMonthBegin[month] + (drain + 1) * 29 * kDayMs / kDrainsPerMonth);
      std::vector<Play> plays;
      for (uint64_t user = 0; user < shape.users; ++user) {
        const uint64_t total = shape.plays(user, shape.users);
        const auto piece = [&](int d) {
          return total * static_cast<uint64_t>(d) / kDrainsPerMonth;
        };
        for (uint64_t i = piece(drain); i < piece(drain + 1); ++i) {
          plays.push_back({IdRef(user), IdRef(ItemOf(user, month, i))});
        }
        if (plays.size() < 20'000 && user + 1 < shape.users) continue;
        Check(engine->RecordPlays(plays, {.collection = "space"}).status());
        items += plays.size();
        plays.clear();
      }
      Check(engine->Drain());
    }
    if (!open) {
      clock.Set(kMonthBegin[month + 1] + 2 * 3'600'000);
      Check(engine->SealClosed());
    }
  }
  Check(engine->Compact());
  uint64_t bytes = 0;
  for (const BucketInfo& bucket : engine->Buckets()) {
    if (bucket.collection == "space") bytes += bucket.bytes;
  }
  std::printf("| %-22s | %s | %llu | %.1f | %.2f | %.3f%% | %llu |\n", shape.name,
              representation == Representation::kBloom ? "bloom" : "exact",
              static_cast<unsigned long long>(shape.users), static_cast<double>(items) / 1e6,
              static_cast<double>(bytes) / static_cast<double>(items),
              100 * MeasuredFpr(*engine, shape),
              static_cast<unsigned long long>(engine->Stats().layers_dropped));
  std::fflush(stdout);
}

}  // namespace
}  // namespace seendb::perf

int main() {
  using seendb::Representation;
  using namespace seendb::perf;
  const Shape shapes[] = {
      {"30 a month", 20'000, [](uint64_t, uint64_t) -> uint64_t { return 30; }},
      {"3,300 a month", 400, [](uint64_t, uint64_t) -> uint64_t { return 3'300; }},
      {"KuaiRand-1K's tail", 200, HeavyTail},
  };
  std::printf("Bytes an item on disk, six months of which one is half past and open\n");
  std::printf(
      "| plays | representation | users | M items | bytes an item | window FPR | layers "
      "dropped |\n|---|---|---|---|---|---|---|\n");
  for (const Shape& shape : shapes) {
    for (const auto representation : {Representation::kBloom, Representation::kExact}) {
      Run(shape, representation);
    }
  }
}
