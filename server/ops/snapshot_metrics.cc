// The part of /metrics that is read from the engine and the listener at each scrape.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include <prometheus/metric_family.h>

#include "ops/admission_metrics.h"
#include "ops/metric_rows.h"
#include "ops/metrics.h"

namespace seendb::ops {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

const MetricRow<MetricsSnapshot> kReady[] = {
    {"seendb_ready", "1 once the database is open.", kGauge,
     MemberValue<&MetricsSnapshot::engine_open>},
};

void CollectQueueWaits(const MetricsSnapshot& s, std::vector<MetricFamily>* families) {
  MetricFamily waits =
      MakeFamily("seendb_http_queue_wait_seconds",
                 "Waits of requests for a worker, by the kind of workers.", MetricType::Histogram);
  for (size_t executor = 1; executor < http::kExecutors; ++executor) {  // kInline has no queue
    const std::string_view name = http::ExecutorName(static_cast<http::Executor>(executor));
    AddWaits(&waits, {{"executor", std::string(name)}}, s.queue_waits[executor]);
  }
  families->push_back(std::move(waits));
}

void CollectCounters(const EngineStats& e, std::vector<MetricFamily>* families) {
  struct Row {
    std::string_view name;
    const char* metric;
    const char* help;
    uint64_t value;
  };
  const Row rows[] = {
#define SEENDB_COUNTER(name, metric, help) {#name, metric, help, e.name},
#include "seendb/counters.def"
#undef SEENDB_COUNTER
  };
  for (const Row& row : rows) {
    if (*row.metric == '\0') continue;
    AddValue(&families->emplace_back(MakeFamily(row.metric, row.help, MetricType::Counter)), {},
             static_cast<double>(row.value) * (row.name.ends_with("_us") ? 1e-6 : 1.0));
  }
}

/// Stored with the events: each message of a log counts once, over all openings.
void CollectIngested(const EngineStats& e, std::vector<MetricFamily>* families) {
  MetricFamily events =
      MakeFamily("seendb_ingested_events_total",
                 "Events out of a log, each once over all openings.", MetricType::Counter);
  const auto add = [&](const char* kind, const char* outcome, uint64_t count) {
    AddValue(&events, {{"kind", kind}, {"outcome", outcome}}, static_cast<double>(count));
  };
  add("play", "accepted", e.ingested.plays_accepted);
  add("play", "refused", e.ingested.plays_refused);
  add("impression", "accepted", e.ingested.impressions_accepted);
  add("impression", "refused", e.ingested.impressions_refused);
  add("exposure", "accepted", e.ingested.exposures_accepted);
  add("exposure", "refused", e.ingested.exposures_refused);
  families->push_back(std::move(events));
}

const MetricRow<EngineStats> kEngine[] = {
    {"seendb_short_term_bytes", "Drained slots kept readable.", kGauge,
     MemberValue<&EngineStats::short_term_bytes>},
    {"seendb_outbox_rows", "Rows with first plays of the day that wait to be told.", kGauge,
     MemberValue<&EngineStats::outbox_rows>},
    {"seendb_operands_per_read", "Mean operands per filter value read, since the start.", kGauge,
     [](const EngineStats& e) {
       const auto operands = static_cast<double>(e.read_operands);
       return std::optional(e.reads == 0 ? 0.0 : operands / static_cast<double>(e.reads));
     }},
    {"seendb_disk_bytes", "Live SST files.", kGauge, MemberValue<&EngineStats::disk_bytes>},
    {"seendb_memtable_bytes", "Memtables.", kGauge, MemberValue<&EngineStats::memtable_bytes>},
    {"seendb_block_cache_bytes", "Block cache in use.", kGauge,
     MemberValue<&EngineStats::block_cache_bytes>},
    {"seendb_user_cache_bytes", "User records kept in memory.", kGauge,
     MemberValue<&EngineStats::user_cache_bytes>},
    {"seendb_user_directory_bytes", "Filters that know which users have a record.", kGauge,
     MemberValue<&EngineStats::user_directory_bytes>},
    {"seendb_pending_compaction_bytes", "Bytes that wait for compaction.", kGauge,
     MemberValue<&EngineStats::pending_compaction_bytes>},
    {"seendb_wal_written_bytes_total", "Written to the log.", kCounter,
     MemberValue<&EngineStats::wal_bytes_written>},
    {"seendb_flush_written_bytes_total", "Written by flushes.", kCounter,
     MemberValue<&EngineStats::flush_bytes_written>},
    {"seendb_compaction_written_bytes_total", "Written by compactions.", kCounter,
     MemberValue<&EngineStats::compaction_bytes_written>},
    {"seendb_column_families", "Column families open.", kGauge,
     MemberValue<&EngineStats::column_families>},
    {"seendb_shards", "Shards.", kGauge, MemberValue<&EngineStats::shards>},
    {"seendb_clock_in_doubt", "1 while the clock is in doubt: nothing expires.", kGauge,
     MemberValue<&EngineStats::clock_in_doubt>},
    {"seendb_degraded", "1 while some shard can't read or write everything.", kGauge,
     MemberValue<&EngineStats::degraded>},
};

/// Undrained plays of one shard.
struct ShardRing {
  uint64_t bytes = 0, plays = 0;
  int64_t oldest_ms = 0;
};

void CollectRing(const MetricsSnapshot& s, std::vector<MetricFamily>* families) {
  std::map<uint32_t, ShardRing> shards;
  for (const SlotInfo& slot : s.ring) {
    ShardRing& shard = shards[slot.shard];
    if (slot.plays == 0 || slot.state == "free" || slot.state == "drained") continue;
    shard.bytes += slot.bytes;
    shard.plays += slot.plays;
    if (shard.oldest_ms == 0 || slot.opened_ms < shard.oldest_ms) shard.oldest_ms = slot.opened_ms;
  }
  MetricFamily bytes =
      MakeFamily("seendb_ring_bytes", "Memory of undrained plays.", MetricType::Gauge);
  MetricFamily plays = MakeFamily("seendb_ring_plays", "Undrained plays.", MetricType::Gauge);
  MetricFamily age = MakeFamily("seendb_ring_age_seconds",
                                "Age of the oldest slot with undrained plays.", MetricType::Gauge);
  for (const auto& [shard, ring] : shards) {
    const Labels labels = {{"shard", std::to_string(shard)}};
    const int64_t age_ms =
        ring.oldest_ms == 0 ? 0 : std::max<int64_t>(0, s.now_ms - ring.oldest_ms);
    AddValue(&bytes, labels, static_cast<double>(ring.bytes));
    AddValue(&plays, labels, static_cast<double>(ring.plays));
    AddValue(&age, labels, static_cast<double>(age_ms) * 1e-3);
  }
  families->insert(families->end(), {bytes, plays, age});
}

void CollectBuckets(const MetricsSnapshot& s, std::vector<MetricFamily>* families) {
  struct Total {
    uint64_t bytes = 0, buckets = 0;
  };
  std::map<std::string, Total> totals;
  for (const BucketInfo& bucket : s.buckets) {
    Total& total = totals[bucket.collection];
    total.bytes += bucket.bytes;
    total.buckets += 1;
  }
  MetricFamily bytes =
      MakeFamily("seendb_collection_bytes",
                 "Files and memtables of a collection's buckets, estimated.", MetricType::Gauge);
  MetricFamily buckets =
      MakeFamily("seendb_collection_buckets", "Buckets of a collection.", MetricType::Gauge);
  for (const auto& [name, total] : totals) {
    AddValue(&bytes, {{"collection", name}}, static_cast<double>(total.bytes));
    AddValue(&buckets, {{"collection", name}}, static_cast<double>(total.buckets));
  }
  MetricFamily fill =
      MakeFamily("seendb_filter_fill_ratio", "Mean fill of Bloom layers, over a sample of users.",
                 MetricType::Gauge);
  MetricFamily fpr = MakeFamily("seendb_filter_fpr_estimate",
                                "Mean estimated false-positive rate of a window, over a sample "
                                "of users.",
                                MetricType::Gauge);
  for (const FillSample& sample : s.fill) {
    AddValue(&fill, {{"collection", sample.collection}}, sample.fill);
    AddValue(&fpr, {{"collection", sample.collection}}, sample.fpr);
  }
  families->insert(families->end(), {bytes, buckets, fill, fpr});
}

/// Wrong tokens, and the tokens that expire, by name.
void CollectTokens(const MetricsSnapshot& s, std::vector<MetricFamily>* families) {
  MetricFamily failed = MakeFamily(
      "seendb_failed_tokens_total",
      "Requests with a token that is not known, by the status of the answer.", MetricType::Counter);
  AddValue(&failed, {{"code", "401"}}, static_cast<double>(s.failed_tokens));
  AddValue(&failed, {{"code", "429"}}, static_cast<double>(s.failed_tokens_limited));
  families->push_back(std::move(failed));
  if (s.token_expires_s.empty()) return;
  MetricFamily family =
      MakeFamily("seendb_token_expiry_seconds", "When the token expires, in seconds since 1970.",
                 MetricType::Gauge);
  for (const auto& [name, at_s] : s.token_expires_s) {
    AddValue(&family, {{"token", name}}, static_cast<double>(at_s));
  }
  families->push_back(std::move(family));
}

}  // namespace

void CollectSnapshot(const MetricsSnapshot& snapshot, std::vector<MetricFamily>* families) {
  CollectParts(snapshot, families);
  CollectTokens(snapshot, families);
  CollectQueueWaits(snapshot, families);
  CollectCluster(snapshot, families);
  if (snapshot.admission != nullptr) {
    CollectAdmission(*snapshot.admission, std::chrono::steady_clock::now(), families);
  }
  AddRows(kReady, snapshot, families);
  if (!snapshot.engine_open) return;
  CollectCounters(snapshot.engine, families);
  CollectIngested(snapshot.engine, families);
  AddRows(kEngine, snapshot.engine, families);
  CollectRing(snapshot, families);
  CollectBuckets(snapshot, families);
  CollectIngest(snapshot, families);
  CollectMigrations(snapshot, families);
}

}  // namespace seendb::ops
