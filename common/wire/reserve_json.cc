#include "wire/reserve_json.h"

#include <algorithm>
#include <array>
#include <limits>

#include "wire/caps_json.h"
#include "wire/events_json.h"
#include "wire/json_text.h"

namespace seendb::wire {
namespace {

enum ReserveField : size_t {
  kReserveUser,
  kReserveItems,
  kReserveCaps,
  kReserveExpires,
  kReserveAt,
  kReserveCollection,
};
constexpr std::array<std::string_view, 6> kReserveFields = {"user",       "items", "caps",
                                                            "expires_ms", "at",    "collection"};

Status ReadExpires(ondemand::value value, int64_t* expires_ms) {
  uint64_t number = 0;
  if (Status status = ReadUint(value, &number); !status.ok()) return status;
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  *expires_ms = static_cast<int64_t>(std::min(number, kMost));
  return Status::Ok();
}

Status ReadReservedItems(ondemand::value value, size_t max_items, ReserveCall* call) {
  std::string_view token;
  return ReadElements(value, max_items, "ids", [&](size_t position, ondemand::value item) {
    IdRef* const id = &call->items.emplace_back();
    bool no_id = false;
    Status status = *item.raw_json_token().data() == '{'
                        ? call->groups_read.Read(item, position, id, &token, &no_id)
                        : ReadId(item, id, &token);
    if (status.ok()) call->tokens.push_back(token);
    return status;
  });
}

}  // namespace

Status ParseReserve(std::string_view body, size_t max_items, JsonDocument* document,
                    ReserveCall* call) {
  ReserveRequest& request = call->request;
  std::string_view token;
  FieldSet fields(kReserveFields);
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    if (field == kReserveUser) return ReadId(value, &request.user, &token);
    if (field == kReserveItems) return ReadReservedItems(value, max_items, call);
    if (field == kReserveCaps) return ReadCaps(value, &call->caps);
    if (field == kReserveExpires) return ReadExpires(value, &request.expires_ms);
    if (field == kReserveAt) return ReadTime(value, &request.at_ms);
    std::string_view text;
    Status read = ReadText(value, &text);
    if (read.ok()) call->collection = text;
    return read;
  });
  if (status.ok()) status = fields.Require(kReserveUser);
  if (status.ok()) status = fields.Require(kReserveItems);
  if (status.ok()) status = fields.Require(kReserveCaps);
  if (!status.ok()) return status;
  call->groups_read.Finish(call->items.size(), &call->groups);
  request.items = call->items;
  request.groups = call->groups;
  request.caps = call->caps;
  return status;
}

std::vector<std::string> PromisedToJson(const ReserveCall& call, const Reserved& reserved) {
  std::vector<std::string> texts;
  size_t items = 0;
  for (const uint32_t position : reserved.reserved) {
    const bool grouped = !call.groups.empty() && !call.groups[position].of.empty();
    if (!grouped && !reserved.counts_items) continue;
    const bool begins = items++ % kPromisedAtOnce == 0;
    std::string& json = begins ? texts.emplace_back("{\"user\":") : texts.back();
    if (begins) {
      AppendId(call.request.user, &json);
      json += ",\"items\":[";
    } else {
      json += ',';
    }
    json += "{\"id\":";
    AppendId(call.items[position], &json);
    json += ",\"of\":[";
    const char* before = "";
    for (const std::string_view group : grouped ? call.groups[position].of : EventGroups()) {
      json += before;
      AppendJsonString(group, &json);
      before = ",";
    }
    json += "]}";
  }
  for (std::string& json : texts) {
    json += "],\"caps\":[],\"expires_ms\":" + std::to_string(call.request.expires_ms) +
            ",\"at\":" + std::to_string(call.request.at_ms.value_or(0)) + ",\"collection\":";
    AppendJsonString(call.request.collection, &json);
    json += '}';
  }
  return texts;
}

void AppendReserved(const ReserveCall& call, const Reserved& reserved, std::string* out) {
  const auto append = [&](const char* name, const std::vector<uint32_t>& positions) {
    out->append(name);
    for (size_t i = 0; i < positions.size(); ++i) {
      if (i > 0) out->push_back(',');
      out->append(call.tokens[positions[i]]);
    }
    out->push_back(']');
  };
  append("{\"reserved\":[", reserved.reserved);
  append(",\"refused\":[", reserved.refused);
  out->push_back('}');
}

}  // namespace seendb::wire
