// The part of /metrics that tells of migrations from old stores.

#include <prometheus/metric_family.h>

#include "ops/metric_rows.h"
#include "ops/metrics.h"

namespace seendb::ops {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

const MetricRow<MigrationState> kMigration[] = {
    {"seendb_migration_imported_users", "Users whose past was imported.", kGauge,
     MemberValue<&MigrationState::imported_users>},
    {"seendb_migration_import_queue", "Users that the server is about to import.", kGauge,
     MemberValue<&MigrationState::import_queue>},
    {"seendb_migration_queue_bytes", "Plays that wait to be written to the old store.", kGauge,
     MemberValue<&MigrationState::queue_bytes>},
    {"seendb_migration_affected_users", "Users some of whose plays the old store lacks.", kGauge,
     MemberValue<&MigrationState::affected_count>},
    {"seendb_migration_failing", "1 while the old store does not answer as it should.", kGauge,
     [](const MigrationState& m) { return std::optional(m.problem.empty() ? 0.0 : 1.0); }},
};

}  // namespace

void CollectMigrations(const MetricsSnapshot& snapshot, std::vector<MetricFamily>* families) {
  if (snapshot.migrations.empty()) return;
  std::vector<std::pair<Labels, const MigrationState*>> all;
  for (const MigrationState& one : snapshot.migrations) {
    all.emplace_back(Labels{{"collection", one.collection}}, &one);
  }
  AddRows(kMigration, all, families);
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
