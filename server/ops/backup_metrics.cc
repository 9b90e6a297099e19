// The metrics of the last backup; none until there was one.

#include "ops/metric_family.h"
#include "ops/metrics.h"

namespace seendb::ops {

void CollectBackup(const MetricsSnapshot& snapshot,
                   std::vector<prometheus::MetricFamily>* families) {
  if (!snapshot.last_backup) return;
  const BackupNote& last = *snapshot.last_backup;
  const auto add = [&](const char* name, const char* help, double value) {
    families->push_back(MakeFamily(name, help, prometheus::MetricType::Gauge));
    AddValue(&families->back(), {}, value);
  };
  add("seendb_last_backup_seconds",
      "When the last backup by seendb backup create --url was complete, in seconds since 1970; "
      "absent until there was one.",
      static_cast<double>(last.at_ms) * 1e-3);
  add("seendb_last_backup_bytes", "The size of the database in it.",
      static_cast<double>(last.bytes));
  add("seendb_last_backup_new_bytes", "The part of it that no earlier backup had.",
      static_cast<double>(last.new_bytes));
  add("seendb_last_backup_duration_seconds", "How long it took.",
      static_cast<double>(last.took_ms) * 1e-3);
}

}  // namespace seendb::ops
