#include "router/event_batch.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "wire/events_json.h"
#include "wire/json_text.h"

namespace seendb::router {
namespace {

using api::EventKind;
using cluster::LogKind;

/// Left for what stands around the events of a record.
constexpr size_t kAroundBytes = 4u << 10;

LogKind RecordKindOf(EventKind kind, bool grouped) {
  if (kind == EventKind::kExposures) return LogKind::kExposures;
  if (kind == EventKind::kPlays) return grouped ? LogKind::kPlaysGrouped : LogKind::kPlays;
  return grouped ? LogKind::kImpressionsGrouped : LogKind::kImpressions;
}

void AppendGroups(std::string_view member, EventGroups groups, std::string* json) {
  if (groups.empty()) return;
  json->append(",\"").append(member).append("\":[");
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i > 0) json->push_back(',');
    wire::AppendJsonString(groups[i], json);
  }
  json->push_back(']');
}

/// A failure of the event at "/<position in its record>/..." with its index in the request.
Status Renumbered(const Status& status, const std::vector<uint64_t>& indexes) {
  const std::string_view field = status.field();
  const size_t slash = field.find('/', 1);
  size_t position = 0;
  if (slash == std::string_view::npos) return status;
  const auto [stop, error] = std::from_chars(field.data() + 1, field.data() + slash, position);
  if (error != std::errc() || stop != field.data() + slash || position >= indexes.size()) {
    return status;
  }
  std::string renumbered = "/" + std::to_string(indexes[position]);
  return Status(status.code(), std::string(status.message()),
                renumbered.append(field.substr(slash)));
}

}  // namespace

EventBatch::Part& EventBatch::PartFor(uint32_t partition, std::string_view user, size_t bytes,
                                      const Common& common) {
  const auto open = open_.find(partition);
  if (open != open_.end()) {
    Part& part = parts_[open->second];
    const bool full = part.indexes.size() >= cluster::kLogEventsMost ||
                      part.record.value.size() + bytes + kAroundBytes > cluster::kLogValueBytesMost;
    // A record of impressions is of one user, one time and one surface.
    const bool fits =
        kind_ != EventKind::kImpressions ||
        (part.record.key == user && part.at_ms == common.at_ms && part.surface == common.surface);
    if (!full && fits) return part;
  }
  open_[partition] = parts_.size();
  Part& part = parts_.emplace_back();
  part.record.partition = partition;
  part.record.key = user;
  part.at_ms = common.at_ms;
  part.surface = common.surface;
  part.grouped = !common.surface.empty();
  if (kind_ != EventKind::kImpressions) {
    part.record.value = "{\"events\":[";
  } else {
    part.record.value = "{\"user\":";
    wire::AppendJsonString(user, &part.record.value);
    part.record.value += ",\"items\":[";
  }
  return part;
}

void EventBatch::Add(uint32_t partition, std::string_view user, uint64_t index,
                     std::string_view json, const Common& common, bool grouped) {
  Part& part = PartFor(partition, user, json.size() + 1, common);
  part.grouped = part.grouped || grouped;
  if (!part.indexes.empty()) part.record.value += ',';
  part.record.value += json;
  part.indexes.push_back(index);
  ++events_;
  bytes_ += json.size() + sizeof(uint64_t);
}

void EventBatch::AddEvent(uint32_t partition, std::string_view user, uint64_t index,
                          std::string_view json, bool grouped) {
  Add(partition, user, index, json, {}, grouped);
}

void EventBatch::AddImpression(uint32_t partition, std::string_view user, uint64_t index,
                               const Impression& impression) {
  const bool grouped = !impression.of.empty() || !impression.same_as.empty();
  std::string token = grouped ? "{\"id\":" : "";
  wire::AppendId(impression.item, &token);
  if (grouped) {
    AppendGroups("of", impression.of, &token);
    AppendGroups("same_as", impression.same_as, &token);
    token.push_back('}');
  }
  Add(partition, user, index, token, {impression.at_ms, impression.surface}, grouped);
}

void EventBatch::Close(Part* part) const {
  part->record.kind = RecordKindOf(kind_, part->grouped);
  std::string& value = part->record.value;
  value.append("],\"collection\":");
  wire::AppendJsonString(collection_, &value);
  if (!part->surface.empty()) {
    value.append(",\"surface\":");
    wire::AppendJsonString(part->surface, &value);
  }
  if (part->at_ms) value.append(",\"at\":").append(std::to_string(*part->at_ms));
  value += '}';
}

std::vector<OwnedRecord> EventBatch::TakeRecords() {
  std::vector<OwnedRecord> records;
  for (Part& part : parts_) {
    Close(&part);
    records.push_back(std::move(part.record));
  }
  open_.clear();
  return records;
}

EventBatch::Outcome EventBatch::Merge(const std::vector<Result<wire::Appended>>& results,
                                      Positions* positions) const {
  Outcome outcome;
  RecordResult& all = outcome.recorded;
  std::vector<std::pair<uint64_t, Refusal>> refusals;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) {
      if (outcome.failure.ok()) outcome.failure = results[i].status();
      continue;
    }
    const wire::Appended& appended = *results[i];
    const Part& part = parts_[i];
    NoteWritten(part.record.partition, appended.offset, positions);
    outcome.pending = outcome.pending || !appended.applied;
    if (!appended.verdict.ok() && outcome.failure.ok()) {
      outcome.failure = Renumbered(appended.verdict, part.indexes);
    }
    const RecordResult& one = appended.recorded;
    all.accepted += one.accepted;
    all.refused += one.refused;
    for (size_t r = 0; r < kRefusalReasons; ++r) all.refused_by[r] += one.refused_by[r];
    all.outside_window += one.outside_window;
    all.beyond_cap += one.beyond_cap;
    if (!one.day.empty()) all.day = one.day;
    for (const Refusal& refusal : one.refusals) {
      if (refusal.index >= part.indexes.size()) continue;
      refusals.emplace_back(part.indexes[refusal.index], refusal);
    }
    for (const uint32_t index : one.first_today) {
      if (index < part.indexes.size()) outcome.first_at.push_back(part.indexes[index]);
    }
  }
  std::sort(refusals.begin(), refusals.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  refusals.resize(std::min(refusals.size(), kMaxRefusals), {0, Refusal{}});
  for (auto& [index, refusal] : refusals) {
    outcome.refused_at.push_back(index);
    all.refusals.push_back(std::move(refusal));
  }
  std::sort(outcome.first_at.begin(), outcome.first_at.end());
  return outcome;
}

}  // namespace seendb::router
