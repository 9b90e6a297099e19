// Cold: the database was closed and opened again (its own caches are empty) and its files were put
// out of the page cache by posix_fadvise; a tenth of the users were asked about since, which brings
// indexes and filters back; now each other user is asked about once, 5,000 candidates, 20% played,
// 4 months of 3,300 items. The disk's own cache, and a virtual disk's host, may still hold the
// bytes: the reads a question are the figure that lasts. Redis has no cold cache: its data is in
// memory or not there.

#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "scenario/contest.h"
#include "scenario/counting_env.h"

namespace seendb::perf {
namespace {

constexpr std::string_view kPeers[] = {"seendb-sealed", "seendb-exact", "rocksdb-rmw",
                                       "rocksdb-delta"};

void DropPages(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const int file = open(entry.path().c_str(), O_RDONLY);
    if (file < 0) continue;
    // Only clean pages go.
    if (fsync(file) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) {
      Fail("the page cache of " + entry.path().string() + " can't be dropped");
    }
    close(file);
  }
}

struct Cold {
  std::vector<double> us;
  double reads = 0;  // a question
};

Cold AskOnce(Contestant* contestant, const std::string& folder, const CountingEnv& env,
             const std::vector<Question>& questions) {
  DropPages(folder);
  contestant->peer->Reopen();
  DropPages(folder);  // what opening brought back
  const auto session = contestant->peer->Connect();
  std::vector<uint32_t> unseen;
  const size_t warm = questions.size() / 10;
  // Users are spread over the files, so that every index is brought back.
  for (size_t i = 0; i < warm; ++i) session->Ask(questions[i * 10], &unseen);
  Cold cold;
  const uint64_t before = env.reads();
  for (size_t i = 0; i < questions.size(); ++i) {
    if (i % 10 == 0) continue;
    const Stopwatch one;
    session->Ask(questions[i], &unseen);
    cold.us.push_back(one.Seconds() * 1e6);
  }
  cold.reads = static_cast<double>(env.reads() - before) / static_cast<double>(cold.us.size());
  return cold;
}

}  // namespace

void RunCold(const Settings& settings, Report* report) {
  const TemporaryFolder folder;
  CountingEnv env;
  PeerOptions options;
  options.folder = folder.path();
  options.env = env.env();
  Plays plays;
  plays.users = settings.quick ? 200 : 2'000;
  plays.drains = 2;
  plays.items_a_month = Everybody(options.items_a_month);
  std::vector<Contestant> contestants = Invite(settings, "cold", kPeers, options, report);
  for (Contestant& contestant : contestants) Load(contestant.peer.get(), plays);
  // Every third user: blocks of 16 KB hold two or three filters, and read one they bring others.
  std::vector<Question> questions;
  for (uint64_t user = 0; user < plays.users; user += 3) questions.push_back(Ask(user, {}));
  for (int round = 0; round < settings.rounds; ++round) {
    for (Contestant& contestant : contestants) {
      const Cold cold = AskOnce(&contestant, folder.path() + "/" + contestant.name, env, questions);
      report->Add({"cold", {}, contestant.name, "latency_us"}, Quantile(cold.us, 0.5));
      report->Add({"cold", {}, contestant.name, "p99_us"}, Quantile(cold.us, 0.99));
      report->Add({"cold", {}, contestant.name, "reads_a_question"}, cold.reads);
    }
  }
}

}  // namespace seendb::perf
