// The metrics of parts of the process that have one value each: the last backup, the stores of
// items and sets, the listener, a node's requests and moves. A part that is absent has no metrics.

#include "ops/metric_rows.h"
#include "ops/metrics.h"

namespace seendb::ops {
namespace {

const MetricRow<BackupNote> kBackup[] = {
    {"seendb_last_backup_seconds",
     "When the last backup by seendb backup create --url was complete, in seconds since 1970; "
     "absent until there was one.",
     kGauge, MemberSeconds<&BackupNote::at_ms>},
    {"seendb_last_backup_bytes", "The size of the database in it.", kGauge,
     MemberValue<&BackupNote::bytes>},
    {"seendb_last_backup_new_bytes", "The part of it that no earlier backup had.", kGauge,
     MemberValue<&BackupNote::new_bytes>},
    {"seendb_last_backup_duration_seconds", "How long it took.", kGauge,
     MemberSeconds<&BackupNote::took_ms>},
};

const MetricRow<ItemStoreStats> kItemStore[] = {
    {"seendb_items", "Items that the store has.", kGauge, MemberValue<&ItemStoreStats::items>},
    {"seendb_items_remembered", "Deleted items that the store remembers.", kGauge,
     MemberValue<&ItemStoreStats::remembered>},
    {"seendb_items_memory_bytes", "Memory of records, texts, columns and the map.", kGauge,
     MemberValue<&ItemStoreStats::memory_bytes>},
    {"seendb_items_damaged", "Rows of items that the opening could not read.", kGauge,
     MemberValue<&ItemStoreStats::damaged>},
    {"seendb_items_load_seconds", "How long the opening read items.", kGauge,
     MemberSeconds<&ItemStoreStats::load_ms>},
};

const MetricRow<ItemsState> kItems[] = {
    {"seendb_items_limit_bytes", "The setting items.bytes.", kGauge,
     MemberValue<&ItemsState::bytes_limit>},
    {"seendb_item_updates_accepted_total", "Updates of items that were applied.", kCounter,
     MemberValue<&ItemsState::accepted>},
    {"seendb_item_updates_refused_total", "Updates of items that were refused.", kCounter,
     MemberValue<&ItemsState::refused>},
    {"seendb_item_fields_stale_total", "Fields of updates that had a lower version than the item.",
     kCounter, MemberValue<&ItemsState::stale>},
};

const MetricRow<SetsState> kSets[] = {
    {"seendb_sets", "Named sets of items.", kGauge, MemberValue<&SetsState::sets>},
    {"seendb_sets_ids", "Ids of all sets together.", kGauge, MemberValue<&SetsState::ids>},
    {"seendb_sets_memory_bytes", "Memory of all sets together.", kGauge,
     MemberValue<&SetsState::memory_bytes>},
    {"seendb_sets_limit_bytes", "Most memory that sets may take.", kGauge,
     MemberValue<&SetsState::limit_bytes>},
    {"seendb_sets_damaged", "Sets of which part could not be read.", kGauge,
     MemberValue<&SetsState::damaged>},
    {"seendb_sets_behind", "Whether a node of a cluster may lack sets.", kGauge,
     MemberValue<&SetsState::behind>},
};

const MetricRow<MetricsSnapshot> kListener[] = {
    {"seendb_http_connections", "Connections open.", kGauge,
     MemberValue<&MetricsSnapshot::connections>},
    {"seendb_door_connections", "Connections that have asked for nothing yet.", kGauge,
     MemberValue<&MetricsSnapshot::door_connections>},
    {"seendb_http_connections_total", "Connections accepted.", kCounter,
     MemberValue<&MetricsSnapshot::connections_opened>},
    {"seendb_http_connections_refused_total", "Connections beyond the limit.", kCounter,
     MemberValue<&MetricsSnapshot::connections_refused>},
    {"seendb_http_connections_evicted_total", "Idle connections closed to make room for others.",
     kCounter, MemberValue<&MetricsSnapshot::connections_evicted>},
    {"seendb_http_timeouts_total", "Connections closed for slowness.", kCounter,
     MemberValue<&MetricsSnapshot::connections_timed_out>},
    {"seendb_http_requests_in_flight", "Requests begun and not answered.", kGauge,
     MemberValue<&MetricsSnapshot::in_flight>},
    {"seendb_http_inflight_body_bytes", "Request bodies in memory.", kGauge,
     MemberValue<&MetricsSnapshot::inflight_bytes>},
    {"seendb_http_answer_bytes", "Answers in memory.", kGauge,
     MemberValue<&MetricsSnapshot::answer_bytes>},
    {"seendb_http_received_bytes_total", "Bytes read from clients.", kCounter,
     MemberValue<&MetricsSnapshot::bytes_in>},
    {"seendb_http_sent_bytes_total", "Bytes written to clients.", kCounter,
     MemberValue<&MetricsSnapshot::bytes_out>},
    {"seendb_unsafe_integers_total",
     "Ids of requests that came as JSON numbers beyond 2^53, which doubles don't hold.", kCounter,
     MemberValue<&MetricsSnapshot::unsafe_integers>},
    {"seendb_access_log_lines_total", "Lines of the access log.", kCounter,
     MemberValue<&MetricsSnapshot::access_lines>},
    {"seendb_access_log_left_out_total",
     "Lines of the access log left out: more than access_log.lines_per_s.", kCounter,
     MemberValue<&MetricsSnapshot::access_lines_left_out>},
};

const MetricRow<MetricsSnapshot> kTls[] = {
    {"seendb_tls_handshakes_failed_total", "Connections that TLS was not agreed on.", kCounter,
     MemberValue<&MetricsSnapshot::handshakes_failed>},
    {"seendb_tls_handshakes_refused_total",
     "Connections reset before TLS was agreed on, for the load.", kCounter,
     MemberValue<&MetricsSnapshot::handshakes_refused>},
    {"seendb_tls_certificate_expiry_seconds", "When the certificate ends, in seconds since 1970.",
     kGauge, MemberIfKnown<&MetricsSnapshot::certificate_expires_s>},
};

const MetricRow<MetricsSnapshot> kCatalog[] = {
    {"seendb_consul_registered", "1 while Consul's catalog has this server.", kGauge,
     MemberIfKnown<&MetricsSnapshot::in_catalog>},
};

const MetricRow<AuditCounts> kAudit[] = {
    {"seendb_audit_lines_total", "Lines of the audit.", kCounter, MemberValue<&AuditCounts::lines>},
    {"seendb_audit_failures_total",
     "Lines of the audit that could not be written, and failures to open its file anew.", kCounter,
     MemberValue<&AuditCounts::failures>},
};

const MetricRow<RouterCounts> kRouter[] = {
    {"seendb_cluster_proxied_total", "Requests that another node answered.", kCounter,
     MemberValue<&RouterCounts::proxied>},
    {"seendb_cluster_retried_total",
     "Requests that this node could not answer, so that another one was asked.", kCounter,
     MemberValue<&RouterCounts::retried>},
    {"seendb_cluster_unreachable_total", "Requests about users of whom no replica could be asked.",
     kCounter, MemberValue<&RouterCounts::unreachable>},
    {"seendb_cluster_served_dropped_total",
     "Records of served items that did not get into the log.", kCounter,
     MemberValue<&RouterCounts::served_dropped>},
};

const MetricRow<MoveCounts> kMoves[] = {
    {"seendb_cluster_fetched_bytes_total", "Bytes of shards fetched from other nodes.", kCounter,
     MemberValue<&MoveCounts::fetched_bytes>},
    {"seendb_cluster_fetching", "Shards that are being fetched.", kGauge,
     MemberValue<&MoveCounts::fetching>},
    {"seendb_cluster_fetching_bytes", "Bytes that are missing of them.", kGauge,
     MemberValue<&MoveCounts::missing_bytes>},
    {"seendb_log_margin_seconds",
     "For how long the cluster's log surely keeps what is applied next.", kGauge,
     [](const MoveCounts& m) -> std::optional<double> {
       if (!m.log_margin_ms) return {};
       return static_cast<double>(*m.log_margin_ms) * 1e-3;
     }},
};

}  // namespace

void CollectParts(const MetricsSnapshot& s, std::vector<prometheus::MetricFamily>* families) {
  AddRows(kListener, s, families);
  if (s.certificate_expires_s) AddRows(kTls, s, families);
  if (s.last_backup) AddRows(kBackup, *s.last_backup, families);
  if (s.items) AddRows(kItemStore, s.items->store, families);
  if (s.items) AddRows(kItems, *s.items, families);
  if (s.sets) AddRows(kSets, *s.sets, families);
  AddRows(kCatalog, s, families);
  if (s.audit) AddRows(kAudit, *s.audit, families);
  if (s.router) AddRows(kRouter, *s.router, families);
  if (s.moves) AddRows(kMoves, *s.moves, families);
}

}  // namespace seendb::ops
