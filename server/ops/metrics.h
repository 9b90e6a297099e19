// server/ops/metrics.h: what /metrics says.
//
// Counting costs a few relaxed atomic additions, striped over threads; text is made on demand
// with prometheus-cpp. Names begin with seendb_ (those of the process with process_, as
// everywhere), are in seconds and bytes, and carry the labels route, code, executor, collection,
// reason, shard, topic, partition, kind, outcome and token (its name), never a user;
// seendb_build_info has version and commit.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "admission/wait_histogram.h"
#include "base/sync.h"
#include "http/executor.h"
#include "ops/ingest_state.h"
#include "ops/items_state.h"
#include "ops/last_backup.h"
#include "ops/migration_state.h"
#include "ops/sets_state.h"
#include "seendb/events.h"
#include "seendb/report.h"
#include "wire/refusal_names.h"

namespace prometheus {
struct MetricFamily;
}

namespace seendb::ops {

/// What passed through the server for one collection. Threads: any.
struct CollectionCounters {
  std::atomic<uint64_t> filters{0}, degraded{0}, candidates{0}, seen{0};
  std::atomic<uint64_t> plays_accepted{0}, plays_refused{0};
  std::atomic<uint64_t> impressions_accepted{0}, impressions_refused{0};
  std::atomic<uint64_t> exposures_accepted{0}, exposures_refused{0};
  std::array<std::atomic<uint64_t>, wire::kRefusedBy> plays_refused_by{}, impressions_refused_by{},
      exposures_refused_by{};
};

/// The seen filters of a few recently served users, looked at when asked.
struct FillSample {
  std::string collection;
  double fill = 0;  ///< mean over Bloom layers
  double fpr = 0;   ///< mean over users of the estimate for the whole window
};

/// What a node of a cluster did with requests about users.
struct RouterCounts {
  uint64_t proxied = 0;         ///< another node answered
  uint64_t retried = 0;         ///< this node could not answer, and another was asked
  uint64_t unreachable = 0;     ///< no replica could be asked
  uint64_t served_dropped = 0;  ///< records of impressions that did not get into the log
};

/// What the moves of a node's shards came to.
struct MoveCounts {
  uint64_t fetched_bytes = 0;                 ///< since the start
  uint64_t fetching = 0;                      ///< shards on their way here
  uint64_t missing_bytes = 0;                 ///< of them
  std::optional<int64_t> log_margin_ms = {};  ///< how long the log keeps what is applied next
};

/// How a node's replicas and its cluster are.
struct ClusterCounts {
  std::vector<std::pair<std::string, uint64_t>> replicas_by_state;  ///< of those held, or fetched
  uint64_t cut_off = 0;          ///< of them: without a way to their log
  uint64_t leaderless = 0;       ///< partitions that nobody leads, as this node sees the others
  int64_t behind_ms = 0;         ///< of the replica that is most behind
  uint64_t append_failures = 0;  ///< records that the log did not take, since the start
  /// By how much the clocks of the other nodes that are up seem to be ahead of this one's.
  std::vector<std::pair<std::string, int64_t>> clocks_ahead_ms;
};

/// What became of lines of the audit.
struct AuditCounts {
  uint64_t lines = 0;     ///< written
  uint64_t failures = 0;  ///< to write one, or to open the file anew
};

/// What is asked of others at each scrape.
struct MetricsSnapshot {
  std::string version, commit;     ///< of the software that runs
  std::string db;                  ///< the database's folder
  int64_t last_checkpoint_ms = 0;  ///< by the machine's clock; 0: none is known of
  std::optional<BackupNote> last_backup;
  std::optional<ItemsState> items;  ///< unset: there is no store of items
  std::optional<SetsState> sets;    ///< unset: no set was put yet
  std::optional<bool> in_catalog;   ///< of Consul; unset: it is not to be
  bool engine_open = false;
  EngineStats engine;
  std::vector<SlotInfo> ring;
  std::vector<BucketInfo> buckets;
  std::vector<FillSample> fill;
  IngestState ingest;
  std::vector<MigrationState> migrations;
  int64_t now_ms = 0;  ///< by the engine's clock
  int64_t connections = 0, in_flight = 0;
  uint64_t door_connections = 0;  ///< that have said nothing yet
  uint64_t connections_opened = 0, connections_refused = 0, connections_timed_out = 0;
  uint64_t connections_evicted = 0, handshakes_failed = 0;
  uint64_t handshakes_refused = 0;
  std::optional<int64_t> certificate_expires_s;                  ///< since 1970; unset: no TLS
  uint64_t failed_tokens = 0, failed_tokens_limited = 0;         ///< answered 401, and 429
  std::vector<std::pair<std::string, int64_t>> token_expires_s;  ///< of those that expire
  uint64_t bytes_in = 0, bytes_out = 0, inflight_bytes = 0, answer_bytes = 0;
  std::array<admission::WaitHistogram::Snapshot, http::kExecutors> queue_waits{};  ///< by Executor
  uint64_t unsafe_integers = 0;                          ///< ids: api/unsafe_integers.h
  uint64_t access_lines = 0, access_lines_left_out = 0;  ///< of the setting access_log
  std::optional<AuditCounts> audit;                      ///< unset: there is no audit
  const admission::Admission* admission = nullptr;       ///< borrowed; null: nothing of it
  std::optional<RouterCounts> router;                    ///< of a node of a cluster
  std::optional<MoveCounts> moves;                       ///< likewise
  std::optional<ClusterCounts> cluster;                  ///< likewise, once it has replicas
};

/// Counters of the HTTP side, and the text of everything. Threads: any.
class Metrics {
 public:
  /// `routes`: the label of each route, by index.
  explicit Metrics(std::vector<std::string> routes);
  ~Metrics();

