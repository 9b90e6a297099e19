// What /metrics says of overload, and the setting "admission".

#include "ops/admission_metrics.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/config.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

using prometheus::MetricFamily;

std::map<std::string, MetricFamily> Collect(const admission::Admission& admission,
                                            admission::Time now) {
  std::vector<MetricFamily> families;
  CollectAdmission(admission, now, &families);
  std::map<std::string, MetricFamily> by_name;
  for (MetricFamily& family : families) by_name[family.name] = std::move(family);
  return by_name;
}

TEST(AdmissionMetricsTest, TellTheLoadTheQueueAndWhatWasRefused) {
  admission::Admission admission;
  admission::Lane* const lane = admission.AddLane({.name = "io0"});
  const admission::Time now(std::chrono::seconds(100));
  std::vector<admission::Entry> entries(1'000);
  for (admission::Entry& entry : entries) {
    entry.ticket.priority = admission::Priority::kLow;
    if (lane->Head(&entry, now).admitted()) lane->Complete(&entry, now, now);
  }
  auto families = Collect(admission, now);
  EXPECT_NEAR(families["seendb_load_ratio"].metric[0].gauge.value, 2, .01);
  EXPECT_NEAR(families["seendb_queue_work_seconds"].metric[0].gauge.value, .1, .01);
  double refused = 0;
  for (const auto& metric : families["seendb_refused_total"].metric)
    refused += metric.counter.value;
  EXPECT_EQ(refused, static_cast<double>(lane->counters().AllRefused()));
  EXPECT_GT(refused, 400);
  EXPECT_EQ(families["seendb_queue_work_seconds"].metric[0].label[0].value, "io0");
  for (admission::Entry& entry : entries) lane->Remove(&entry);
}

TEST(AdmissionMetricsTest, EachTokenHasItsAccount) {
  admission::Admission admission;
  admission.tenants().Named("a", {}, 1)->AddWork(std::chrono::milliseconds(1'500), {});
  auto families = Collect(admission, admission::Time());
  const auto& metric = families["seendb_tenant_work_seconds_total"].metric.at(0);
  EXPECT_EQ(metric.label.at(0).value, "a");
  EXPECT_DOUBLE_EQ(metric.counter.value, 1.5);
}

TEST(AdmissionConfigTest, IsRead) {
  Config config;
  const Status read = ReadConfig(
      R"({"admission":{"enabled":false,"target_ms":5,"interval_ms":50,"burst_ms":250,)"
      R"("disk_target_ms":80,"slice_us":1000,"intake_share":0.25,"priority_factors":[3,1,0],)"
      R"("max_timeout_ms":1000,"default_timeout_ms":500,"retry_after_max_s":10,)"
      R"("discard_bytes":65536,"degrade":{"min_share":0.7,"up_ms":100,"down_ms":2000}}})",
      &config);
  ASSERT_TRUE(read.ok()) << read.ToString();
  const admission::Settings& settings = config.admission;
  EXPECT_FALSE(settings.enabled);
  EXPECT_EQ(settings.target_ms, 5);
  EXPECT_EQ(settings.burst_ms, 250);
  EXPECT_EQ(settings.priority_factors, (std::array<double, 3>{3, 1, 0}));
  EXPECT_EQ(settings.default_timeout_ms, 500);
  EXPECT_EQ(settings.discard_bytes, 65'536u);
  EXPECT_EQ(settings.degrade_min_share, 0.7);
  EXPECT_EQ(settings.degrade_down_ms, 2'000);
}

TEST(AdmissionConfigTest, WhatIsOutOfRangeIsRefusedByName) {
  const std::pair<const char*, const char*> faults[] = {
      {R"({"admission":{"target_ms":0}})", "/admission/target_ms"},
      {R"({"admission":{"intake_share":1}})", "/admission/intake_share"},
      {R"({"admission":{"priority_factors":[1,2,3]}})", "/admission/priority_factors"},
      {R"({"admission":{"priority_factors":[1,1]}})", "/admission/priority_factors"},
      {R"({"admission":{"degrade":{"min_share":0}}})", "/admission/degrade/min_share"},
      {R"({"admission":{"target":1}})", "/admission/target"}};
  for (const auto& [json, field] : faults) {
    Config config;
    EXPECT_EQ(ReadConfig(json, &config).field(), field) << json;
  }
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
