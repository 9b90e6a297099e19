// Recovery: a process records plays and is killed; how long does the next Open take, log recovery
// and replay of the ring included? Batches of 10 plays of one user, and single plays, 4 shards.

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "scenario/all.h"
#include "scenario/common.h"
#include "seendb/engine.h"

namespace seendb::perf {

void RecordAndDie(const std::string& path, uint64_t plays, uint64_t batch) {
  Options options;
  options.background = false;  // all of it is replayed, none is drained before
  auto opened = Engine::Open(path, options);
  Check(opened.status());
  Random random(7);
  std::vector<Play> some(batch);
  for (uint64_t done = 0; done < plays; done += batch) {
    const IdRef user(random.Below(200'000));
    for (Play& play : some) play = {user, IdRef(random.Next()), std::nullopt};
    Check((*opened)->RecordPlays(some).status());
  }
  std::raise(SIGKILL);
  std::abort();
}

void LeaveJournal(const Settings& settings, const std::string& path, uint64_t plays,
                  uint64_t batch) {
  const pid_t child = fork();
  if (child == 0) {
    execl(settings.program.c_str(), "bench", "record-and-die", path.c_str(),
          std::to_string(plays).c_str(), std::to_string(batch).c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) {
    Fail("recovery: the recording process did not die as it should");
  }
}

namespace {

double ReplayedPerSecond(const Settings& settings, uint64_t plays, uint64_t batch) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/db";
  LeaveJournal(settings, path, plays, batch);
  Options options;
  options.background = false;
  const Stopwatch watch;
  auto opened = Engine::Open(path, options);
  const double seconds = watch.Seconds();
  Check(opened.status());
  if ((*opened)->Stats().replayed_plays != plays) Fail("recovery: plays are missing");
  return static_cast<double>(plays) / seconds;
}

}  // namespace

void RunRecovery(const Settings& settings, Report* report) {
  const uint64_t plays = settings.quick ? 200'000 : 2'000'000;
  for (int round = 0; round < std::min(settings.rounds, 3); ++round) {
    for (const uint64_t batch : {10, 1}) {
      report->Add({"recovery",
                   {{"batch", Number(static_cast<double>(batch))}},
                   "seendb",
                   "plays_per_s",
                   Better::kMore},
                  ReplayedPerSecond(settings, plays, batch));
    }
  }
}

}  // namespace seendb::perf
