// Counters are exact under many threads, and the text is Prometheus'.

#include "ops/metrics.h"

#include <chrono>
#include <cmath>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

using std::chrono::microseconds;

bool Has(const std::string& text, const std::string& line) {
  return text.find(line + "\n") != std::string::npos;
}

TEST(MetricsTest, CountsAcrossThreads) {
  Metrics metrics({"GET /a", "GET /b"});
  std::vector<std::thread> threads;
  for (int t = 0; t < 12; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1'000; ++i) {
        metrics.CountRequest(0, 200, microseconds(60));
        metrics.CountRequest(1, 503, microseconds(20'000'000));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  metrics.CountRequest(-1, 418, microseconds(1));
  const std::string text = metrics.Text({});
  EXPECT_TRUE(Has(text, R"(seendb_http_requests_total{route="GET /a",code="200"} 12000)"));
  EXPECT_TRUE(Has(text, R"(seendb_http_requests_total{route="GET /b",code="503"} 12000)"));
  EXPECT_TRUE(Has(text, R"(seendb_http_requests_total{route="none",code="other"} 1)"));
  EXPECT_TRUE(Has(text, R"(seendb_http_request_seconds_bucket{route="GET /a",le="5e-05"} 0)"));
  EXPECT_TRUE(Has(text, R"(seendb_http_request_seconds_bucket{route="GET /a",le="0.0001"} 12000)"));
  EXPECT_TRUE(Has(text, R"(seendb_http_request_seconds_bucket{route="GET /b",le="10"} 0)"));
  EXPECT_TRUE(Has(text, R"(seendb_http_request_seconds_bucket{route="GET /b",le="+Inf"} 12000)"));
  EXPECT_TRUE(Has(text, R"(seendb_http_request_seconds_sum{route="GET /b"} 240000)"));
}

TEST(MetricsTest, EveryLineHasThePrefixAndNoOtherLabels) {
  Metrics metrics({"GET /a"});
  metrics.CountRequest(0, 200, microseconds(60));
  metrics.ForCollection("video")->seen = 5;
  EXPECT_EQ(metrics.ForCollection("video"), metrics.ForCollection("video"));
  MetricsSnapshot snapshot;
  snapshot.engine_open = true;
  snapshot.engine.reads = 4;
  snapshot.engine.read_operands = 10;
  snapshot.ring.resize(1);
  snapshot.buckets.resize(1);
  snapshot.fill.push_back({"video", 0.5, 0.01});
  snapshot.ingest.configured = true;
  snapshot.ingest.topics.push_back({"plays", "video", {{}, {}}});
  IngestPartition& known = snapshot.ingest.topics[0].partitions[1];
  known.partition = 1;
  known.applied_offset = 10;
  known.high_watermark = 15;
  known.alarms = {"gap"};
  snapshot.engine.outbox_rows = 3;
  snapshot.now_ms = 5'000;
  snapshot.ingest.outbox_oldest_ms = 3'500;
  const std::string text = metrics.Text(snapshot);
  EXPECT_TRUE(Has(text, R"(seendb_filter_seen_total{collection="video"} 5)"));
  EXPECT_TRUE(Has(text, "seendb_operands_per_read 2.5"));
  EXPECT_TRUE(Has(text, R"(seendb_ingest_lag{topic="plays",partition="1"} 5)"));
  EXPECT_EQ(text.find(R"(seendb_ingest_lag{topic="plays",partition="0")"), std::string::npos)
      << "a lag that is not known is no 0";
  EXPECT_TRUE(Has(text, R"(seendb_ingest_alarm{topic="plays",partition="1",kind="gap"} 1)"));
  EXPECT_TRUE(Has(text, "seendb_outbox_rows 3"));
  EXPECT_TRUE(Has(text, "seendb_outbox_oldest_seconds 1.5"));
  std::istringstream lines(text);
  std::string line;
  size_t values = 0;
  while (std::getline(lines, line)) {
    if (line.rfind("# ", 0) == 0) continue;
    ++values;
    EXPECT_TRUE(line.starts_with("seendb_") || line.starts_with("process_")) << line;
    const size_t open = line.find('{');
    if (open == std::string::npos) continue;
    for (size_t at = open; at != std::string::npos; at = line.find("\",", at + 1)) {
      const size_t begin = at + (at == open ? 1 : 2);
      const std::string label = line.substr(begin, line.find('=', begin) - begin);
      const std::set<std::string> known_labels = {
          "route",   "code",  "le",      "collection", "shard",  "partition", "kind",
          "outcome", "topic", "version", "commit",     "reason", "executor"};
      EXPECT_TRUE(known_labels.contains(label)) << line;
    }
  }
  EXPECT_GT(values, 60u);
}

/// The value of a line of `text` that begins with `name` and a blank; NaN: there is none.
double ValueOf(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? std::nan("") : std::stod(text.substr(at + name.size() + 2));
}

TEST(MetricsTest, RefusedRequestsByTheCodeOfTheError) {
  Metrics metrics({"GET /a"});
  const std::string before = metrics.Text({});
  EXPECT_TRUE(Has(before, R"(seendb_http_refused_total{reason="busy"} 0)"))
      << "told from the start";
  EXPECT_TRUE(Has(before, R"(seendb_http_refused_total{reason="other"} 0)"));
  for (int code = 1; code <= static_cast<int>(StatusCode::kForbidden); ++code) {
    const std::string_view name = StatusCodeName(static_cast<StatusCode>(code));
    metrics.CountRefused(name);
    EXPECT_EQ(ValueOf(metrics.Text({}),
                      "seendb_http_refused_total{reason=\"" + std::string(name) + "\"}"),
              1)
        << name;
  }
  metrics.CountRefused("a code of tomorrow");
  EXPECT_TRUE(Has(metrics.Text({}), R"(seendb_http_refused_total{reason="other"} 1)"));
}

TEST(MetricsTest, WaitsForWorkersAndTheAccessLog) {
  admission::WaitHistogram waits;
  waits.Add(microseconds(80));
  waits.Add(std::chrono::seconds(20));
  MetricsSnapshot snapshot;
  snapshot.queue_waits[static_cast<size_t>(http::Executor::kSlow)] = waits.Read();
  snapshot.access_lines = 4;
  snapshot.access_lines_left_out = 5;
  const std::string text = Metrics({}).Text(snapshot);
  const std::string bucket = R"(seendb_http_queue_wait_seconds_bucket{executor="slow",le=")";
  EXPECT_TRUE(Has(text, bucket + "5e-05\"} 0"));
  EXPECT_TRUE(Has(text, bucket + "0.0001\"} 1"));
  EXPECT_TRUE(Has(text, bucket + "10\"} 1"));
  EXPECT_TRUE(Has(text, bucket + "+Inf\"} 2"));
  EXPECT_TRUE(Has(text, R"(seendb_http_queue_wait_seconds_count{executor="slow"} 2)"));
  EXPECT_TRUE(Has(text, R"(seendb_http_queue_wait_seconds_sum{executor="slow"} 20.00008)"));
  EXPECT_TRUE(Has(text, R"(seendb_http_queue_wait_seconds_count{executor="engine"} 0)"));
  EXPECT_EQ(text.find(R"(executor="inline")"), std::string::npos);
  EXPECT_TRUE(Has(text, "seendb_access_log_lines_total 4"));
  EXPECT_TRUE(Has(text, "seendb_access_log_left_out_total 5"));
}

