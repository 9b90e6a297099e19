// The part of /metrics that tells of migrations from old stores.

#include <prometheus/metric_family.h>

#include "ops/metric_family.h"
#include "ops/metrics.h"

namespace seendb::ops {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

struct MigrationGauge {
  const char* name;
  const char* help;
  uint64_t (*value)(const MigrationState&);
};

const MigrationGauge kMigrationGauges[] = {
    {"seendb_migration_imported_users", "Users whose past was imported.",
     [](const MigrationState& m) { return m.imported_users; }},
    {"seendb_migration_import_queue", "Users that the server is about to import.",
     [](const MigrationState& m) { return m.import_queue; }},
    {"seendb_migration_queue_bytes", "Plays that wait to be written to the old store.",
     [](const MigrationState& m) { return m.queue_bytes; }},
    {"seendb_migration_affected_users", "Users some of whose plays the old store lacks.",
     [](const MigrationState& m) { return m.affected_count; }},
    {"seendb_migration_failing", "1 while the old store does not answer as it should.",
     [](const MigrationState& m) { return uint64_t{m.problem.empty() ? 0u : 1u}; }},
};

}  // namespace

void CollectMigrations(const MetricsSnapshot& snapshot, std::vector<MetricFamily>* families) {
  if (snapshot.migrations.empty()) return;
  for (const MigrationGauge& row : kMigrationGauges) {
    families->push_back(MakeFamily(row.name, row.help, MetricType::Gauge));
    for (const MigrationState& one : snapshot.migrations) {
      AddValue(&families->back(), {{"collection", one.collection}},
               static_cast<double>(row.value(one)));
    }
  }
  for (size_t i = 0; i < kMigrationCounts.size(); ++i) {
    families->push_back(
        MakeFamily("seendb_migration_" + std::string(kMigrationCounts[i].name) + "_total",
                   std::string(kMigrationCounts[i].help), MetricType::Counter));
    for (const MigrationState& one : snapshot.migrations) {
      AddValue(&families->back(), {{"collection", one.collection}},
               static_cast<double>(one.counts[i]));
    }
  }
}

}  // namespace seendb::ops
