// simulate: runs scripts of simulated months against the engine and an exact model.
//
//   simulate --seed 7                    one seed, exactly as it ran before
//   simulate --seeds-file seeds.txt --seconds 120
//                                        the seeds of a file, then fresh ones for two minutes
//   simulate --script failed.txt         a script, as printed by a failure
//
// Exits with 1 when a promise was broken; then the seed and a minimised script are printed.

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include <CLI/CLI.hpp>

#include "simulation/generate.h"
#include "simulation/minimise.h"

namespace seendb::simulation {
namespace {

using Steady = std::chrono::steady_clock;

double SecondsSince(Steady::time_point begin) {
  return std::chrono::duration<double>(Steady::now() - begin).count();
}

struct Settings {
  std::vector<uint64_t> seeds;
  std::string seeds_file, script_file, save_file;
  uint64_t first = 1, count = 0;
  double seconds = 0;
  double minimise_seconds = 60;
  unsigned jobs = 1;
  bool print = false;
  Scale scale;
};

// The first word of each line; the rest says what the seed found.
std::vector<uint64_t> ReadSeeds(const std::string& path) {
  std::vector<uint64_t> seeds;
  std::ifstream in(path);
  if (!in) throw std::runtime_error("can't read " + path);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') seeds.push_back(std::stoull(line));
  }
  return seeds;
}

// Runs seeds on some threads and adds up what they did.
class Campaign {
 public:
  explicit Campaign(const Settings& settings) : settings_(settings), seeds_(settings.seeds) {
    if (!settings.seeds_file.empty()) {
      const std::vector<uint64_t> known = ReadSeeds(settings.seeds_file);
      seeds_.insert(seeds_.end(), known.begin(), known.end());
    }
    for (uint64_t i = 0; i < settings.count; ++i) seeds_.push_back(settings.first + i);
    std::random_device chance;
    fresh_ = (uint64_t{chance()} << 32) | chance();
  }

  bool Run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < settings_.jobs; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    const double spent = SecondsSince(begin_);
    std::cout << runs_ << " seeds, " << failed_ << " failed, " << spent << " s, "
              << tally_.months / spent << " simulated months/s (" << settings_.scale.users
              << " users, " << settings_.scale.rounds << " rounds a month)\n"
              << tally_.ToText() << std::endl;
    if (!tally_.WithinBudget()) std::cout << "FALSE POSITIVES BEYOND THE BUDGET" << std::endl;
    return failed_ == 0 && tally_.WithinBudget();
  }

 private:
  std::optional<uint64_t> Next() {
    const std::lock_guard lock(mutex_);
    if (failed_ > 0) return std::nullopt;
    if (next_ < seeds_.size()) return seeds_[next_++];
    if (SecondsSince(begin_) >= settings_.seconds) return std::nullopt;
    const uint64_t seed = fresh_++;
    return seed;
  }

  void Work() {
    while (const std::optional<uint64_t> seed = Next()) {
      const Script script = Generate(*seed, settings_.scale);
      const Outcome outcome = Simulate(script);
      const std::lock_guard lock(mutex_);
      ++runs_;
      tally_.Add(outcome.tally);
      if (outcome.failed) Report(*seed, script, outcome);
    }
  }

  void Report(uint64_t seed, const Script& script, const Outcome& outcome) {
    ++failed_;
    std::cout << "SEED " << seed << " (--months " << settings_.scale.months << " --rounds "
              << settings_.scale.rounds << " --users " << settings_.scale.users
              << ") BROKE A PROMISE at operation " << outcome.operation << ": " << outcome.what
              << "\nMaking it smaller..." << std::endl;
    const Script small = Minimise(script, OpenEngine, settings_.minimise_seconds);
    const Outcome again = Simulate(small);
    std::cout << (again.failed ? again.what : "not repeated by the script below") << "\n"
              << ToText(small) << std::endl;
    if (!settings_.save_file.empty()) std::ofstream(settings_.save_file) << ToText(small);
  }

  const Settings& settings_;
  const Steady::time_point begin_ = Steady::now();
  std::mutex mutex_;
  std::vector<uint64_t> seeds_;
  size_t next_ = 0;
  uint64_t fresh_ = 0;
  uint64_t runs_ = 0, failed_ = 0;
  Tally tally_;
};

int RunScript(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  std::string error;
  const std::optional<Script> script = Parse(text.str(), &error);
  if (!in || !script) {
    std::cerr << path << ": " << (in ? error : "can't be read") << std::endl;
    return 2;
  }
  const Outcome outcome = Simulate(*script);
  std::cout << outcome.tally.ToText() << "\ndigest " << outcome.digest << std::endl;
  if (!outcome.failed) return 0;
  std::cout << "BROKE A PROMISE at operation " << outcome.operation;
  if (outcome.operation < script->operations.size()) {
    std::cout << " (" << ToText(script->operations[outcome.operation]) << ")";
  }
  std::cout << ": " << outcome.what << std::endl;
  return 1;
}

int Main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Simulated months against an exact model");
  app.add_option("--seed", settings.seeds, "seeds to run");
  app.add_option("--seeds-file", settings.seeds_file, "a file of them, one a line");
  app.add_option("--first", settings.first, "of --count seeds in a row");
  app.add_option("--count", settings.count, "so many seeds from --first on");
  app.add_option("--script", settings.script_file, "run this script");
  app.add_option("--seconds", settings.seconds, "then fresh seeds for so long");
  app.add_option("--months", settings.scale.months, "simulated, a seed");
  app.add_option("--rounds", settings.scale.rounds, "a month");
  app.add_option("--users", settings.scale.users, "of a seed");
  app.add_option("--jobs", settings.jobs, "threads");
  app.add_option("--minimise-seconds", settings.minimise_seconds, "for a failing script");
  app.add_option("--save", settings.save_file, "where to write a minimised script");
  app.add_flag("--print", settings.print, "print the scripts of the seeds, run nothing");
  CLI11_PARSE(app, argc, argv);
  if (settings.print) {
    for (const uint64_t seed : settings.seeds) std::cout << ToText(Generate(seed, settings.scale));
    return 0;
  }
  if (!settings.script_file.empty()) return RunScript(settings.script_file);
  return Campaign(settings).Run() ? 0 : 1;
}

}  // namespace
}  // namespace seendb::simulation

int main(int argc, char** argv) {
  try {
    return seendb::simulation::Main(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << e.what() << std::endl;
    return 2;
  }
}
