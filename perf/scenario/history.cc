// History: users with 100 to 60,000 items over 4 months; 5,000 candidates, 20% played, hot, one
// client; and the bytes a user takes. Filters of a fixed size are sized for the very number of
// items, which in life nobody knows.

#include "scenario/contest.h"

namespace seendb::perf {
namespace {

constexpr std::string_view kPeers[] = {
    "seendb",           "seendb-sealed",     "seendb-exact", "rocksdb-rmw", "rocksdb-delta",
    "redis-zset-range", "redis-zset-scores", "redis-bytes",  "redis-bloom"};

void Run(const Settings& settings, uint64_t items, Report* report) {
  const TemporaryFolder folder;
  PeerOptions options;
  options.folder = folder.path();
  options.items_a_month = items / kWindow;
  Plays plays;
  plays.users = settings.quick ? 10 : std::clamp<uint64_t>(1'000'000 / items, 30, 1'000);
  plays.items_a_month = Everybody(options.items_a_month);
  std::vector<Contestant> contestants = Invite(settings, "history", kPeers, options, report);
  std::vector<std::unique_ptr<Session>> sessions;
  const Case where = {{"items_a_user", Number(static_cast<double>(items))}};
  const std::vector<Question> questions =
      Questions(std::min<uint64_t>(plays.users, 50), {5'000, 20, options.items_a_month});
  for (Contestant& contestant : contestants) {
    Load(contestant.peer.get(), plays);
    sessions.push_back(contestant.peer->Connect());
    CheckAnswers(contestant.name, sessions.back().get(), questions);
    report->Add({"history", where, contestant.name, "bytes_a_user"},
                static_cast<double>(contestant.peer->Bytes()) / static_cast<double>(plays.users));
  }
  const double seconds = settings.quick ? 0.02 : 0.15;
  for (int round = 0; round < settings.rounds; ++round) {
    for (size_t p = 0; p < contestants.size(); ++p) {
      const auto us = TimeAnswers(sessions[p].get(), questions, seconds);
      report->Add({"history", where, contestants[p].name, "latency_us"}, Quantile(us, 0.5));
    }
  }
}

}  // namespace

void RunHistory(const Settings& settings, Report* report) {
  for (const uint64_t items : {100, 3'300, 10'000, 60'000}) Run(settings, items, report);
}

}  // namespace seendb::perf
