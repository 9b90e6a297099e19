// Filter: 500 to 10,000 candidates of which 0 to 80% were played, users with 4 months of 3,300
// items, hot, one client. Every peer holds the same users; the current month is full.

#include "scenario/contest.h"

namespace seendb::perf {
namespace {

constexpr std::string_view kPeers[] = {
    "seendb",        "seendb-sealed",    "seendb-operands",   "seendb-exact", "rocksdb-rmw",
    "rocksdb-delta", "redis-zset-range", "redis-zset-scores", "redis-bytes",  "redis-bloom"};

}  // namespace

void RunFilter(const Settings& settings, Report* report) {
  const TemporaryFolder folder;
  PeerOptions options;
  options.folder = folder.path();
  Plays plays;
  plays.users = settings.quick ? 20 : 100;
  plays.items_a_month = Everybody(options.items_a_month);
  std::vector<Contestant> contestants = Invite(settings, "filter", kPeers, options, report);
  std::vector<std::unique_ptr<Session>> sessions;
  for (Contestant& contestant : contestants) {
    Load(contestant.peer.get(), plays);
    sessions.push_back(contestant.peer->Connect());
  }
  const double seconds = settings.quick ? 0.02 : 0.12;
  for (const size_t candidates : {500, 2'000, 5'000, 10'000}) {
    for (const int seen : {0, 20, 50, 80}) {
      if (settings.quick && candidates != 5'000 && seen != 20) continue;
      const std::vector<Question> questions = Questions(plays.users, {candidates, seen, 3'300});
      for (size_t p = 0; p < contestants.size(); ++p) {  // the warm-up as well
        CheckAnswers(contestants[p].name, sessions[p].get(), questions);
      }
      const Case where = {{"candidates", Number(static_cast<double>(candidates))},
                          {"seen_percent", Number(seen)}};
      for (int round = 0; round < settings.rounds; ++round) {
        for (size_t p = 0; p < contestants.size(); ++p) {
          const auto us = TimeAnswers(sessions[p].get(), questions, seconds);
          const std::string& name = contestants[p].name;
          report->Add({"filter", where, name, "latency_us"}, Quantile(us, 0.5));
          if (candidates == 5'000 && seen == 20) {
            report->Add({"filter", where, name, "p99_us"}, Quantile(us, 0.99));
          }
        }
      }
    }
  }
}

}  // namespace seendb::perf
