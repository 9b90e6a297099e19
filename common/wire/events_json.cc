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
  kEventOf,
  kEventSame,
};
constexpr std::array<std::string_view, 10> kPlayNames = {
    "user", "item", "at", "progress_s", "duration_s", "device", "fields", "day", "of", "same_as"};
constexpr std::array<std::string_view, 5> kImpressionNames = {"user", "item", "at", "of",
                                                              "same_as"};
constexpr size_t kImpressionSame = 4;

enum PlaysField : size_t { kEvents, kPlaysCollection };
constexpr std::array<std::string_view, 2> kPlaysFields = {"events", "collection"};

enum ImpressionsField : size_t { kUser, kItems, kCollection, kAt, kSurface };
constexpr std::array<std::string_view, 5> kImpressionsFields = {"user", "items", "collection", "at",
                                                                "surface"};

enum ServedField : size_t { kServedId, kServedOf, kServedSame };
constexpr std::array<std::string_view, 3> kServedFields = {"id", "of", "same_as"};

// The names without the last ones, which only an event that may have groups has.
template <size_t kCount>
std::span<const std::string_view> NamesOf(const std::array<std::string_view, kCount>& names,
                                          bool with_last, size_t last) {
  return std::span<const std::string_view>(names).first(with_last ? kCount : kCount - last);
}

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

// The event at `position`.
Status ReadEventFields(ondemand::object object, size_t position, Play* event, Watch* watch,
                       EventGroupsReader* groups) {
  *event = Play();
  const bool grouped = groups != nullptr;
  const bool play = watch != nullptr;
  FieldSet fields(play ? NamesOf(kPlayNames, grouped, 2) : NamesOf(kImpressionNames, grouped, 2));
  std::string_view token;
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value value) {
    if (field == kEventUser) return ReadId(value, &event->user, &token);
    if (field == kEventItem) return ReadId(value, &event->item, &token);
    if (field == kEventAt) return ReadTime(value, &event->at_ms);
    if (!play) return groups->Read(value, position, field == kImpressionSame);
    if (field >= kEventOf) return groups->Read(value, position, field == kEventSame);
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
    const size_t position = call->plays.size();
    Play& play = call->plays.emplace_back();
    Status read = ReadEventFields(object, position, &play, &watch, call->groups);
    if (play.watch != nullptr) call->watches.push_back(watch);
    return read;
  });
  if (call->groups != nullptr) call->groups->GiveTo(std::span(call->plays));
  if (call->watches.empty()) return status;
  const Watch* next = call->watches.data();  // only now do they stay where they are
  for (Play& play : call->plays) {
    if (play.watch != nullptr) play.watch = next++;
  }
  return status;
}

Status ReadServed(ondemand::object object, size_t position, IdRef* item,
                  EventGroupsReader* groups) {
  FieldSet fields(kServedFields);
  std::string_view token;
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value value) {
    return field == kServedId ? ReadId(value, item, &token)
                              : groups->Read(value, position, field == kServedSame);
  });
  return status.ok() ? fields.Require(kServedId) : status;
}

Status ReadItems(ondemand::value value, size_t max_items, ImpressionsCall* call) {
  std::string_view token;
  return ReadElements(value, max_items, "items", [&](size_t position, ondemand::value item) {
    IdRef* const id = &call->impressions.emplace_back().item;
    ondemand::object object;
    if (call->groups == nullptr || *item.raw_json_token().data() != '{') {
      return ReadId(item, id, &token);
    }
    if (const auto error = item.get_object().get(object)) return Malformed(error);
    return ReadServed(object, position, id, call->groups);
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
  FieldSet fields(NamesOf(kImpressionsFields, call->groups != nullptr, 1));
  Impression common;
  std::string_view token;
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    return field == kUser         ? ReadId(value, &common.user, &token)
           : field == kItems      ? ReadItems(value, max_items, call)
           : field == kCollection ? ReadCollection(value, &call->collection)
           : field == kSurface    ? ReadSurface(value, &common.surface)
                                  : ReadTime(value, &common.at_ms);
  });
  if (status.ok()) status = fields.Require(kUser);
  if (!status.ok()) return status;
  for (Impression& impression : call->impressions) {
    impression.user = common.user;
    impression.at_ms = common.at_ms;
    impression.surface = common.surface;
  }
  if (call->groups != nullptr) call->groups->GiveTo(std::span(call->impressions));
  return fields.Require(kItems);
}

Status ParseEvent(std::string_view line, JsonDocument* document, Play* event, Watch* watch,
                  EventGroupsReader* groups) {
  if (groups != nullptr) groups->Clear();
  ondemand::object root;
  if (Status status = document->Begin(line, &root); !status.ok()) return status;
  if (Status status = ReadEventFields(root, 0, event, watch, groups); !status.ok()) return status;
  if (groups != nullptr) groups->GiveTo(std::span(event, 1));
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
