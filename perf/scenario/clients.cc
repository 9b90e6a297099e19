// Clients: 1 to twice as many as there are cores, each asking 5,000 candidates, 20% played, of
// users with 4 months of 3,300 items, one question after the other; answers a second in all.

#include <thread>

#include "scenario/contest.h"

namespace seendb::perf {
namespace {

constexpr std::string_view kPeers[] = {"seendb",           "rocksdb-rmw",       "rocksdb-delta",
                                       "redis-zset-range", "redis-zset-scores", "redis-bytes",
                                       "redis-bloom"};

double AnswersPerSecond(const std::vector<std::unique_ptr<Session>>& sessions,
                        const std::vector<Question>& questions, double seconds) {
  std::atomic<uint64_t> answered{0};
  const Stopwatch watch;
  std::vector<std::thread> clients;
  for (size_t c = 0; c < sessions.size(); ++c) {
    clients.emplace_back([&, c] {
      std::vector<uint32_t> unseen;
      for (size_t i = c * 7; watch.Seconds() < seconds; ++i) {
        sessions[c]->Ask(questions[i % questions.size()], &unseen);
        answered.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  return static_cast<double>(answered) / watch.Seconds();
}

}  // namespace

void RunClients(const Settings& settings, Report* report) {
  const TemporaryFolder folder;
  PeerOptions options;
  options.folder = folder.path();
  Plays plays;
  plays.users = settings.quick ? 20 : 100;
  plays.items_a_month = Everybody(options.items_a_month);
  std::vector<Contestant> contestants = Invite(settings, "clients", kPeers, options, report);
  const std::vector<Question> questions = Questions(plays.users, {});
  for (Contestant& contestant : contestants) {
    Load(contestant.peer.get(), plays);
    CheckAnswers(contestant.name, contestant.peer->Connect().get(), questions);
  }
  const size_t most = 2 * std::max(1U, std::thread::hardware_concurrency());
  for (size_t clients = 1; clients <= most; clients *= 2) {
    for (int round = 0; round < settings.rounds; ++round) {
      for (Contestant& contestant : contestants) {
        std::vector<std::unique_ptr<Session>> sessions;
        while (sessions.size() < clients) sessions.push_back(contestant.peer->Connect());
        const double rate = AnswersPerSecond(sessions, questions, settings.quick ? 0.1 : 0.4);
        report->Add({"clients",
                     {{"clients", Number(static_cast<double>(clients))}},
                     contestant.name,
                     "answers_per_s",
                     Better::kMore},
                    rate);
      }
    }
  }
}

}  // namespace seendb::perf
