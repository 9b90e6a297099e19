// The part of /metrics that is read from the consumption of a log.

#include <algorithm>

#include <prometheus/metric_family.h>

#include "ops/metric_rows.h"
#include "ops/metrics.h"
#include "wire/refusal_names.h"

namespace seendb::ops {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

const MetricRow<IngestPartition> kPartition[] = {
    {"seendb_ingest_applied_offset", "The offset to read next.", kGauge,
     MemberIfKnown<&IngestPartition::applied_offset>},
    {"seendb_ingest_high_watermark", "The end of the partition's log.", kGauge,
     MemberIfKnown<&IngestPartition::high_watermark>},
    {"seendb_ingest_lag", "Messages still to be read; absent while not known.", kGauge,
     [](const IngestPartition& p) -> std::optional<double> {
       const auto lag = p.Lag();
       if (!lag) return {};
       return static_cast<double>(*lag);
     }},
    {"seendb_ingest_messages_total", "Messages read.", kCounter,
     MemberValue<&IngestPartition::messages>},
    {"seendb_ingest_dead_letters_total",
     "Messages that held no event, over all openings; of items, since the start.", kCounter,
     MemberValue<&IngestPartition::dead_letters>},
    {"seendb_ingest_misrouted_total",
     "Dead letters since the start with events of another partition's users.", kCounter,
     MemberValue<&IngestPartition::misrouted>},
    {"seendb_ingest_lost_total", "Offsets that were not there any more when they were to be read.",
     kCounter, MemberValue<&IngestPartition::lost>},
    {"seendb_ingest_held", "1 while the partition is not read.", kGauge,
     [](const IngestPartition& p) { return std::optional(p.held.empty() ? 0.0 : 1.0); }},
};

const MetricRow<IngestState> kConsumption[] = {
    {"seendb_ingest_errors_total", "Errors of brokers and of the network.", kCounter,
     MemberValue<&IngestState::errors>},
    {"seendb_ingest_put_off_total", "Batches that the engine could not take at once.", kCounter,
     MemberValue<&IngestState::put_off>},
};

}  // namespace

void CollectIngest(const MetricsSnapshot& snapshot, std::vector<MetricFamily>* families) {
  const IngestState& state = snapshot.ingest;
  if (!state.configured) return;
  AddRows(kConsumption, state, families);
  MetricFamily age = MakeFamily("seendb_outbox_oldest_seconds",
                                "Age of the oldest first play of the day that waits to be told.",
                                MetricType::Gauge);
  const int64_t oldest_ms = state.outbox_oldest_ms.value_or(snapshot.now_ms);
  AddValue(&age, {}, static_cast<double>(std::max<int64_t>(0, snapshot.now_ms - oldest_ms)) * 1e-3);
  families->push_back(std::move(age));
  std::vector<std::pair<Labels, const IngestPartition*>> partitions;
  for (const IngestTopic& topic : state.topics) {
    for (const IngestPartition& one : topic.partitions) {
      partitions.emplace_back(
          Labels{{"topic", topic.topic}, {"partition", std::to_string(one.partition)}}, &one);
    }
  }
  AddRows(kPartition, partitions, families);
  MetricFamily alarms = MakeFamily("seendb_ingest_alarm",
                                   "1 once something was found missing, by kind, until a restart.",
                                   MetricType::Gauge);
  for (const auto& [labels, one] : partitions) {
    for (const std::string& kind : one->alarms) {
      Labels with_kind = labels;
      with_kind.push_back({"kind", kind});
      AddValue(&alarms, std::move(with_kind), 1);
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
