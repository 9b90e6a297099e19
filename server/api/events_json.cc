#include "api/events_json.h"

#include <array>

#include "http/error.h"

namespace seendb::api {
namespace {

enum EventField : size_t { kEventUser, kEventItem, kEventAt };
constexpr std::array<std::string_view, 3> kEventFields = {"user", "item", "at"};

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

Status ReadEventFields(ondemand::object object, Play* event) {
  *event = Play();
  FieldSet fields(kEventFields);
  std::string_view token;
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value value) {
    return field == kEventUser   ? ReadId(value, &event->user, &token)
           : field == kEventItem ? ReadId(value, &event->item, &token)
                                 : ReadTime(value, &event->at_ms);
  });
  if (status.ok()) status = fields.Require(kEventUser);
  return status.ok() ? fields.Require(kEventItem) : status;
}

Status ReadEvents(ondemand::value value, std::vector<Play>* plays) {
  return ReadElements(value, SIZE_MAX, "events", [&](size_t, ondemand::value item) {
    ondemand::object object;
    if (const auto error = item.get_object().get(object)) {
      return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                               : Malformed(error);
    }
    return ReadEventFields(object, &plays->emplace_back());
  });
}

Status ReadItems(ondemand::value value, size_t max_items, std::vector<Impression>* impressions) {
  std::string_view token;
  return ReadElements(value, max_items, "items", [&](size_t, ondemand::value item) {
    return ReadId(item, &impressions->emplace_back().item, &token);
  });
}

}  // namespace

Status ParsePlays(std::string_view body, JsonDocument* document, PlaysCall* call) {
  call->plays.clear();
  call->collection.reset();
  FieldSet fields(kPlaysFields);
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    return field == kEvents ? ReadEvents(value, &call->plays)
                            : ReadCollection(value, &call->collection);
  });
  return status.ok() ? fields.Require(kEvents) : status;
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

Status ParseEvent(std::string_view line, JsonDocument* document, Play* event) {
  ondemand::object root;
  if (Status status = document->Begin(line, &root); !status.ok()) return status;
  if (Status status = ReadEventFields(root, event); !status.ok()) return status;
  return document->End();
}

void AppendRecorded(uint64_t accepted, uint64_t refused, const std::vector<RefusedEvent>& refusals,
                    std::string* out) {
  out->append("{\"accepted\":").append(std::to_string(accepted));
  out->append(",\"refused\":").append(std::to_string(refused)).append(",\"refusals\":[");
  for (size_t i = 0; i < refusals.size(); ++i) {
    const RefusedEvent& refusal = refusals[i];
    out->append(i == 0 ? "{\"index\":" : ",{\"index\":").append(std::to_string(refusal.index));
    out->append(",\"error\":");
    http::AppendErrorObject(StatusCodeName(refusal.status.code()), refusal.status.message(),
                            refusal.status.field(), out);
    out->push_back('}');
  }
  out->append("]}");
}

}  // namespace seendb::api
