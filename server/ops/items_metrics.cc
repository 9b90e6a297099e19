// The metrics of the store of items; none where there is no store.

#include "ops/metric_family.h"
#include "ops/metrics.h"

namespace seendb::ops {

void CollectItems(const MetricsSnapshot& snapshot,
                  std::vector<prometheus::MetricFamily>* families) {
  if (!snapshot.items) return;
  const ItemsState& items = *snapshot.items;
  const auto add = [&](const char* name, const char* help, prometheus::MetricType type,
                       uint64_t value) {
    families->push_back(MakeFamily(name, help, type));
    AddValue(&families->back(), {}, static_cast<double>(value));
  };
  constexpr auto kGauge = prometheus::MetricType::Gauge;
  constexpr auto kCounter = prometheus::MetricType::Counter;
  add("seendb_items", "Items that the store has.", kGauge, items.store.items);
  add("seendb_items_remembered", "Deleted items that the store remembers.", kGauge,
      items.store.remembered);
  add("seendb_items_memory_bytes", "Memory of records, texts, columns and the map.", kGauge,
      items.store.memory_bytes);
  add("seendb_items_limit_bytes", "The setting items.bytes.", kGauge, items.bytes_limit);
  add("seendb_items_damaged", "Rows of items that the opening could not read.", kGauge,
      items.store.damaged);
  families->push_back(
      MakeFamily("seendb_items_load_seconds", "How long the opening read items.", kGauge));
  AddValue(&families->back(), {}, static_cast<double>(items.store.load_ms) * 1e-3);
  add("seendb_item_updates_accepted_total", "Updates of items that were applied.", kCounter,
      items.accepted);
  add("seendb_item_updates_refused_total", "Updates of items that were refused.", kCounter,
      items.refused);
  add("seendb_item_fields_stale_total", "Fields of updates that had a lower version than the item.",
      kCounter, items.stale);
}

}  // namespace seendb::ops
