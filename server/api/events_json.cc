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

Status ReadEventFields(ondemand::object& object, Play* event) {
  *event = Play();
  FieldSet fields(kEventFields);
  std::string_view token;
  for (auto member : object) {
    ondemand::field field;
    if (const auto error = std::move(member).get(field)) return Malformed(error);
    size_t index = 0;
    if (Status status = fields.Take(field, &index); !status.ok()) return status;
    Status status = index == kEventUser   ? ReadId(field.value(), &event->user, &token)
                    : index == kEventItem ? ReadId(field.value(), &event->item, &token)
                                          : ReadTime(field.value(), &event->at_ms);
    if (!status.ok()) return Within(std::move(status), PointerTo(kEventFields[index]));
  }
  if (Status status = fields.Require(kEventUser); !status.ok()) return status;
  return fields.Require(kEventItem);
}

Status ReadEvents(ondemand::value value, std::vector<Play>* plays) {
  ondemand::array array;
  if (Status status = ReadArray(value, &array); !status.ok()) return status;
  for (auto element : array) {
    ondemand::value item;
    if (const auto error = std::move(element).get(item)) return Malformed(error);
    ondemand::object object;
    const auto error = item.get_object().get(object);
    Status status = error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                    : error                           ? Malformed(error)
                                                      : Status::Ok();
    Play play;
    if (status.ok()) status = ReadEventFields(object, &play);
    if (!status.ok()) return Within(std::move(status), "/" + std::to_string(plays->size()));
    plays->push_back(play);
  }
  return Status::Ok();
}

Status ReadItems(ondemand::value value, size_t max_items, std::vector<Impression>* impressions) {
  ondemand::array array;
  if (Status status = ReadArray(value, &array); !status.ok()) return status;
  for (auto element : array) {
    ondemand::value item;
    if (const auto error = std::move(element).get(item)) return Malformed(error);
    if (impressions->size() == max_items) {
      return Status::InvalidArgument("more than " + std::to_string(max_items) + " items");
    }
    Impression impression;
    std::string_view token;
    Status status = ReadId(item, &impression.item, &token);
    if (!status.ok()) return Within(std::move(status), "/" + std::to_string(impressions->size()));
    impressions->push_back(impression);
  }
  return Status::Ok();
}

}  // namespace

Status ParsePlays(std::string_view body, JsonDocument* document, PlaysCall* call) {
  call->plays.clear();
  call->collection.reset();
  ondemand::object root;
  if (Status status = document->Begin(body, &root); !status.ok()) return status;
  FieldSet fields(kPlaysFields);
  for (auto member : root) {
    ondemand::field field;
    if (const auto error = std::move(member).get(field)) return Malformed(error);
    size_t index = 0;
    if (Status status = fields.Take(field, &index); !status.ok()) return status;
    Status status = index == kEvents ? ReadEvents(field.value(), &call->plays)
                                     : ReadCollection(field.value(), &call->collection);
    if (!status.ok()) return Within(std::move(status), PointerTo(kPlaysFields[index]));
  }
  if (Status status = document->End(); !status.ok()) return status;
  return fields.Require(kEvents);
}

Status ParseImpressions(std::string_view body, size_t max_items, JsonDocument* document,
                        ImpressionsCall* call) {
  call->impressions.clear();
  call->collection.reset();
  ondemand::object root;
  if (Status status = document->Begin(body, &root); !status.ok()) return status;
  FieldSet fields(kImpressionsFields);
  Impression common;
  std::string_view token;
  for (auto member : root) {
    ondemand::field field;
    if (const auto error = std::move(member).get(field)) return Malformed(error);
    size_t index = 0;
    if (Status status = fields.Take(field, &index); !status.ok()) return status;
    Status status = index == kUser         ? ReadId(field.value(), &common.user, &token)
                    : index == kItems      ? ReadItems(field.value(), max_items, &call->impressions)
                    : index == kCollection ? ReadCollection(field.value(), &call->collection)
                                           : ReadTime(field.value(), &common.at_ms);
    if (!status.ok()) return Within(std::move(status), PointerTo(kImpressionsFields[index]));
  }
  if (Status status = document->End(); !status.ok()) return status;
  if (Status status = fields.Require(kUser); !status.ok()) return status;
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
