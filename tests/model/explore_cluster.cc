// Explores the models of a cluster and prints what was visited.
//
//   explore_cluster [--transitions N] [SCOPE ...]    # without names: all that are not large
//
// Exits with 1 where a state violates an invariant, and prints a shortest way there.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "model/cluster/lead_world.h"
#include "model/cluster/log_world.h"
#include "model/cluster/move_world.h"
#include "model/explorer.h"

namespace seendb::cluster_model {
namespace {

struct Asked {
  model::Limits limits;
  std::vector<std::string> names;
  size_t found = 0;  // of the names
  size_t states = 0, transitions = 0;

  bool Has(const Scope& scope) {
    if (names.empty()) return !scope.name.ends_with("-large");
    const bool has = std::count(names.begin(), names.end(), scope.name) > 0;
    found += has ? 1 : 0;
    return has;
  }
};

template <typename Model>
bool ExploreScopes(const std::vector<Scope>& scopes, Asked* asked) {
  bool good = true;
  for (const Scope& scope : scopes) {
    if (!asked->Has(scope)) continue;
    const auto began = std::chrono::steady_clock::now();
    model::Explorer explorer{Model(scope)};
    explorer.Explore(asked->limits);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    asked->states += explorer.states().size();
    asked->transitions += explorer.transitions();
    std::printf("%-12s %9zu states %10zu transitions %6.1f s%s\n", std::string(scope.name).c_str(),
                explorer.states().size(), explorer.transitions(), took.count(),
                explorer.whole() ? "" : "  not whole");
    std::fflush(stdout);
    if (!explorer.violation()) continue;
    good = false;
    std::printf("VIOLATED: %s\n", std::string(explorer.violation()->invariant).c_str());
    for (const Action& action : explorer.Script(explorer.violation()->state)) {
      std::printf("  %s\n", explorer.model().Text(action).c_str());
    }
    const auto& state = explorer.states()[explorer.violation()->state];
    std::printf("%s\n", explorer.model().Text(state).c_str());
  }
  return good;
}

int Main(const std::vector<std::string>& words) {
  Asked asked;
  for (size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--transitions" && at + 1 < words.size()) {
      asked.limits.transitions = std::strtoull(words[++at].c_str(), nullptr, 10);
    } else {
      asked.names.push_back(words[at]);
    }
  }
  bool good = ExploreScopes<LogModel>(LogScopes(), &asked);
  good = ExploreScopes<MoveModel>(MoveScopes(), &asked) && good;
  good = ExploreScopes<LeadModel>(LeadScopes(), &asked) && good;
  if (asked.found != asked.names.size()) {
    std::fprintf(stderr, "explore_cluster: a scope that is not there\n");
    return 2;
  }
  std::printf("%zu states, %zu transitions\n", asked.states, asked.transitions);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace seendb::cluster_model

int main(int argc, char** argv) {
  try {
    return seendb::cluster_model::Main({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "explore_cluster: %s\n", e.what());
    return 2;
  }
}
