// simulate: runs scripts of simulated months against the engine and an exact model.
//
//   simulate --seed 7                    one seed, exactly as it ran before
//   simulate --known known.txt --seconds 120 --jobs 0
//                                        what found something before, then fresh seeds for two
//                                        minutes on all cores
//   simulate --scale small --count 100   seeds 1 to 100 at a small scale
//   simulate --script failed.txt         a script, as printed by a failure
//
// Scales: `usual` is 12 months of 24 users, 20 rounds a month; `small` 6 months of 6 users, 6
// rounds a month, each with all that a round may bring.
//
// Exits with 1 when a promise was broken; then the seed and a minimised script are printed.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include <CLI/CLI.hpp>

#include "simulation/generate.h"
#include "simulation/minimise.h"
#include "support/fresh_seed.h"

namespace seendb::simulation {
namespace {

using Steady = std::chrono::steady_clock;

double SecondsSince(Steady::time_point begin) {
  return std::chrono::duration<double>(Steady::now() - begin).count();
}

struct Settings {
  std::vector<uint64_t> seeds;
  std::string known_file, script_file, save_file, scale_name = "usual";
  uint64_t first = 1, count = 0, fresh = 0;
  double seconds = 0;
  double minimise_seconds = 60;
  unsigned jobs = 1;
  bool print = false;
  Scale scale;
};

constexpr Scale kUsual;
constexpr Scale kSmall = {.months = 6, .rounds = 6, .users = 6};

Script ReadScript(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  std::string error = "can't be read";
  std::optional<Script> script;
  if (in) script = Parse(text.str(), &error);
  if (!script) throw std::runtime_error(path.string() + ": " + error);
  return *std::move(script);
}

// One thing to run.
struct Job {
  std::string name;  // what repeats it
  Script script;
};

// The first word of each line is a seed or a script's name; the rest says what it found.
std::vector<Job> ReadKnown(const std::filesystem::path& path) {
  std::vector<Job> jobs;
  std::ifstream in(path);
  if (!in) throw std::runtime_error("can't read " + path.string());
  for (std::string line; std::getline(in, line);) {
    const std::string word = line.substr(0, line.find(' '));
    if (word.empty() || word[0] == '#') continue;
    if (word.find_first_not_of("0123456789") == std::string::npos) {
      jobs.push_back({"--seed " + word, Generate(std::stoull(word), kUsual)});
    } else {
      const std::filesystem::path script = path.parent_path() / "scripts" / word;
      jobs.push_back({"--script " + script.string(), ReadScript(script)});
    }
  }
  return jobs;
}

// Runs seeds on some threads and adds up what they did.
class Campaign {
 public:
  explicit Campaign(const Settings& settings) : settings_(settings), seeds_(settings.seeds) {
    if (!settings.known_file.empty()) known_ = ReadKnown(settings.known_file);
    for (uint64_t i = 0; i < settings.count; ++i) seeds_.push_back(settings.first + i);
    // Below 2^53, so that every tool can hold it.
    fresh_ =
        settings.fresh != 0 ? settings.fresh : test::FreshSeed("simulate") & ((1ULL << 52) - 1);
    if (settings.seconds > 0) std::cout << "fresh seeds from " << fresh_ << " on" << std::endl;
  }

  bool Run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < settings_.jobs; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    const double spent = SecondsSince(begin_);
    std::cout << runs_ << " scripts, " << failed_ << " failed, " << spent << " s, "
              << tally_.months / spent << " simulated months/s (" << settings_.scale.users
              << " users, " << settings_.scale.rounds << " rounds a month)\n"
              << tally_.ToText() << std::endl;
    if (!tally_.WithinBudget()) std::cout << "FALSE POSITIVES BEYOND THE BUDGET" << std::endl;
    return failed_ == 0 && tally_.WithinBudget();
  }

