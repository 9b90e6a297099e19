// seendb/sizing_plan.h: what a workload takes of a machine, by the formulas of
// engine/doc/capacity.md. Whoever changes a figure here changes it there.

#pragma once

#include <cstdint>

namespace seendb::tool {

/// Who watches how much. Defaults are the assumptions of capacity.md.
struct Workload {
  double users = 0;
  double items_a_month = 0;          ///< of a user, distinct
  double months = 6;                 ///< that are kept (policy: retention)
  double window_months = 4;          ///< that a question reads (policy: window)
  double active_a_day = 0.2;         ///< part of the users
  double requests_a_day = 20;        ///< filter requests of an active user, of 5,000 candidates
  double peak = 3;                   ///< the busiest hour over the mean
  double active_at_once = 0.05;      ///< part of the users whose filters are to be in memory
  double served_bytes_a_user = 772;  ///< of impressions: 5 calls of 20 items
};

/// What it takes. Bytes are those of files and structures; memory of the process comes on top.
struct SizingPlan {
  double plays_disk_bytes = 0, impressions_disk_bytes = 0;
  double spare_disk_bytes = 0;  ///< to keep free: a seal rewrites the filters of its month
  double plays_in_busiest_hour = 0;
  double staged_bytes = 0;      ///< plays of that hour in memory
  double hot_filter_bytes = 0;  ///< engine.block_cache_bytes
  double restart_s = 0;         ///< with that hour's plays not drained, single plays
  double filters_per_s = 0, filter_cores = 0;
  double cold_reads_per_s = 0;  ///< where no filter is in memory
};

/// Bytes on disk of so many items, in so many filters: of a user one a month.
double PlaysDiskBytes(double items, double filters);
SizingPlan PlanFor(const Workload& workload);

}  // namespace seendb::tool
