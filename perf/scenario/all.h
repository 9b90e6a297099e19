// scenario/all.h: every scenario of the benchmark. Each is one function in the file of its name; it
// measures in rounds, one peer after the other within a round, and reports every round.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/report.h"

namespace seendb::perf {

/// How a run goes.
struct Settings {
  bool quick = false;   ///< small and short: shows that all works, and orders of magnitude
  int rounds = 5;       ///< of every measurement
  std::string redis;    ///< HOST:PORT, or empty: no Redis peers
  std::string server;   ///< path of seendb-server, or empty: no HTTP
  std::string program;  ///< path of this program
  std::vector<std::string> peers;  ///< only these; all if none is named
  std::string only;                ///< cases of overload whose names have it; empty: all
};

// What each of them measures is said in its file and in perf/README.md.
void RunFilter(const Settings& settings, Report* report);
void RunHistory(const Settings& settings, Report* report);
void RunCold(const Settings& settings, Report* report);
void RunClients(const Settings& settings, Report* report);
void RunPlays(const Settings& settings, Report* report);
void RunDrain(const Settings& settings, Report* report);
void RunSpace(const Settings& settings, Report* report);
void RunRecovery(const Settings& settings, Report* report);
void RunGrowth(const Settings& settings, Report* report);
void RunStalls(const Settings& settings, Report* report);
void RunHeartbeats(const Settings& settings, Report* report);
void RunTimeline(const Settings& settings, Report* report);
void RunHttp(const Settings& settings, Report* report);
void RunOverload(const Settings& settings, Report* report);
void RunReady(const Settings& settings, Report* report);
void RunSecrets(const Settings& settings, Report* report);

/// The process that RunRecovery starts and that kills itself: records `plays` in batches of `batch`
/// plays of one user into the database in `path`.
[[noreturn]] void RecordAndDie(const std::string& path, uint64_t plays, uint64_t batch);
/// Runs that process, and leaves the database with so many plays in its journals.
void LeaveJournal(const Settings& settings, const std::string& path, uint64_t plays,
                  uint64_t batch);

}  // namespace seendb::perf
