// The metrics of the store of sets; none where there is no store.

#include "ops/metric_family.h"
#include "ops/metrics.h"

namespace seendb::ops {

void CollectSets(const MetricsSnapshot& snapshot, std::vector<prometheus::MetricFamily>* families) {
  if (!snapshot.sets) return;
  const auto add = [&](const char* name, const char* help, uint64_t value) {
    families->push_back(MakeFamily(name, help, prometheus::MetricType::Gauge));
    AddValue(&families->back(), {}, static_cast<double>(value));
  };
  const SetsState& sets = *snapshot.sets;
  add("seendb_sets", "Named sets of items.", sets.sets);
  add("seendb_sets_ids", "Ids of all sets together.", sets.ids);
  add("seendb_sets_memory_bytes", "Memory of all sets together.", sets.memory_bytes);
  add("seendb_sets_limit_bytes", "Most memory that sets may take.", sets.limit_bytes);
  add("seendb_sets_damaged", "Sets of which part could not be read.", sets.damaged);
}

}  // namespace seendb::ops
