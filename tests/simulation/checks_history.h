// tests/simulation/checks_history.h: pages and look-ups of the engine against what the model knows.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "seendb/engine.h"
#include "simulation/model.h"
#include "simulation/tally.h"

namespace seendb::simulation {

/// A list being read, page after page.
struct Reading {
  std::vector<std::string> of = {};  ///< collections asked for; none: all that keep history
  uint32_t limit = 20;
  std::string cursor = {};
  /// The last entry shown; nothing before the first page.
  std::optional<HistoryEntry> last = {};
  std::map<std::string, uint64_t> shown = {};  ///< by collection
};

/// Throws a Violation where an entry is none that a look-up may answer; `learn`: the model takes
/// the answer to heart, as nothing else went on.
void CheckLookup(Model* model, const std::string& collection, const std::string& user,
                 const std::vector<std::string>& items, const HistoryLookup& found, bool excused,
                 bool learn);

/// The same for the next page of a reading, which goes on.
void CheckPage(const Model& model, const std::string& user, const HistoryPage& page, bool excused,
               Reading* reading);

/// Whether a request for these collections must be answered.
bool KeepsHistory(const Model& model, const std::vector<std::string>& of);

}  // namespace seendb::simulation
