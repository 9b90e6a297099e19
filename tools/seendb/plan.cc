// seendb plan: what a workload takes of a machine.

#include <cmath>
#include <memory>
#include <string>

#include "commands.h"
#include "report_json.h"
#include "sizing_plan.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

uint64_t Rounded(double number) { return static_cast<uint64_t>(std::llround(number)); }

std::string Decimal(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), number < 10 ? "%.1f" : "%.0f", number);
  return text;
}

Json PlanJson(const SizingPlan& plan) {
  return {{"plays_disk_bytes", Rounded(plan.plays_disk_bytes)},
          {"impressions_disk_bytes", Rounded(plan.impressions_disk_bytes)},
          {"spare_disk_bytes", Rounded(plan.spare_disk_bytes)},
          {"plays_in_busiest_hour", Rounded(plan.plays_in_busiest_hour)},
          {"staged_bytes", Rounded(plan.staged_bytes)},
          {"hot_filter_bytes", Rounded(plan.hot_filter_bytes)},
          {"restart_s", plan.restart_s},
          {"filters_per_s", plan.filters_per_s},
          {"filter_cores", plan.filter_cores},
          {"cold_reads_per_s", Rounded(plan.cold_reads_per_s)}};
}

std::string PlanText(const SizingPlan& plan) {
  const auto bytes = [](double number) { return FormatBytes(Rounded(number)); };
  Facts facts;
  facts.Add("plays on disk", bytes(plan.plays_disk_bytes));
  facts.Add("impressions on disk, 100 a user", bytes(plan.impressions_disk_bytes));
  facts.Add("keep free for a seal", bytes(plan.spare_disk_bytes));
  facts.Add("plays in the busiest hour", FormatCount(Rounded(plan.plays_in_busiest_hour)));
  facts.Add("these staged in memory", bytes(plan.staged_bytes));
  facts.Add("hot filters (engine.block_cache_bytes)", bytes(plan.hot_filter_bytes));
  facts.Add("restart in that hour", FormatDurationUs(plan.restart_s * 1e6));
  facts.Add("filter requests", FormatRate(plan.filters_per_s));
  facts.Add("cores for them", Decimal(plan.filter_cores) + ", and one for drains and seals");
  facts.Add("disk reads where all is cold", FormatRate(plan.cold_reads_per_s));
  return facts.ToString();
}

Status ShowPlan(const Session& session, const Workload& workload) {
  if (workload.window_months > workload.months) {
    return Status::InvalidArgument("--window: more months than --months keeps");
  }
  const SizingPlan plan = PlanFor(workload);
  return session.json ? PrintJson(PlanJson(plan)) : Print(PlanText(plan));
}

}  // namespace

void AddPlan(Command app, Session& session) {
  auto workload = std::make_shared<Workload>();
  Command command = AddCommand(
      app, session, "plan",
      "Estimate the disk, memory and processors that users take, by the formulas of capacity.md",
      Takes::kNothing, [&session, workload] { return ShowPlan(session, *workload); });
  constexpr double kMost = 1e9;
  command.Add("--users", workload->users, "Users").Required().Between(1, kMost).TypeName("N");
  command.Add("--items", workload->items_a_month, "Distinct items that a user plays in a month")
      .Required()
      .Between(0, kMost)
      .TypeName("N");
  command.Add("--months", workload->months, "Months that are kept").Between(1, 128).ShowDefault();
  command.Add("--window", workload->window_months, "Months that a question reads")
      .Between(1, 128)
      .ShowDefault();
  command.Add("--active", workload->active_a_day, "Part of the users who come on a day")
      .Between(0, 1)
      .ShowDefault();
  command
      .Add("--requests", workload->requests_a_day,
           "Filter requests of an active user a day, of 5,000 candidates")
      .Between(0, kMost)
      .ShowDefault();
  command.Add("--peak", workload->peak, "The busiest hour over the mean")
      .Between(1, 24)
      .ShowDefault();
  command
      .Add("--at-once", workload->active_at_once,
           "Part of the users whose filters are to be in memory")
      .Between(0, 1)
      .ShowDefault();
  command.Examples({"seendb plan --users 10000000 --items 30",
                    "seendb plan --users 1000000 --items 3300 --at-once 0.1 --json"});
}

}  // namespace seendb::tool
