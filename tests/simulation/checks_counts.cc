#include "simulation/checks_counts.h"

#include <map>

#include "seendb/counts.h"
#include "simulation/checks.h"

namespace seendb::simulation {

void CheckCounts(const Model& model, const std::string& collection, const std::string& user,
                 Engine* engine, Tally* tally) {
  CountsPage page;
  const Status status = engine->ReadCounts(
      {.user = IdRef(user), .collection = collection, .kind = kCountedKind}, &page);
  const std::string what = "counts " + collection + " " + user + ": ";
  if (!status.ok()) throw Violation(what + status.ToString());
  if (page.degraded) return;
  std::map<std::string, GroupCounts> groups;
  for (const GroupCounts& group : page.groups) groups[group.group] = group;
  for (int i = 0; i < 3; ++i) {
    const std::string group = std::string(kCountedKind) + ":" + std::to_string(i);
    const GroupCounts& counts = groups[group];
    for (const Fact fact : {Fact::kServed, Fact::kExposed}) {
      for (size_t span = 0; span < kCountedSpansMs.size(); ++span) {
        const uint32_t events = counts.by_fact[static_cast<size_t>(fact)].events[span];
        const CountedRange expected =
            model.ExpectCounted(collection, user, group, fact, kCountedSpansMs[span]);
        tally->counted += events;
        if (events >= expected.least && events <= expected.most) continue;
        throw Violation(what + group + " " + std::string(FactName(fact)) + " has " +
                        std::to_string(events) + " events, not " + std::to_string(expected.least) +
                        " to " + std::to_string(expected.most));
      }
    }
  }
}

}  // namespace seendb::simulation
