// Explores the engine's model and executes its transitions on the real engine.
//
//   walk --seconds 60                        # all scopes share the time; SEENDB_TREE is the seed
//   walk --seconds 60 --scopes 1/2           # each second scope, from the first on
//   walk --seconds 600 --seed 7 ring log     # of these scopes
//   walk --play "play c0 u0 i0; rotate s0" ring
//
// Exits with 1 where the engine differs from the model, and prints a shortest script of that.

#include "model/run/walk.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "model/run/play.h"
#include "support/fresh_seed.h"

namespace seendb::model {
namespace {

using Steady = std::chrono::steady_clock;

struct Settings {
  double seconds = 60;
  uint64_t seed = 0;
  uint32_t part = 0, parts = 1;
  std::string script;
  std::vector<const Scope*> scopes;
};

struct Total {
  size_t states = 0, transitions = 0, executed = 0, steps = 0;
  uint64_t kinds = 0;
};

double SecondsSince(Steady::time_point begin) {
  return std::chrono::duration<double>(Steady::now() - begin).count();
}

int PlayScript(const Settings& settings) {
  const auto script = ReadScript(settings.script);
  if (!script || settings.scopes.size() != 1) {
    std::fprintf(stderr, "walk: --play wants a script and a scope\n");
    return 2;
  }
  const Scope& scope = *settings.scopes[0];
  const auto disk = NewDisk(scope);
  const EngineModel model(scope);
  Player player(model, disk.get());
  for (const Action& action : *script) {
    State after = player.state();
    if (!model.Do(action, &after)) {
      std::printf("%s: not possible\n", Text(action).c_str());
      continue;
    }
    const std::string difference = player.Do(action);
    std::printf("%s%s%s\n", Text(action).c_str(), difference.empty() ? "" : ": ",
                difference.c_str());
    if (difference.empty()) continue;
    std::printf("%s\n", Text(scope, player.state()).c_str());
    return 1;
  }
  return 0;
}

// False: the engine differs.
bool WalkScope(const Scope& scope, const Settings& settings, double seconds, Total* total) {
  const Steady::time_point begin = Steady::now();
  Explorer explorer{EngineModel(scope)};
  explorer.Explore();
  if (explorer.violation()) {
    std::printf("%s: VIOLATED in the model: %s\n", std::string(scope.name).c_str(),
                std::string(explorer.violation()->invariant).c_str());
    return false;
  }
  WalkLimits limits;
  limits.end =
      begin + std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(seconds));
  limits.seed = settings.seed;
  limits.part = settings.part;
  limits.parts = settings.parts;
  const Walked walked = Walk(explorer, limits);
  total->states += explorer.states().size();
  total->transitions += explorer.transitions();
  total->executed += walked.transitions;
  total->steps += walked.steps;
  total->kinds |= walked.kinds;
  std::printf(
      "%-12s %8zu states %9zu transitions, %8zu executed (%6.2f%%) in %zu steps of %zu "
      "engines, %.1f s\n",
      std::string(scope.name).c_str(), explorer.states().size(), explorer.transitions(),
      walked.transitions,
      100.0 * static_cast<double>(walked.transitions) / static_cast<double>(explorer.transitions()),
      walked.steps, walked.engines, SecondsSince(begin));
  std::fflush(stdout);
  for (const Row& row : Actions()) {
    const bool mine = static_cast<size_t>(row.kind) % settings.parts == settings.part;
    const uint64_t kind = Of(row.kind) & scope.actions & ~walked.kinds;
    if (!mine || kind == 0 || !walked.difference.empty()) continue;
    std::printf("NOT EXECUTED: %s\n", std::string(row.name).c_str());
    return false;
  }
  if (walked.difference.empty()) return true;
  std::printf("THE ENGINE DIFFERS: %s\n", walked.difference.c_str());
  std::printf("shown by: walk --play \"%s\" %s\n  %s\n", Text(walked.script).c_str(),
              std::string(scope.name).c_str(),
              walked.shown.empty() ? "NOT REPEATED" : walked.shown.c_str());
  std::fflush(stdout);
  return false;
}

int Run(const Settings& settings) {
  const Steady::time_point begin = Steady::now();
  std::printf("seed %llu, part %u of %u\n", static_cast<unsigned long long>(settings.seed),
              settings.part + 1, settings.parts);
  Total total;
  bool good = true;
  for (size_t at = 0; at < settings.scopes.size(); ++at) {
    const double left = std::max(0.0, settings.seconds - SecondsSince(begin));
    const double share = left / static_cast<double>(settings.scopes.size() - at);
    good = WalkScope(*settings.scopes[at], settings, share, &total) && good;
  }
  std::printf("%zu states, %zu transitions, %zu executed (%.2f%%) in %zu steps\n", total.states,
              total.transitions, total.executed,
              100.0 * static_cast<double>(total.executed) / static_cast<double>(total.transitions),
              total.steps);
  return good ? 0 : 1;
}

int Main(const std::vector<std::string>& words) {
  Settings settings;
  settings.seed = test::FreshSeed("model.walk");
  for (size_t at = 0; at < words.size(); ++at) {
    const bool more = at + 1 < words.size();
    if (words[at] == "--seconds" && more) {
      settings.seconds = std::strtod(words[++at].c_str(), nullptr);
    } else if (words[at] == "--seed" && more) {
      settings.seed = std::strtoull(words[++at].c_str(), nullptr, 10);
    } else if (words[at] == "--part" && more) {
      settings.part = static_cast<uint32_t>(std::strtoul(words[++at].c_str(), nullptr, 10)) - 1;
    } else if (words[at] == "--parts" && more) {
      settings.parts = static_cast<uint32_t>(std::strtoul(words[++at].c_str(), nullptr, 10));
    } else if (words[at] == "--scopes" && more) {
      char* end = nullptr;
      const size_t first = std::strtoul(words[++at].c_str(), &end, 10);
      const size_t step = *end == '/' ? std::strtoul(end + 1, nullptr, 10) : 0;
      if (first == 0 || step == 0) return 2;
      for (size_t scope = first - 1; scope < Scopes().size(); scope += step) {
        settings.scopes.push_back(&Scopes()[scope]);
      }
    } else if (words[at] == "--play" && more) {
      settings.script = words[++at];
    } else if (const Scope* scope = FindScope(words[at])) {
      settings.scopes.push_back(scope);
    } else {
      std::fprintf(stderr, "walk: no scope %s\n", words[at].c_str());
      return 2;
    }
  }
  if (settings.part >= settings.parts) return 2;
  if (!settings.script.empty()) return PlayScript(settings);
  if (settings.scopes.empty()) {
    for (const Scope& scope : Scopes()) settings.scopes.push_back(&scope);
  }
  return Run(settings);
}

}  // namespace
}  // namespace seendb::model

int main(int argc, char** argv) {
  try {
    return seendb::model::Main({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "walk: %s\n", e.what());
    return 2;
  }
}
