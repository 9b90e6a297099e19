// Space: bytes an item over six months, one of them half past and open, 10 drains a month, and the
// measured false-positive rate of the window of four. Light users (30 plays a month), median ones
// (3,300) and KuaiRand-1K's heavy tail, generated from its published quantiles (events a user in 31
// days: p50 8,327, p90 24,418, p99 62,626, most 127,557). On disk: live table files; Redis: MEMORY
// USAGE. Filters of a fixed size are sized for the 90th percentile of the shape.

#include <cmath>

#include "scenario/contest.h"

namespace seendb::perf {
namespace {

constexpr std::string_view kPeers[] = {"seendb",        "seendb-exact", "rocksdb-rmw",
                                       "rocksdb-delta", "redis-bytes",  "redis-zset-range"};

struct Shape {
  const char* name;
  uint64_t users;
  uint64_t p90;
  uint64_t (*items)(uint64_t user, uint64_t users);
};

// Log-linear between the published quantiles.
uint64_t HeavyTail(uint64_t user, uint64_t users) {
  static constexpr double kShare[] = {0, 0.5, 0.9, 0.99, 1};
  static constexpr double kItems[] = {600, 8'327, 24'418, 62'626, 127'557};
  const double share = (static_cast<double>(user) + 0.5) / static_cast<double>(users);
  size_t i = 0;
  while (share > kShare[i + 1]) ++i;
  const double part = (share - kShare[i]) / (kShare[i + 1] - kShare[i]);
  return static_cast<uint64_t>(
      std::exp(std::log(kItems[i]) + part * (std::log(kItems[i + 1]) - std::log(kItems[i]))));
}

constexpr Shape kShapes[] = {
    {"30 a month", 20'000, 30, [](uint64_t, uint64_t) -> uint64_t { return 30; }},
    {"3,300 a month", 400, 3'300, [](uint64_t, uint64_t) -> uint64_t { return 3'300; }},
    {"KuaiRand-1K tail", 200, 24'418, HeavyTail},
};

// Of 200 users' 5,000 items each that nobody played.
double WindowFpr(Session* session, uint64_t users) {
  uint64_t asked = 0, seen = 0;
  std::vector<uint32_t> unseen;
  for (uint64_t user = 0; user < users; user += std::max<uint64_t>(users / 200, 1)) {
    const Question question = Ask(user, {5'000, 0, 1});
    session->Ask(question, &unseen);
    asked += question.numbers.size();
    seen += question.numbers.size() - unseen.size();
  }
  return static_cast<double>(seen) / static_cast<double>(asked);
}

void Measure(const Settings& settings, const Shape& shape, std::string_view name, Report* report) {
  const TemporaryFolder folder;
  PeerOptions options;
  options.folder = folder.path();
  options.shards = 2;
  options.items_a_month = shape.p90;
  std::vector<Contestant> one = Invite(settings, "space", {&name, 1}, options, report);
  if (one.empty()) return;
  Peer& peer = *one[0].peer;
  Plays plays;
  // A key's memory in Redis hardly depends on how many there are.
  plays.users = shape.users / (settings.quick ? 10 : 1) / (one[0].is_redis ? 10 : 1);
  plays.items_a_month = [&](uint64_t user) { return shape.items(user, plays.users); };
  plays.months = 6;
  plays.drains = 10;
  plays.half_open = true;
  const uint64_t items = Load(&peer, plays);
  const Case where = {{"plays", shape.name}};
  report->Add({"space", where, one[0].name, "bytes_an_item"},
              static_cast<double>(peer.Bytes()) / static_cast<double>(items));
  report->Add({"space", where, one[0].name, "window_fpr"},
              WindowFpr(peer.Connect().get(), plays.users));
}

}  // namespace

void RunSpace(const Settings& settings, Report* report) {
  report->Note("space", "Redis peers hold a tenth of the users; one round, since bytes don't vary");
  for (const Shape& shape : kShapes) {
    for (const std::string_view name : kPeers) Measure(settings, shape, name, report);
  }
}

}  // namespace seendb::perf