  /// A request of `route` (-1: none matched) was answered.
  void CountRequest(int route, unsigned status, std::chrono::nanoseconds took) noexcept;
  /// One was answered with an error of this code.
  void CountRefused(std::string_view code) noexcept;
  /// The counters of a collection, made on first use; the pointer stays good.
  CollectionCounters* ForCollection(std::string_view name);
  /// Everything in Prometheus' text format.
  std::string Text(const MetricsSnapshot& snapshot) const;

  /// Upper bounds of the latency histogram, in seconds.
  static constexpr std::array<double, 17> kLatencyBounds = {
      50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3,
      50e-3, 0.1,    0.25,   0.5,    1,    2.5,    5,    10};

 private:
  static constexpr std::array<unsigned, 18> kCodes = {200, 304, 400, 401, 403, 404, 405, 406, 408,
                                                      409, 413, 415, 422, 429, 431, 500, 503, 0};
  /// Codes of errors; one that is not among them counts as the last.
  static constexpr std::array<std::string_view, 24> kReasons = {"invalid_argument",
                                                                "unauthorized",
                                                                "forbidden",
                                                                "foreign_origin",
                                                                "unknown_host",
                                                                "not_found",
                                                                "method_not_allowed",
                                                                "not_acceptable",
                                                                "timeout",
                                                                "incompatible",
                                                                "too_large",
                                                                "unsupported_media_type",
                                                                "all_refused",
                                                                "header_too_large",
                                                                "internal",
                                                                "corruption",
                                                                "busy",
                                                                "overloaded",
                                                                "rate_limited",
                                                                "io_error",
                                                                "unavailable",
                                                                "closed",
                                                                "incomplete",
                                                                "other"};
  static constexpr size_t kStripes = 8;
  struct RouteCounters {
    std::array<std::atomic<uint64_t>, kCodes.size()> by_code{};
    std::array<std::atomic<uint64_t>, kLatencyBounds.size() + 1> by_latency{};
    std::atomic<uint64_t> total_ns{0};
  };
  struct alignas(64) Stripe {
    std::vector<RouteCounters> routes;
  };

  void CollectRequests(std::vector<prometheus::MetricFamily>* families) const;
  void CollectCollections(std::vector<prometheus::MetricFamily>* families) const;
  void CollectRefused(std::vector<prometheus::MetricFamily>* families) const;

  const std::vector<std::string> routes_;  // the last one is for no route
  std::array<Stripe, kStripes> stripes_;
  std::array<std::atomic<uint64_t>, kReasons.size()> refused_{};
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<std::string, std::unique_ptr<CollectionCounters>, std::less<>> collections_
      GUARDED_BY(mutex_);
};

/// Appends the families of a snapshot.
void CollectSnapshot(const MetricsSnapshot& snapshot,
                     std::vector<prometheus::MetricFamily>* families);

/// The part of it about the process and its machine.
void CollectProcess(const MetricsSnapshot& snapshot,
                    std::vector<prometheus::MetricFamily>* families);

/// The part of it about parts of the process with one value each, as far as they are there.
void CollectParts(const MetricsSnapshot& snapshot, std::vector<prometheus::MetricFamily>* families);

/// The part of it about a node's replicas and its cluster; nothing where there is none.
void CollectCluster(const MetricsSnapshot& snapshot,
                    std::vector<prometheus::MetricFamily>* families);

/// The part of it that tells of migrations; nothing where there are none.
void CollectMigrations(const MetricsSnapshot& snapshot,
                       std::vector<prometheus::MetricFamily>* families);

/// The part of it that tells of the consumption of a log; nothing where none is configured.
void CollectIngest(const MetricsSnapshot& snapshot,
                   std::vector<prometheus::MetricFamily>* families);

}  // namespace seendb::ops
