#include "report_json.h"

namespace seendb::tool {
namespace {

const char* NameOf(FilterForm form) {
  switch (form) {
    case FilterForm::kList:
      return "list";
    case FilterForm::kLayers:
      return "layers";
    case FilterForm::kSealed:
      return "sealed";
  }
  return "unknown";
}

const char* NameOf(BucketState state) {
  switch (state) {
    case BucketState::kFuture:
      return "future";
    case BucketState::kOpen:
      return "open";
    case BucketState::kClosed:
      return "closed";
    case BucketState::kSealed:
      return "sealed";
    case BucketState::kExpired:
      return "expired";
  }
  return "unknown";
}

void AddError(bool readable, const std::string& error, Json* json) {
  (*json)["readable"] = readable;
  if (!readable) (*json)["error"] = error;
}

Json BucketJson(const BucketReport& bucket) {
  Json layers = Json::array();
  for (const LayerReport& layer : bucket.layers) {
    layers.push_back({{"blocks", layer.blocks},
                      {"capacity", layer.capacity},
                      {"items", layer.items},
                      {"fill", layer.fill},
                      {"fpr", layer.fpr}});
  }
  Json json = {{"collection", bucket.collection},
               {"bucket", bucket.bucket},
               {"form", NameOf(bucket.form)},
               {"items", bucket.items},
               {"list_items", bucket.list_items},
               {"bytes", bucket.bytes},
               {"fpr", bucket.fpr},
               {"as_of_ms", bucket.as_of_ms},
               {"dropped_layers", bucket.dropped_layers},
               {"damaged", bucket.damaged}};
  AddError(bucket.readable, bucket.error, &json);
  json["layers"] = std::move(layers);
  return json;
}

Json ImpressionsJson(const ImpressionsReport& report) {
  Json entries = Json::array();
  for (const ImpressionReport& entry : report.entries) {
    entries.push_back({{"fingerprint", entry.fingerprint}, {"at_ms", entry.at_ms}});
  }
  Json json = {{"collection", report.collection}, {"damaged", report.damaged}};
  AddError(report.readable, report.error, &json);
  json["entries"] = std::move(entries);
  return json;
}

/// The field called `name`, or null.
const Json* Find(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(name));
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

Json ToJson(const UserReport& report) {
  Json json = {{"user", report.user}, {"shard", report.shard}};
  if (report.erased_at_ms) json["erased_at_ms"] = *report.erased_at_ms;
  Json& buckets = json["buckets"] = Json::array();
  for (const BucketReport& bucket : report.buckets) buckets.push_back(BucketJson(bucket));
  Json& ring = json["ring"] = Json::array();
  for (const StagedReport& staged : report.ring) {
    ring.push_back({{"collection", staged.collection},
                    {"bucket", staged.bucket},
                    {"slot", staged.slot},
                    {"drained", staged.drained},
                    {"items", staged.items}});
  }
  Json& impressions = json["impressions"] = Json::array();
  for (const auto& one : report.impressions) impressions.push_back(ImpressionsJson(one));
  return json;
}

Json ToJson(const std::vector<BucketInfo>& buckets) {
  Json list = Json::array();
  for (const BucketInfo& bucket : buckets) {
    list.push_back({{"collection", bucket.collection},
                    {"bucket", bucket.bucket},
                    {"state", NameOf(bucket.state)},
                    {"begin_ms", bucket.begin_ms},
                    {"end_ms", bucket.end_ms},
                    {"users", bucket.users},
                    {"bytes", bucket.bytes},
                    {"in_window", bucket.in_window}});
  }
  return {{"buckets", std::move(list)}};
}

Json ToJson(const std::vector<SlotInfo>& slots) {
  Json list = Json::array();
  for (const SlotInfo& slot : slots) {
    list.push_back({{"shard", slot.shard},
                    {"slot", slot.slot},
                    {"state", slot.state},
                    {"generation", slot.generation},
                    {"opened_ms", slot.opened_ms},
                    {"users", slot.users},
                    {"plays", slot.plays},
                    {"bytes", slot.bytes}});
  }
  return {{"slots", std::move(list)}};
}

Json ToJson(const EngineStats& stats) {
  return {{"plays_accepted", stats.plays_accepted},
          {"plays_refused", stats.plays_refused},
          {"impressions_accepted", stats.impressions_accepted},
          {"impressions_refused", stats.impressions_refused},
          {"filters", stats.filters},
          {"filters_degraded", stats.filters_degraded},
          {"candidates", stats.candidates},
          {"candidates_seen", stats.candidates_seen},
          {"drained_plays", stats.drained_plays},
          {"drained_records", stats.drained_records},
          {"drain_failures", stats.drain_failures},
          {"drains", stats.drains},
          {"drain_us", stats.drain_us},
          {"replayed_records", stats.replayed_records},
          {"replayed_plays", stats.replayed_plays},
          {"busy", stats.busy},
          {"users_erased", stats.users_erased},
          {"merges_full", stats.merges_full},
          {"merges_partial", stats.merges_partial},
          {"merge_operands", stats.merge_operands},
          {"reads", stats.reads},
          {"read_operands", stats.read_operands},
          {"layers_created", stats.layers_created},
          {"layers_dropped", stats.layers_dropped},
          {"damaged", stats.damaged},
          {"buckets_sealed", stats.buckets_sealed},
          {"buckets_dropped", stats.buckets_dropped},
          {"background_errors", stats.background_errors},
          {"ring_bytes", stats.ring_bytes},
          {"ring_plays", stats.ring_plays},
          {"short_term_bytes", stats.short_term_bytes},
          {"ring_oldest_ms", stats.ring_oldest_ms},
          {"disk_bytes", stats.disk_bytes},
          {"memtable_bytes", stats.memtable_bytes},
          {"block_cache_bytes", stats.block_cache_bytes},
          {"pending_compaction_bytes", stats.pending_compaction_bytes},
          {"wal_bytes_written", stats.wal_bytes_written},
          {"flush_bytes_written", stats.flush_bytes_written},
          {"compaction_bytes_written", stats.compaction_bytes_written},
          {"shards", stats.shards},
          {"column_families", stats.column_families},
          {"degraded", stats.degraded},
          {"problems", stats.problems}};
}

Json ToJson(const std::vector<CollectionInfo>& collections) {
  Json list = Json::array();
  for (const CollectionInfo& collection : collections) {
    Json json = {{"name", collection.name}};
    json.update(Json::parse(PolicyToJson(collection.policy), nullptr, false));
    list.push_back(std::move(json));
  }
  return {{"collections", std::move(list)}};
}

Json ToJson(const VerifyReport& report) {
  Json damages = Json::array();
  for (const DamageReport& damage : report.damages) {
    damages.push_back({{"shard", damage.shard},
                       {"family", damage.family},
                       {"key", damage.key},
                       {"reason", damage.reason}});
  }
  return {{"keys", report.keys},
          {"bytes", report.bytes},
          {"damaged", report.damaged},
          {"damages", std::move(damages)}};
}

Json ToJson(const CheckpointReport& report) {
  return {{"shards", report.shards},
          {"files_linked", report.files_linked},
          {"files_copied", report.files_copied},
          {"bytes", report.bytes},
          {"bytes_copied", report.bytes_copied}};
}

Json ToJson(const ScanRow& row) {
  return {{"shard", row.shard},
          {"family", row.family},
          {"key", row.key},
          {"value", row.value},
          {"bytes", row.bytes}};
}

uint64_t CountOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_number_unsigned() ? field->get<uint64_t>() : 0;
}

double NumberOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_number() ? field->get<double>() : 0;
}

int64_t TimeOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_number_integer() ? field->get<int64_t>() : 0;
}

bool FlagOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_boolean() && field->get<bool>();
}

std::string TextOf(const Json& object, std::string_view name) {
  const Json* field = Find(object, name);
  return field != nullptr && field->is_string() ? field->get<std::string>() : std::string();
}

const Json& ListOf(const Json& object, std::string_view name) {
  static const Json kNone = Json::array();
  const Json* field = Find(object, name);
  return field != nullptr && field->is_array() ? *field : kNone;
}

}  // namespace seendb::tool
