// The reports of seendb/report.h as JSON, member by member under their names.

#include <string_view>

#include <nlohmann/json.hpp>

#include "seendb/report.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json ToJson(const CollectionInfo& collection) {
  Json json = {{"name", collection.name}};
  json.update(Json::parse(PolicyToJson(collection.policy)));
  return json;
}

std::string_view Name(FilterForm form) {
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

std::string_view Name(BucketState state) {
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

Json ToJson(const BucketReport& bucket) {
  Json json = {{"collection", bucket.collection},
               {"bucket", bucket.bucket},
               {"form", Name(bucket.form)},
               {"items", bucket.items},
               {"list_items", bucket.list_items},
               {"bytes", bucket.bytes},
               {"fpr", bucket.fpr},
               {"as_of_ms", bucket.as_of_ms},
               {"dropped_layers", bucket.dropped_layers},
               {"damaged", bucket.damaged},
               {"readable", bucket.readable}};
  if (!bucket.readable) json["error"] = bucket.error;
  json["layers"] = Json::array();
  for (const LayerReport& layer : bucket.layers) {
    json["layers"].push_back({{"blocks", layer.blocks},
                              {"capacity", layer.capacity},
                              {"items", layer.items},
                              {"fill", layer.fill},
                              {"fpr", layer.fpr}});
  }
  return json;
}

Json ToJson(const ImpressionsReport& impressions) {
  Json json = {{"collection", impressions.collection},
               {"damaged", impressions.damaged},
               {"readable", impressions.readable}};
  if (!impressions.readable) json["error"] = impressions.error;
  json["entries"] = Json::array();
  for (const ImpressionReport& entry : impressions.entries) {
    Json& one = json["entries"].emplace_back(
        Json{{"fingerprint", entry.fingerprint}, {"at_ms", entry.at_ms}});
    if (!entry.item.empty()) one["item"] = entry.item;
    if (!entry.surface.empty()) one["surface"] = entry.surface;
  }
  return json;
}

Json ToJson(const HistoryReport& history) {
  Json json = {
      {"collection", history.collection}, {"bucket", history.bucket},    {"items", history.items},
      {"deleted", history.deleted},       {"rows", history.rows},        {"bytes", history.bytes},
      {"damaged", history.damaged},       {"readable", history.readable}};
  if (!history.readable) json["error"] = history.error;
  return json;
}

Json ToJson(const UserReport& report) {
  Json json = {{"user", report.user}, {"shard", report.shard}};
  if (report.erased_at_ms) json["erased_at_ms"] = *report.erased_at_ms;
  for (const auto& [collection, at_ms] : report.forgotten_at_ms) {
    json["forgotten_at_ms"][collection] = at_ms;
  }
  json["buckets"] = Json::array();
  for (const BucketReport& bucket : report.buckets) json["buckets"].push_back(ToJson(bucket));
  json["ring"] = Json::array();
  for (const StagedReport& staged : report.ring) {
    json["ring"].push_back({{"collection", staged.collection},
                            {"bucket", staged.bucket},
                            {"slot", staged.slot},
                            {"drained", staged.drained},
                            {"items", staged.items}});
  }
  json["impressions"] = Json::array();
  for (const auto& impressions : report.impressions) {
    json["impressions"].push_back(ToJson(impressions));
  }
  for (const auto& exposures : report.exposures) {
    json["exposures"].push_back(ToJson(exposures));
  }
  for (const HistoryReport& history : report.history) json["history"].push_back(ToJson(history));
  if (report.paused) json["paused"] = true;
  if (report.marked_groups > 0) json["marked_groups"] = report.marked_groups;
  if (report.own_sets > 0) json["own_sets"] = report.own_sets;
  for (const auto& [collection, day] : report.last_active_days) {
    json["last_active_day"][collection] = day;
  }
  return json;
}

Json ToJson(const SourceCounts& counts) {
  return {{"plays_accepted", counts.plays_accepted},
          {"plays_refused", counts.plays_refused},
          {"impressions_accepted", counts.impressions_accepted},
          {"impressions_refused", counts.impressions_refused},
          {"exposures_accepted", counts.exposures_accepted},
          {"exposures_refused", counts.exposures_refused},
          {"dead_letters", counts.dead_letters}};
}

Json ToJson(const EngineStats& s) {
  Json json;
#define SEENDB_COUNTER(name, metric, help) json[#name] = s.name;
#include "seendb/counters.def"
#undef SEENDB_COUNTER
  json["ingested"] = ToJson(s.ingested);
  json["ring_bytes"] = s.ring_bytes;
  json["ring_plays"] = s.ring_plays;
  json["short_term_bytes"] = s.short_term_bytes;
  json["outbox_rows"] = s.outbox_rows;
  json["ring_oldest_ms"] = s.ring_oldest_ms;
  json["disk_bytes"] = s.disk_bytes;
  json["memtable_bytes"] = s.memtable_bytes;
  json["block_cache_bytes"] = s.block_cache_bytes;
  json["user_cache_bytes"] = s.user_cache_bytes;
  json["user_directory_bytes"] = s.user_directory_bytes;
  json["pending_compaction_bytes"] = s.pending_compaction_bytes;
  json["wal_bytes_written"] = s.wal_bytes_written;
  json["flush_bytes_written"] = s.flush_bytes_written;
  json["compaction_bytes_written"] = s.compaction_bytes_written;
  json["shards"] = s.shards;
  json["shards_open"] = s.shards_open;
  json["shards_opening"] = s.shards_opening;
  json["column_families"] = s.column_families;
  json["clock_in_doubt"] = s.clock_in_doubt;
  json["degraded"] = s.degraded;
  json["problems"] = s.problems;
  return json;
}

Json ToJson(const BucketInfo& bucket) {
  return {{"collection", bucket.collection}, {"bucket", bucket.bucket},
          {"state", Name(bucket.state)},     {"begin_ms", bucket.begin_ms},
          {"end_ms", bucket.end_ms},         {"bytes", bucket.bytes},
          {"in_window", bucket.in_window}};
}

Json ToJson(const SlotInfo& slot) {
  return {{"shard", slot.shard},           {"slot", slot.slot},           {"state", slot.state},
          {"generation", slot.generation}, {"opened_ms", slot.opened_ms}, {"users", slot.users},
          {"plays", slot.plays},           {"bytes", slot.bytes}};
}

Json ToJson(const CheckpointReport& report) {
  return {{"shards", report.shards},
          {"files_linked", report.files_linked},
          {"files_copied", report.files_copied},
          {"bytes", report.bytes},
          {"bytes_copied", report.bytes_copied}};
}

/// `{"name":[...]}`.
template <typename Reports>
std::string ListText(const char* name, const Reports& reports) {
  Json list = Json::array();
  for (const auto& report : reports) list.push_back(ToJson(report));
  return Text({{name, std::move(list)}});
}

}  // namespace

std::string ReportToJson(const UserReport& report) { return Text(ToJson(report)); }

std::string ReportToJson(const EngineStats& stats) { return Text(ToJson(stats)); }

std::string ReportToJson(const CheckpointReport& report) { return Text(ToJson(report)); }

std::string ReportToJson(const CollectionInfo& collection) { return Text(ToJson(collection)); }

std::string ReportToJson(const std::vector<CollectionInfo>& collections) {
  return ListText("collections", collections);
}

std::string ReportToJson(const std::vector<BucketInfo>& buckets) {
  return ListText("buckets", buckets);
}

std::string ReportToJson(const std::vector<SlotInfo>& slots) { return ListText("slots", slots); }

}  // namespace seendb
