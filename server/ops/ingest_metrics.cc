// The part of /metrics that is read from the consumption of a log.

#include <algorithm>

#include <prometheus/metric_family.h>

#include "ops/metric_family.h"
#include "ops/metrics.h"
#include "wire/refusal_names.h"

namespace seendb::ops {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

/// One metric of a partition; nothing where its value is not known.
struct SourceRow {
  const char* name;
  const char* help;
  MetricType type;
  std::optional<double> (*value)(const IngestPartition&);
};

std::optional<double> Known(const std::optional<int64_t>& number) {
  if (!number) return {};
  return static_cast<double>(*number);
}

const SourceRow kSourceRows[] = {
    {"seendb_ingest_applied_offset", "The offset to read next.", MetricType::Gauge,
     [](const IngestPartition& p) { return Known(p.applied_offset); }},
    {"seendb_ingest_high_watermark", "The end of the partition's log.", MetricType::Gauge,
     [](const IngestPartition& p) { return Known(p.high_watermark); }},
    {"seendb_ingest_lag", "Messages still to be read; absent while not known.", MetricType::Gauge,
     [](const IngestPartition& p) { return Known(p.Lag()); }},
    {"seendb_ingest_messages_total", "Messages read.", MetricType::Counter,
     [](const IngestPartition& p) { return std::optional(static_cast<double>(p.messages)); }},
    {"seendb_ingest_dead_letters_total", "Messages that held no event, over all openings.",
     MetricType::Counter,
     [](const IngestPartition& p) { return std::optional(static_cast<double>(p.dead_letters)); }},
    {"seendb_ingest_misrouted_total",
     "Dead letters since the start with events of another partition's users.", MetricType::Counter,
     [](const IngestPartition& p) { return std::optional(static_cast<double>(p.misrouted)); }},
    {"seendb_ingest_lost_total", "Offsets that were not there any more when they were to be read.",
     MetricType::Counter,
     [](const IngestPartition& p) { return std::optional(static_cast<double>(p.lost)); }},
    {"seendb_ingest_held", "1 while the partition is not read.", MetricType::Gauge,
     [](const IngestPartition& p) { return std::optional(p.held.empty() ? 0.0 : 1.0); }},
};

}  // namespace

void CollectIngest(const MetricsSnapshot& snapshot, std::vector<MetricFamily>* families) {
  const IngestState& state = snapshot.ingest;
  if (!state.configured) return;
  const auto single = [&](const char* name, const char* help, uint64_t value) {
    families->push_back(MakeFamily(name, help, MetricType::Counter));
    AddValue(&families->back(), {}, static_cast<double>(value));
  };
  single("seendb_ingest_errors_total", "Errors of brokers and of the network.", state.errors);
  single("seendb_ingest_put_off_total", "Batches that the engine could not take at once.",
         state.put_off);
  families->push_back(MakeFamily("seendb_outbox_oldest_seconds",
                                 "Age of the oldest first play of the day that waits to be told.",
                                 MetricType::Gauge));
  const int64_t age_ms =
      state.outbox_oldest_ms ? std::max<int64_t>(0, snapshot.now_ms - *state.outbox_oldest_ms) : 0;
  AddValue(&families->back(), {}, static_cast<double>(age_ms) / 1'000);
  MetricFamily alarms = MakeFamily("seendb_ingest_alarm",
                                   "1 once something was found missing, by kind, until a restart.",
                                   MetricType::Gauge);
  for (const SourceRow& row : kSourceRows) {
    MetricFamily family = MakeFamily(row.name, row.help, row.type);
    for (const IngestTopic& topic : state.topics) {
      for (const IngestPartition& one : topic.partitions) {
        const Labels labels = {{"topic", topic.topic},
                               {"partition", std::to_string(one.partition)}};
        if (const auto value = row.value(one)) AddValue(&family, labels, *value);
      }
    }
    families->push_back(std::move(family));
  }
  for (const IngestTopic& topic : state.topics) {
    for (const IngestPartition& one : topic.partitions) {
      for (const std::string& kind : one.alarms) {
        AddValue(
            &alarms,
            {{"topic", topic.topic}, {"partition", std::to_string(one.partition)}, {"kind", kind}},
            1);
      }
    }
  }
  families->push_back(std::move(alarms));
  MetricFamily refused = MakeFamily(
      "seendb_ingest_refused_total",
      "Events out of a log that were refused since the start, by reason.", MetricType::Counter);
  for (const IngestTopic& topic : state.topics) {
    for (size_t i = 0; i < kRefusalReasons; ++i) {
      AddValue(&refused, {{"topic", topic.topic}, {"reason", std::string(wire::RefusedByName(i))}},
               static_cast<double>(topic.refused_by[i]));
    }
  }
  families->push_back(std::move(refused));
}

}  // namespace seendb::ops
