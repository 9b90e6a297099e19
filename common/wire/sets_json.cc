#include "wire/sets_json.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/facts.h"
#include "wire/events_json.h"
#include "wire/json_text.h"

namespace seendb::wire {
namespace {

constexpr std::array<std::string_view, 1> kSetFields = {"items"};

enum UserSetField : size_t {
  kUserSetItems,
  kUserSetExpires,
  kUserSetAt,
  kUserSetName,
  kUserSetDeleted,
};
constexpr std::array<std::string_view, 5> kUserSetFields = {"items", "expires_ms", "at", "name",
                                                            "deleted"};
/// How many of them, from the first on, a request has; a record of the log has all.
constexpr size_t kUserSetRequestFields = 3;

Status ReadUserSetField(size_t field, ondemand::value value, std::vector<IdRef>* items,
                        UserSet* set) {
  if (field == kUserSetAt) return ReadTime(value, &set->at_ms.ms);
  if (field == kUserSetExpires) {
    uint64_t number = 0;
    const Status read = ReadUint(value, &number);
    // CheckUserSet refuses what is too much.
    set->lasts_ms = static_cast<int64_t>(std::min<uint64_t>(number, kMaxUserSetLastsMs + 1));
    return read;
  }
  std::string_view token;
  return ReadElements(value, kMaxUserSetItems, "ids", [&](size_t, ondemand::value item) {
    return ReadId(item, &items->emplace_back(), &token);
  });
}

// The end of a page.
void AppendItems(const std::vector<std::string>& items, std::string_view after, std::string* out) {
  out->append(",\"items\":[");
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonString(items[i], out);
  }
  out->push_back(']');
  if (!after.empty()) {
    out->append(",\"cursor\":");
    AppendJsonString(after, out);
  }
  out->push_back('}');
}

void AppendSetMembers(const SetInfo& info, std::string* out) {
  out->append("\"name\":");
  AppendJsonString(info.name, out);
  out->append(",\"count\":").append(std::to_string(info.count));
  out->append(",\"bytes\":").append(std::to_string(info.bytes));
  out->append(",\"at\":").append(std::to_string(info.at_ms));
  if (info.damaged) out->append(",\"damaged\":true");
}

}  // namespace

Status ParseSet(std::string_view body, JsonDocument* document, std::vector<IdRef>* items) {
  FieldSet fields(kSetFields);
  std::string_view token;
  Status status = ReadObject(body, document, &fields, [&](size_t, ondemand::value value) {
    return ReadElements(
        value, kMaxSetItems - items->size(), "ids",
        [&](size_t, ondemand::value item) { return ReadId(item, &items->emplace_back(), &token); });
  });
  return status.ok() ? fields.Require(0) : status;
}

Status ParseUserSet(std::string_view body, JsonDocument* document, std::vector<IdRef>* items,
                    UserSet* set) {
  const std::span<const std::string_view> names(kUserSetFields);
  FieldSet fields(names.first(kUserSetRequestFields));
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    return ReadUserSetField(field, value, items, set);
  });
  if (status.ok()) status = fields.Require(kUserSetItems);
  if (status.ok()) status = fields.Require(kUserSetExpires);
  set->items = *items;
  return status;
}

void AppendUserSetRecord(const UserSet& set, std::string* out) {
  out->append("{\"name\":");
  AppendJsonString(set.name, out);
  out->append(",\"items\":[");
  for (size_t i = 0; i < set.items.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendId(set.items[i], out);
  }
  out->append("],\"expires_ms\":").append(std::to_string(set.lasts_ms));
  if (set.at_ms.ms) out->append(",\"at\":").append(std::to_string(*set.at_ms.ms));
  out->push_back('}');
}

void AppendUserSetDeletion(std::string_view name, std::string* out) {
  out->append("{\"name\":");
  AppendJsonString(name, out);
  out->append(",\"deleted\":true}");
}

Status ParseUserSetRecord(std::string_view value, JsonDocument* document, std::vector<IdRef>* items,
                          UserSet* set, bool* deleted) {
  FieldSet fields(kUserSetFields);
  *deleted = false;
  Status status = ReadObject(value, document, &fields, [&](size_t field, ondemand::value member) {
    if (field == kUserSetName) return ReadText(member, &set->name);
    if (field != kUserSetDeleted) return ReadUserSetField(field, member, items, set);
    const bool is_true = !member.get_bool().get(*deleted) && *deleted;
    return is_true ? Status::Ok() : Status::InvalidArgument("must be true");
  });
  if (status.ok()) status = fields.Require(kUserSetName);
  for (const size_t field : {kUserSetItems, kUserSetExpires}) {
    if (status.ok() && !*deleted) status = fields.Require(field);
  }
  for (const size_t field : {kUserSetItems, kUserSetExpires, kUserSetAt}) {
    if (status.ok() && *deleted && fields.Has(field)) {
      status = Status::InvalidArgument("a deletion has a name alone",
                                       "/" + std::string(kUserSetFields[field]));
    }
  }
  set->items = *items;
  return status;
}

Status ReadSetNames(ondemand::value value, std::vector<ExcludedSet>* sets) {
  return ReadElements(value, kMaxExcludedSets, "sets", [&](size_t, ondemand::value item) {
    std::string_view& name = sets->emplace_back().name;
    Status status = ReadText(item, &name);
    return status.ok() ? CheckSetName(name) : status;
  });
}

void AppendUserSetMembers(const UserSetInfo& info, std::string* out) {
  out->append("\"name\":");
  AppendJsonString(info.name, out);
  out->append(",\"count\":").append(std::to_string(info.count));
  out->append(",\"at\":").append(std::to_string(info.at_ms));
  out->append(",\"expires_at\":").append(std::to_string(info.ends_ms));
}

void AppendUserSetInfo(const UserSetInfo& info, std::string* out) {
  out->push_back('{');
  AppendUserSetMembers(info, out);
  out->push_back('}');
}

void AppendUserSets(const UserSetList& list, std::string* out) {
  out->append("{\"sets\":[");
  for (size_t i = 0; i < list.sets.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendUserSetInfo(list.sets[i], out);
  }
  out->push_back(']');
  if (list.degraded) out->append(",\"degraded\":true,\"missing\":[\"own\"]");
  out->push_back('}');
}

void AppendUserSetPage(const UserSetPage& page, std::string* out) {
  out->push_back('{');
  AppendUserSetMembers(page.info, out);
  AppendItems(page.items, page.after, out);
}

void AppendSetInfo(const SetInfo& info, std::string* out) {
  out->push_back('{');
  AppendSetMembers(info, out);
  out->push_back('}');
}

void AppendSets(const std::vector<SetInfo>& sets, std::string* out) {
  uint64_t bytes = 0;
  out->append("{\"sets\":[");
  for (size_t i = 0; i < sets.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendSetInfo(sets[i], out);
    bytes += sets[i].bytes;
  }
  out->append("],\"bytes\":").append(std::to_string(bytes));
  out->append(",\"bytes_limit\":").append(std::to_string(kMaxSetBytes)).append("}");
}

void AppendSetPage(const SetPage& page, std::string* out) {
  out->push_back('{');
  AppendSetMembers(page.info, out);
  AppendItems(page.items, page.after, out);
}

}  // namespace seendb::wire
