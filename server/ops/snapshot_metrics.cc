// The part of /metrics that is read from the engine and the listener at each scrape.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include <prometheus/metric_family.h>

#include "ops/admission_metrics.h"
#include "ops/metric_family.h"
#include "ops/metrics.h"

namespace seendb::ops {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

/// Appends families of one value each.
class Writer {
 public:
  explicit Writer(std::vector<MetricFamily>* families) : families_(families) {}

  template <typename T>
  void Counter(const char* name, const char* help, T value) {
    Add(name, help, MetricType::Counter, static_cast<double>(value));
  }
  template <typename T>
  void Gauge(const char* name, const char* help, T value) {
    Add(name, help, MetricType::Gauge, static_cast<double>(value));
  }

 private:
  void Add(const char* name, const char* help, MetricType type, double value) {
    families_->push_back(MakeFamily(name, help, type));
    AddValue(&families_->back(), {}, value);
  }
  std::vector<MetricFamily>* const families_;
};

void CollectListener(const MetricsSnapshot& s, Writer* out) {
  out->Gauge("seendb_http_connections", "Connections open.", s.connections);
  out->Gauge("seendb_door_connections", "Connections that have asked for nothing yet.",
             s.door_connections);
  out->Counter("seendb_http_connections_total", "Connections accepted.", s.connections_opened);
  out->Counter("seendb_http_connections_refused_total", "Connections beyond the limit.",
               s.connections_refused);
  out->Counter("seendb_http_connections_evicted_total",
               "Idle connections closed to make room for others.", s.connections_evicted);
  out->Counter("seendb_http_timeouts_total", "Connections closed for slowness.",
               s.connections_timed_out);
  if (s.certificate_expires_s) {
    out->Counter("seendb_tls_handshakes_failed_total", "Connections that TLS was not agreed on.",
                 s.handshakes_failed);
    out->Counter("seendb_tls_handshakes_refused_total",
                 "Connections reset before TLS was agreed on, for the load.", s.handshakes_refused);
    out->Gauge("seendb_tls_certificate_expiry_seconds",
               "When the certificate ends, in seconds since 1970.", *s.certificate_expires_s);
  }
  if (s.router) {
    out->Counter("seendb_cluster_proxied_total", "Requests that another node answered.",
                 s.router->proxied);
    out->Counter("seendb_cluster_retried_total",
                 "Requests that this node could not answer, so that another one was asked.",
                 s.router->retried);
    out->Counter("seendb_cluster_unreachable_total",
                 "Requests about users of whom no replica could be asked.", s.router->unreachable);
    out->Counter("seendb_cluster_served_dropped_total",
                 "Records of served items that did not get into the log.",
                 s.router->served_dropped);
  }
  if (s.moves) {
    out->Counter("seendb_cluster_fetched_bytes_total", "Bytes of shards fetched from other nodes.",
                 s.moves->fetched_bytes);
    out->Gauge("seendb_cluster_fetching", "Shards that are being fetched.", s.moves->fetching);
    out->Gauge("seendb_cluster_fetching_bytes", "Bytes that are missing of them.",
               s.moves->missing_bytes);
    if (s.moves->log_margin_ms) {
      out->Gauge("seendb_log_margin_seconds",
                 "For how long the cluster's log surely keeps what is applied next.",
                 static_cast<double>(*s.moves->log_margin_ms) / 1'000);
    }
  }
  out->Gauge("seendb_http_requests_in_flight", "Requests begun and not answered.", s.in_flight);
  out->Gauge("seendb_http_inflight_body_bytes", "Request bodies in memory.", s.inflight_bytes);
  out->Gauge("seendb_http_answer_bytes", "Answers in memory.", s.answer_bytes);
  out->Counter("seendb_http_received_bytes_total", "Bytes read from clients.", s.bytes_in);
  out->Counter("seendb_http_sent_bytes_total", "Bytes written to clients.", s.bytes_out);
  out->Counter("seendb_unsafe_integers_total",
               "Ids of requests that came as JSON numbers beyond 2^53, which doubles don't hold.",
               s.unsafe_integers);
  out->Counter("seendb_access_log_lines_total", "Lines of the access log.", s.access_lines);
  out->Counter("seendb_access_log_left_out_total",
               "Lines of the access log left out: more than access_log.lines_per_s.",
               s.access_lines_left_out);
  if (s.audit) {
    out->Counter("seendb_audit_lines_total", "Lines of the audit.", s.audit->lines);
    out->Counter(
        "seendb_audit_failures_total",
        "Lines of the audit that could not be written, and failures to open its file anew.",
        s.audit->failures);
  }
}

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

void CollectCounters(const EngineStats& e, Writer* out) {
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
    out->Counter(row.metric, row.help,
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

void CollectGauges(const EngineStats& e, Writer* out) {
  out->Gauge("seendb_short_term_bytes", "Drained slots kept readable.", e.short_term_bytes);
  out->Gauge("seendb_outbox_rows", "Rows with first plays of the day that wait to be told.",
             e.outbox_rows);
  out->Gauge(
      "seendb_operands_per_read", "Mean operands per filter value read, since the start.",
      e.reads == 0 ? 0.0 : static_cast<double>(e.read_operands) / static_cast<double>(e.reads));
  out->Gauge("seendb_disk_bytes", "Live SST files.", e.disk_bytes);
  out->Gauge("seendb_memtable_bytes", "Memtables.", e.memtable_bytes);
  out->Gauge("seendb_block_cache_bytes", "Block cache in use.", e.block_cache_bytes);
  out->Gauge("seendb_user_cache_bytes", "User records kept in memory.", e.user_cache_bytes);
  out->Gauge("seendb_user_directory_bytes", "Filters that know which users have a record.",
             e.user_directory_bytes);
  out->Gauge("seendb_pending_compaction_bytes", "Bytes that wait for compaction.",
             e.pending_compaction_bytes);
  out->Counter("seendb_wal_written_bytes_total", "Written to the log.", e.wal_bytes_written);
  out->Counter("seendb_flush_written_bytes_total", "Written by flushes.", e.flush_bytes_written);
  out->Counter("seendb_compaction_written_bytes_total", "Written by compactions.",
               e.compaction_bytes_written);
  out->Gauge("seendb_column_families", "Column families open.", e.column_families);
  out->Gauge("seendb_shards", "Shards.", e.shards);
  out->Gauge("seendb_clock_in_doubt", "1 while the clock is in doubt: nothing expires.",
             e.clock_in_doubt ? 1 : 0);
  out->Gauge("seendb_degraded", "1 while some shard can't read or write everything.",
             e.degraded ? 1 : 0);
}

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
  Writer out(families);
  CollectListener(snapshot, &out);
  CollectTokens(snapshot, families);
  CollectQueueWaits(snapshot, families);
  CollectCluster(snapshot, families);
  if (snapshot.admission != nullptr) {
    CollectAdmission(*snapshot.admission, std::chrono::steady_clock::now(), families);
  }
  out.Gauge("seendb_ready", "1 once the database is open.", snapshot.engine_open ? 1 : 0);
  if (!snapshot.engine_open) return;
  CollectCounters(snapshot.engine, &out);
  CollectIngested(snapshot.engine, families);
  CollectGauges(snapshot.engine, &out);
  CollectRing(snapshot, families);
  CollectBuckets(snapshot, families);
  CollectIngest(snapshot, families);
  CollectMigrations(snapshot, families);
}

}  // namespace seendb::ops
