#include "wire/sets_json.h"

#include <array>

#include "base/facts.h"
#include "wire/json_text.h"

namespace seendb::wire {
namespace {

constexpr std::array<std::string_view, 1> kSetFields = {"items"};

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

Status ReadSetNames(ondemand::value value, std::vector<ExcludedSet>* sets) {
  return ReadElements(value, kMaxExcludedSets, "sets", [&](size_t, ondemand::value item) {
    std::string_view& name = sets->emplace_back().name;
    Status status = ReadText(item, &name);
    return status.ok() ? CheckSetName(name) : status;
  });
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
  out->append(",\"items\":[");
  for (size_t i = 0; i < page.items.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonString(page.items[i], out);
  }
  out->push_back(']');
  if (!page.after.empty()) {
    out->append(",\"cursor\":");
    AppendJsonString(page.after, out);
  }
  out->push_back('}');
}

}  // namespace seendb::wire
