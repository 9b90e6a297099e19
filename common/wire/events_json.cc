#include "wire/events_json.h"

#include <array>
#include <span>

#include "seendb/policy.h"
#include "wire/json_text.h"
#include "wire/refusal_names.h"

namespace seendb::wire {
namespace {

enum EventField : size_t {
  kEventUser,
  kEventItem,
  kEventAt,
  kEventProgress,
  kEventDuration,
  kEventDevice,
  kEventFields,
  kEventDay,
};
constexpr std::array<std::string_view, 8> kEventNames = {
    "user", "item", "at", "progress_s", "duration_s", "device", "fields", "day"};
constexpr size_t kImpressionNames = kEventProgress;  // the first of them

enum PlaysField : size_t { kEvents, kPlaysCollection };
constexpr std::array<std::string_view, 2> kPlaysFields = {"events", "collection"};

enum ImpressionsField : size_t { kUser, kItems, kCollection, kAt };
constexpr std::array<std::string_view, 4> kImpressionsFields = {"user", "items", "collection",
                                                                "at"};

Status ReadCollection(ondemand::value value, std::optional<std::string_view>* collection) {
  std::string_view text;
  if (Status status = ReadText(value, &text); !status.ok()) return status;
  *collection = text;
  return Status::Ok();
}

Status ReadWatchField(size_t field, ondemand::value value, Watch* watch) {
  return field == kEventProgress   ? ReadProgress(value, &watch->progress_s)
         : field == kEventDuration ? ReadDuration(value, &watch->duration_s)
         : field == kEventDevice   ? ReadDevice(value, &watch->device)
                                   : ReadOpaque(value, kMaxFieldsBytes, &watch->fields);
}

Status ReadEventFields(ondemand::object object, Play* event, Watch* watch) {
  *event = Play();
  const std::span<const std::string_view> names(kEventNames);
  FieldSet fields(watch != nullptr ? names : names.first(kImpressionNames));
  std::string_view token;
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value value) {
    if (field == kEventUser) return ReadId(value, &event->user, &token);
    if (field == kEventItem) return ReadId(value, &event->item, &token);
    if (field == kEventAt) return ReadTime(value, &event->at_ms);
    if (field == kEventDay) return ReadDay(value, &event->day);
    if (event->watch == nullptr) *watch = Watch();
    event->watch = watch;
    return ReadWatchField(field, value, watch);
  });
  if (status.ok()) status = fields.Require(kEventUser);
  return status.ok() ? fields.Require(kEventItem) : status;
}

Status ReadEvents(ondemand::value value, PlaysCall* call) {
  Watch watch;
  Status status = ReadElements(value, SIZE_MAX, "events", [&](size_t, ondemand::value item) {
    ondemand::object object;
    if (const auto error = item.get_object().get(object)) {
      return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                               : Malformed(error);
    }
    Play& play = call->plays.emplace_back();
    Status read = ReadEventFields(object, &play, &watch);
    if (play.watch != nullptr) call->watches.push_back(watch);
    return read;
  });
  if (call->watches.empty()) return status;
  const Watch* next = call->watches.data();  // only now do they stay where they are
  for (Play& play : call->plays) {
    if (play.watch != nullptr) play.watch = next++;
  }
  return status;
}

Status ReadItems(ondemand::value value, size_t max_items, std::vector<Impression>* impressions) {
  std::string_view token;
  return ReadElements(value, max_items, "items", [&](size_t, ondemand::value item) {
    return ReadId(item, &impressions->emplace_back().item, &token);
  });
}

}  // namespace

Status ReadProgress(ondemand::value value, std::optional<int32_t>* progress_s) {
  constexpr std::string_view kFinishedToken = "-1";
  static_assert(kFinished == -1);
  if (TokenOf(value) == kFinishedToken) {
    *progress_s = kFinished;
    return Status::Ok();
  }
  if (ReadDuration(value, progress_s).ok()) return Status::Ok();
  return Status::InvalidArgument("must be whole seconds, or -1 for finished");
}

Status ReadDuration(ondemand::value value, std::optional<int32_t>* duration_s) {
  uint64_t number = 0;
  const Status status = ReadUint(value, &number);
  if (!status.ok() || number > static_cast<uint64_t>(INT32_MAX)) {
    return Status::InvalidArgument("must be whole seconds");
  }
  *duration_s = static_cast<int32_t>(number);
  return Status::Ok();
}

Status ReadDevice(ondemand::value value, std::string_view* device) {
  if (Status status = ReadText(value, device); !status.ok()) return status;
  if (device->size() <= kMaxDeviceBytes) return Status::Ok();
  return Status::InvalidArgument("longer than " + std::to_string(kMaxDeviceBytes) + " bytes");
}

Status ReadDay(ondemand::value value, std::string_view* day) {
  if (Status status = ReadText(value, day); !status.ok()) return status;
  return day->empty() ? Status::Ok() : DayOfText(*day).status();
}

