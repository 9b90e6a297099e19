#include "sizing_plan.h"

namespace seendb::tool {
namespace {

// capacity.md, "Formulas": fits both of its rows, 3.49 bytes an item on disk for 30 items a month
// and 2.1 for 3,300; of the window 465 bytes for 100 items and 28,000 for 10,000.
constexpr double kDiskBytesPerItem = 2.1;
constexpr double kDiskBytesPerFilter = 42;
constexpr double kWindowBytesPerItem = 2.8;
constexpr double kWindowBytesPerUser = 185;
constexpr double kStagedUserBytes = 64 + 16;  // and a name
constexpr double kStagedPlayBytes = 8;
constexpr double kReplayedPerS = 1'210'000;
constexpr double kFiltersPerCoreAndS = 4'270;
constexpr double kColdReadsPerFilter = 3.77;
constexpr double kHoursOfMonth = 720;
constexpr double kSecondsOfDay = 86'400;

}  // namespace

double PlaysDiskBytes(double items, double filters) {
  return items * kDiskBytesPerItem + filters * kDiskBytesPerFilter;
}

SizingPlan PlanFor(const Workload& of) {
  SizingPlan plan;
  const double items_of_month = of.users * of.items_a_month;
  plan.plays_disk_bytes = PlaysDiskBytes(items_of_month * of.months, of.users * of.months);
  plan.impressions_disk_bytes = of.users * of.served_bytes_a_user;
  plan.spare_disk_bytes = PlaysDiskBytes(items_of_month, of.users);
  plan.plays_in_busiest_hour = items_of_month / kHoursOfMonth * of.peak;
  plan.staged_bytes = of.users * of.active_at_once * kStagedUserBytes +
                      plan.plays_in_busiest_hour * kStagedPlayBytes;
  plan.hot_filter_bytes =
      of.users * of.active_at_once *
      (of.items_a_month * of.window_months * kWindowBytesPerItem + kWindowBytesPerUser);
  plan.restart_s = plan.plays_in_busiest_hour / kReplayedPerS;
  plan.filters_per_s = of.users * of.active_a_day * of.requests_a_day * of.peak / kSecondsOfDay;
  plan.filter_cores = plan.filters_per_s / kFiltersPerCoreAndS;
  plan.cold_reads_per_s = plan.filters_per_s * kColdReadsPerFilter;
  return plan;
}

}  // namespace seendb::tool
