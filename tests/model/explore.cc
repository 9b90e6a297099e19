// Explores the engine's model and prints what was visited.
//
//   explore [--transitions N] [SCOPE ...]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "model/action.h"
#include "model/explorer.h"

namespace seendb::model {
namespace {

bool ExploreScope(const Scope& scope, const Limits& limits) {
  const auto began = std::chrono::steady_clock::now();
  Explorer explorer{EngineModel(scope)};
  explorer.Explore(limits);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("%-12s %9zu states %10zu transitions %6.1f s%s\n", std::string(scope.name).c_str(),
              explorer.states().size(), explorer.transitions(), took.count(),
              explorer.whole() ? "" : "  not whole");
  std::fflush(stdout);
  if (!explorer.violation()) return true;
  std::printf("VIOLATED: %s\n", std::string(explorer.violation()->invariant).c_str());
  for (const Action& action : explorer.Script(explorer.violation()->state)) {
    std::printf("  %s\n", Text(action).c_str());
  }
  std::printf("%s\n", Text(scope, explorer.states()[explorer.violation()->state]).c_str());
  return false;
}

int Main(const std::vector<std::string>& words) {
  Limits limits;
  std::vector<const Scope*> scopes;
  for (size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--transitions" && at + 1 < words.size()) {
      limits.transitions = std::strtoull(words[++at].c_str(), nullptr, 10);
    } else if (const Scope* scope = FindScope(words[at])) {
      scopes.push_back(scope);
    } else {
      std::fprintf(stderr, "explore: no scope %s\n", words[at].c_str());
      return 2;
    }
  }
  if (scopes.empty()) {
    for (const Scope& scope : Scopes()) scopes.push_back(&scope);
  }
  bool good = true;
  for (const Scope* scope : scopes) good = ExploreScope(*scope, limits) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace seendb::model

int main(int argc, char** argv) { return seendb::model::Main({argv + 1, argv + argc}); }
