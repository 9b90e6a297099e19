// bench: runs scenarios and appends their figures to a file of JSON lines. perf/run starts it.

#include <cstring>

#include <CLI/CLI.hpp>

#include "scenario/all.h"
#include "scenario/common.h"

namespace {

using seendb::perf::Report;
using seendb::perf::Settings;

struct Scenario {
  const char* name;
  void (*run)(const Settings&, Report*);
};

constexpr Scenario kScenarios[] = {
    {"filter", seendb::perf::RunFilter},     {"history", seendb::perf::RunHistory},
    {"cold", seendb::perf::RunCold},         {"clients", seendb::perf::RunClients},
    {"http", seendb::perf::RunHttp},         {"plays", seendb::perf::RunPlays},
    {"drain", seendb::perf::RunDrain},       {"space", seendb::perf::RunSpace},
    {"recovery", seendb::perf::RunRecovery}, {"growth", seendb::perf::RunGrowth},
    {"stalls", seendb::perf::RunStalls},     {"heartbeats", seendb::perf::RunHeartbeats},
    {"timeline", seendb::perf::RunTimeline}, {"secrets", seendb::perf::RunSecrets},
    {"overload", seendb::perf::RunOverload}, {"ready", seendb::perf::RunReady},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "record-and-die") == 0) {
    seendb::perf::RecordAndDie(argv[2], std::strtoull(argv[3], nullptr, 10),
                               std::strtoull(argv[4], nullptr, 10));
  }
  Settings settings;
  settings.program = "/proc/self/exe";
  std::string out = "/dev/stdout";
  std::vector<std::string> names;
  bool list = false;
  CLI::App app("Measures SeenDB and its peers; see perf/README.md");
  app.add_flag("--quick", settings.quick, "small and short");
  app.add_option("--rounds", settings.rounds, "rounds of every measurement")
      ->check(CLI::Range(1, 1000));
  app.add_option("--redis", settings.redis, "HOST:PORT of a Redis server");
  app.add_option("--server", settings.server, "path of seendb-server");
  app.add_option("--peer", settings.peers, "only this peer, where a scenario has several");
  app.add_option("--only", settings.only,
                 "only the cases of `overload` and `ready` whose names have this");
  app.add_option("--out", out, "file the figures are appended to");
  app.add_flag("--list", list, "print the scenarios' names");
  app.add_option("scenarios", names, "which; all if none is named");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& name : names) {
    const auto known = [&](const Scenario& scenario) { return name == scenario.name; };
    if (std::none_of(std::begin(kScenarios), std::end(kScenarios), known)) {
      seendb::perf::Fail("no scenario is called " + name);
    }
  }
  Report report(out);
  for (const Scenario& scenario : kScenarios) {
    if (list) std::puts(scenario.name);
    const bool wanted =
        names.empty() || std::find(names.begin(), names.end(), scenario.name) != names.end();
    if (list || !wanted) continue;
    const seendb::perf::Stopwatch watch;
    scenario.run(settings, &report);
    std::fprintf(stderr, "bench: %s: %.1f s\n", scenario.name, watch.Seconds());
  }
}