 private:
  std::optional<Job> Next() {
    uint64_t seed = 0;
    {
      const std::lock_guard lock(mutex_);
      if (failed_ > 0) return std::nullopt;
      if (next_known_ < known_.size()) return known_[next_known_++];
      if (next_ < seeds_.size()) {
        seed = seeds_[next_++];
      } else if (SecondsSince(begin_) < settings_.seconds) {
        seed = fresh_++;
      } else {
        return std::nullopt;
      }
    }
    const Scale& scale = settings_.scale;
    return Job{"--seed " + std::to_string(seed) + " --months " + std::to_string(scale.months) +
                   " --rounds " + std::to_string(scale.rounds) + " --users " +
                   std::to_string(scale.users),
               Generate(seed, scale)};
  }

  void Work() {
    while (const std::optional<Job> job = Next()) {
      const Outcome outcome = Simulate(job->script);
      const std::lock_guard lock(mutex_);
      ++runs_;
      tally_.Add(outcome.tally);
      if (outcome.failed) Report(*job, outcome);
    }
  }

  void Report(const Job& job, const Outcome& outcome) {
    ++failed_;
    std::cout << job.name << " BROKE A PROMISE at operation " << outcome.operation << ": "
              << outcome.what << "\nMaking it smaller..." << std::endl;
    const Script small = Minimise(job.script, OpenEngine, settings_.minimise_seconds);
    const Outcome again = Simulate(small);
    std::cout << (again.failed ? again.what : "not repeated by the script below") << "\n"
              << ToText(small) << std::endl;
    if (!settings_.save_file.empty()) std::ofstream(settings_.save_file) << ToText(small);
  }

  const Settings& settings_;
  const Steady::time_point begin_ = Steady::now();
  std::mutex mutex_;
  std::vector<Job> known_;
  std::vector<uint64_t> seeds_;
  size_t next_known_ = 0, next_ = 0;
  uint64_t fresh_ = 0;
  uint64_t runs_ = 0, failed_ = 0;
  Tally tally_;
};

int RunScript(const std::string& path) {
  const Script script = ReadScript(path);
  const Outcome outcome = Simulate(script);
  std::cout << outcome.tally.ToText() << "\ndigest " << outcome.digest << std::endl;
  if (!outcome.failed) return 0;
  std::cout << "BROKE A PROMISE at operation " << outcome.operation;
  if (outcome.operation < script.operations.size()) {
    std::cout << " (" << ToText(script.operations[outcome.operation]) << ")";
  }
  std::cout << ": " << outcome.what << std::endl;
  return 1;
}

int Main(int argc, char** argv) {
  Settings settings;
  int months = 0, rounds = 0, users = 0;
  CLI::App app("Simulated months against an exact model");
  app.add_option("--seed", settings.seeds, "seeds to run");
  app.add_option("--known", settings.known_file, "a file of seeds and scripts, one a line");
  app.add_option("--first", settings.first, "of --count seeds in a row");
  app.add_option("--count", settings.count, "so many seeds from --first on");
  app.add_option("--script", settings.script_file, "run this script");
  app.add_option("--seconds", settings.seconds, "then fresh seeds for so long");
  app.add_option("--fresh", settings.fresh, "the first of them, instead of a random one");
  app.add_option("--scale", settings.scale_name, "how much happens: usual or small")
      ->check(CLI::IsMember({"usual", "small"}));
  app.add_option("--months", months, "simulated, a seed, instead of the scale's");
  app.add_option("--rounds", rounds, "a month");
  app.add_option("--users", users, "of a seed");
  app.add_option("--jobs", settings.jobs, "threads; 0: one a core");
  app.add_option("--minimise-seconds", settings.minimise_seconds, "for a failing script");
  app.add_option("--save", settings.save_file, "where to write a minimised script");
  app.add_flag("--print", settings.print, "print the scripts of the seeds, run nothing");
  CLI11_PARSE(app, argc, argv);
  settings.scale = settings.scale_name == "small" ? kSmall : kUsual;
  if (months > 0) settings.scale.months = months;
  if (rounds > 0) settings.scale.rounds = rounds;
  if (users > 0) settings.scale.users = users;
  if (settings.jobs == 0) settings.jobs = std::max(1U, std::thread::hardware_concurrency());
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