Status ParsePlays(std::string_view body, JsonDocument* document, PlaysCall* call) {
  call->plays.clear();
  call->watches.clear();
  call->collection.reset();
  FieldSet fields(kPlaysFields);
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    return field == kEvents ? ReadEvents(value, call) : ReadCollection(value, &call->collection);
  });
  if (status.field() == "/user" || status.field() == "/item") {  // an event without its array
    return Status::InvalidArgument(
        std::string(status.message()) +
            R"(; an event goes into {"events":[...]}, or alone into a line of application/x-ndjson)",
        std::string(status.field()));
  }
  return status.ok() ? fields.Require(kEvents) : status;
}

Status SplitPlays(std::string_view body, JsonDocument* document,
                  std::vector<std::string_view>* events) {
  events->clear();
  FieldSet fields(kPlaysFields);
  return ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    std::string_view ignored;
    if (field != kEvents) return ReadText(value, &ignored);
    return ReadElements(value, SIZE_MAX, "events", [&](size_t, ondemand::value item) {
      ondemand::object object;
      std::string_view text;
      if (const auto error = item.get_object().get(object)) return Malformed(error);
      if (const auto error = object.raw_json().get(text)) return Malformed(error);
      events->push_back(text);
      return Status::Ok();
    });
  });
}

Status ParseImpressions(std::string_view body, size_t max_items, JsonDocument* document,
                        ImpressionsCall* call) {
  call->impressions.clear();
  call->collection.reset();
  FieldSet fields(kImpressionsFields);
  Impression common;
  std::string_view token;
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    return field == kUser         ? ReadId(value, &common.user, &token)
           : field == kItems      ? ReadItems(value, max_items, &call->impressions)
           : field == kCollection ? ReadCollection(value, &call->collection)
                                  : ReadTime(value, &common.at_ms);
  });
  if (status.ok()) status = fields.Require(kUser);
  if (!status.ok()) return status;
  for (Impression& impression : call->impressions) {
    impression.user = common.user;
    impression.at_ms = common.at_ms;
  }
  return fields.Require(kItems);
}

Status ParseEvent(std::string_view line, JsonDocument* document, Play* event, Watch* watch) {
  ondemand::object root;
  if (Status status = document->Begin(line, &root); !status.ok()) return status;
  if (Status status = ReadEventFields(root, event, watch); !status.ok()) return status;
  return document->End();
}

void AppendId(const IdRef& id, std::string* out) {
  if (id.is_number()) return id.AppendTo(out);
  AppendJsonString(id.text(), out);
}

void AppendEvent(const Play& event, std::string* out) {
  out->append("{\"user\":");
  AppendId(event.user, out);
  out->append(",\"item\":");
  AppendId(event.item, out);
  if (event.at_ms) out->append(",\"at\":").append(std::to_string(*event.at_ms));
  out->push_back('}');
}

void AppendRecorded(const Recorded& recorded, std::string* out) {
  out->append("{\"accepted\":").append(std::to_string(recorded.accepted));
  out->append(",\"refused\":").append(std::to_string(recorded.refused));
  out->append(",\"refusals\":[");
  for (size_t i = 0; i < recorded.refusals.size(); ++i) {
    const RefusedEvent& refusal = recorded.refusals[i];
    out->append(i == 0 ? "{\"index\":" : ",{\"index\":").append(std::to_string(refusal.index));
    out->append(",\"error\":");
    AppendErrorObject(StatusCodeName(refusal.status.code()), refusal.status.message(),
                      refusal.status.field(), out);
    out->push_back('}');
  }
  out->push_back(']');
  constexpr const char* kRefusedByBegin = ",\"refused_by\":{\"";
  const char* before = kRefusedByBegin;
  for (size_t i = 0; i < recorded.refused_by.size(); ++i) {
    if (recorded.refused_by[i] == 0) continue;
    out->append(before).append(RefusedByName(i)).append("\":");
    out->append(std::to_string(recorded.refused_by[i]));
    before = ",\"";
  }
  if (before != kRefusedByBegin) out->push_back('}');
  const auto append_count = [out](const char* member, uint64_t count) {
    if (count > 0) out->append(member).append(std::to_string(count));
  };
  append_count(",\"outside_window\":", recorded.outside_window);
  append_count(",\"beyond_cap\":", recorded.beyond_cap);
  if (!recorded.day.empty()) {
    out->append(",\"day\":\"").append(recorded.day).append("\",\"first_today\":[");
    for (size_t i = 0; i < recorded.first_today.size(); ++i) {
      if (i > 0) out->push_back(',');
      out->append(std::to_string(recorded.first_today[i]));
    }
    out->push_back(']');
    if (recorded.first_today_count) {
      out->append(",\"first_today_count\":").append(std::to_string(*recorded.first_today_count));
    }
  }
  out->push_back('}');
}

}  // namespace seendb::wire
