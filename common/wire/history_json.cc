#include "wire/history_json.h"

#include <algorithm>
#include <array>
#include <span>

#include <nlohmann/json.hpp>

#include "wire/groups_json.h"
#include "wire/json_text.h"

namespace seendb::wire {
namespace {

enum ItemsField : size_t { kLookedUpItems, kLookedUpCollection, kDeletedSame };
constexpr std::array<std::string_view, 3> kItemsFields = {"items", "collection", "same_as"};
enum ClearField : size_t { kClearCollections, kClearFilter };
constexpr std::array<std::string_view, 2> kClearFields = {"collections", "filter"};
constexpr std::array<std::string_view, 1> kRecordingFields = {"paused"};

void AppendFields(std::string_view fields, std::string* out) {
  const bool object = fields.front() == '{' && nlohmann::json::accept(fields.begin(), fields.end());
  if (!object) return AppendJsonString(fields, out);
  const size_t begin = out->size();
  out->append(fields);
  // Between tokens only: inside a string they are escaped.
  const auto breaks = [](char c) { return c == '\n' || c == '\r'; };
  std::replace_if(out->begin() + static_cast<ptrdiff_t>(begin), out->end(), breaks, ' ');
}

void AppendEntry(const HistoryEntry& entry, bool first, std::string* out) {
  out->append(first ? "{" : ",{");
  AppendEntryMembers(entry, out);
  out->push_back('}');
}

}  // namespace

Status ParseItems(std::string_view body, JsonDocument* document, ItemsCall* call) {
  const std::span<const std::string_view> names(kItemsFields);
  FieldSet fields(call->same_as == nullptr ? names.first(kDeletedSame) : names);
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    if (field == kDeletedSame) return ReadGroups(value, call->same_as);
    if (field == kLookedUpCollection) return ReadText(value, &call->collection);
    return ReadElements(value, kMaxHistoryItems, "items", [&](size_t, ondemand::value item) {
      std::string_view token;
      return ReadId(item, &call->items.emplace_back(), &token);
    });
  });
  return status.ok() ? fields.Require(kLookedUpItems) : status;
}

Status ParseClear(std::string_view body, JsonDocument* document, ClearCall* call) {
  if (body.empty()) return Status::Ok();
  FieldSet fields(kClearFields);
  return ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    if (field == kClearFilter) return ReadBool(value, &call->filter);
    Status status = ReadElements(value, SIZE_MAX, "collections", [&](size_t, ondemand::value name) {
      return ReadText(name, &call->collections.emplace_back());
    });
    // The engine takes none for all.
    if (!status.ok() || !call->collections.empty()) return status;
    return Status::InvalidArgument("names none; leave it out to clear all");
  });
}

Status ParseRecording(std::string_view body, JsonDocument* document, bool* paused) {
  FieldSet fields(kRecordingFields);
  Status status = ReadObject(body, document, &fields, [&](size_t, ondemand::value value) {
    return ReadBool(value, paused);
  });
  return status.ok() ? fields.Require(0) : status;
}

void AppendEntryMembers(const HistoryEntry& entry, std::string* out) {
  out->append("\"collection\":");
  AppendJsonString(entry.collection, out);
  out->append(",\"item\":");
  AppendJsonString(entry.item, out);
  out->append(",\"at\":").append(std::to_string(entry.at_ms));
  out->append(",\"progress_s\":").append(std::to_string(entry.progress_s));
  out->append(",\"duration_s\":").append(std::to_string(entry.duration_s));
  if (!entry.device.empty()) {
    out->append(",\"device\":");
    AppendJsonString(entry.device, out);
  }
  if (!entry.fields.empty()) {
    out->append(",\"fields\":");
    AppendFields(entry.fields, out);
  }
}

void AppendDegraded(bool degraded, const std::vector<std::string>& missing, std::string* out) {
  out->append(degraded ? ",\"degraded\":true,\"missing\":[" : ",\"degraded\":false");
  if (!degraded) return;
  for (size_t i = 0; i < missing.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonString(missing[i], out);
  }
  out->push_back(']');
}

void AppendPage(const HistoryPage& page, std::string* out) {
  out->append("{\"entries\":[");
  bool first = true;
  for (const HistoryEntry& entry : page.entries) {
    AppendEntry(entry, first, out);
    first = false;
  }
  out->push_back(']');
  if (!page.cursor.empty()) {
    out->append(",\"cursor\":");
    AppendJsonString(page.cursor, out);
  }
  AppendDegraded(page.degraded, page.missing, out);
  out->push_back('}');
}

void AppendLookup(const HistoryLookup& found, std::string* out) {
  out->append("{\"entries\":[");
  bool first = true;
  for (const std::optional<HistoryEntry>& entry : found.entries) {
    if (!entry) continue;
    AppendEntry(*entry, first, out);
    first = false;
  }
  out->push_back(']');
  AppendDegraded(found.degraded, found.missing, out);
  out->push_back('}');
}

void AppendKeptNone(std::string* out) {
  out->append("{\"entries\":[],\"degraded\":false,\"kept\":false}");
}

void AppendRecording(const Recording& recording, std::string* out) {
  out->append(recording.paused ? "{\"paused\":true" : "{\"paused\":false");
  out->append(",\"since_ms\":").append(std::to_string(recording.since_ms)).append("}");
}

}  // namespace seendb::wire