TEST(MetricsTest, LinesOfTheAudit) {
  MetricsSnapshot snapshot;
  EXPECT_EQ(Metrics({}).Text(snapshot).find("seendb_audit_"), std::string::npos);
  snapshot.audit = {.lines = 6, .failures = 7};
  EXPECT_TRUE(Has(Metrics({}).Text(snapshot), "seendb_audit_lines_total 6"));
  EXPECT_TRUE(Has(Metrics({}).Text(snapshot), "seendb_audit_failures_total 7"));
}

TEST(MetricsTest, ReplicasOfACluster) {
  const Metrics metrics({});
  MetricsSnapshot snapshot;
  EXPECT_EQ(metrics.Text(snapshot).find("seendb_cluster_"), std::string::npos);
  snapshot.cluster = {.replicas_by_state = {{"serving", 5}, {"behind", 2}},
                      .cut_off = 2,
                      .leaderless = 1,
                      .behind_ms = 31'500,
                      .append_failures = 7,
                      .clocks_ahead_ms = {{"n2", -1'250}}};
  const std::string text = metrics.Text(snapshot);
  for (const char* line :
       {R"(seendb_cluster_replicas{state="serving"} 5)",
        R"(seendb_cluster_replicas{state="behind"} 2)", "seendb_cluster_replicas_cut_off 2",
        "seendb_cluster_leaderless_partitions 1", "seendb_cluster_behind_seconds 31.5",
        "seendb_cluster_append_failures_total 7",
        R"(seendb_cluster_clock_offset_seconds{node="n2"} -1.25)"}) {
    EXPECT_NE(text.find("\n" + std::string(line) + "\n"), std::string::npos) << line;
  }
}

TEST(MetricsTest, RefusedEventsOutOfALog) {
  MetricsSnapshot snapshot;
  snapshot.engine_open = true;
  snapshot.ingest.configured = true;
  snapshot.ingest.topics.push_back({"plays", "video", {}});
  snapshot.ingest.topics[0].refused_by[static_cast<size_t>(RefusalReason::kErased)] = 6;
  const std::string text = Metrics({}).Text(snapshot);
  const std::string name = R"(seendb_ingest_refused_total{topic="plays",reason=)";
  EXPECT_TRUE(Has(text, name + R"("erased"} 6)"));
  EXPECT_TRUE(Has(text, name + R"("too_old"} 0)"));
  EXPECT_EQ(text.find(name + R"("malformed")"), std::string::npos) << "those are dead letters";
}

TEST(MetricsTest, TheProcessAndItsDisk) {
  MetricsSnapshot snapshot;
  snapshot.version = "1.2.3";
  snapshot.commit = "0123456789ab";
  snapshot.db = testing::TempDir();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double now_s = std::chrono::duration<double>(now).count();
  std::string text = Metrics({}).Text(snapshot);
  EXPECT_TRUE(Has(text, R"(seendb_build_info{version="1.2.3",commit="0123456789ab"} 1)"));
  EXPECT_GE(ValueOf(text, "process_cpu_seconds_total"), 0);
  EXPECT_GT(ValueOf(text, "process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(ValueOf(text, "process_virtual_memory_bytes"),
            ValueOf(text, "process_resident_memory_bytes"));
  EXPECT_GE(ValueOf(text, "process_threads"), 1);
  EXPECT_GE(ValueOf(text, "process_open_fds"), 3);
  EXPECT_GE(ValueOf(text, "process_max_fds"), ValueOf(text, "process_open_fds"));
  EXPECT_GT(ValueOf(text, "process_start_time_seconds"), now_s - 86'400);
  EXPECT_LT(ValueOf(text, "process_start_time_seconds"), now_s + 5);
  EXPECT_GT(ValueOf(text, "seendb_disk_free_bytes"), 0);
  EXPECT_GE(ValueOf(text, "seendb_disk_size_bytes"), ValueOf(text, "seendb_disk_free_bytes"));
  EXPECT_TRUE(std::isnan(ValueOf(text, "seendb_last_checkpoint_seconds")));
  snapshot.last_checkpoint_ms = 1'700'000'000'000;
  text = Metrics({}).Text(snapshot);
  EXPECT_EQ(ValueOf(text, "seendb_last_checkpoint_seconds"), 1.7e9);
  EXPECT_TRUE(std::isnan(ValueOf(text, "seendb_last_backup_seconds")));
  snapshot.last_backup = {1'700'000'000'000, 7, 1'000, 10, 2'500};
  text = Metrics({}).Text(snapshot);
  EXPECT_EQ(ValueOf(text, "seendb_last_backup_seconds"), 1.7e9);
  EXPECT_EQ(ValueOf(text, "seendb_last_backup_bytes"), 1'000);
  EXPECT_EQ(ValueOf(text, "seendb_last_backup_new_bytes"), 10);
  EXPECT_EQ(ValueOf(text, "seendb_last_backup_duration_seconds"), 2.5);
}

TEST(MetricsTest, RingIsSummedByShardWithoutDrainedSlots) {
  MetricsSnapshot snapshot;
  snapshot.engine_open = true;
  snapshot.now_ms = 10'000;
  const auto slot = [&](uint32_t shard, const char* state, uint64_t plays, int64_t opened_ms) {
    SlotInfo info;
    info.shard = shard;
    info.state = state;
    info.plays = plays;
    info.bytes = plays * 10;
    info.opened_ms = opened_ms;
    snapshot.ring.push_back(info);
  };
  slot(0, "current", 3, 9'000);
  slot(0, "closed", 4, 4'000);
  slot(0, "drained", 100, 1'000);
  slot(1, "free", 0, 0);
  const std::string text = Metrics({}).Text(snapshot);
  EXPECT_TRUE(Has(text, R"(seendb_ring_plays{shard="0"} 7)"));
  EXPECT_TRUE(Has(text, R"(seendb_ring_bytes{shard="0"} 70)"));
  EXPECT_TRUE(Has(text, R"(seendb_ring_age_seconds{shard="0"} 6)"));
  EXPECT_TRUE(Has(text, R"(seendb_ring_age_seconds{shard="1"} 0)"));
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
