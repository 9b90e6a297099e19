#include "wire/exposures_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "wire/events_json.h"
#include "wire/json_text.h"

namespace seendb::wire {
namespace {

enum ExposureField : size_t {
  kExposedUser,
  kExposedItem,
  kExposedAt,
  kExposedSurface,
  kExposedOf,
  kExposedSame,
};
constexpr std::array<std::string_view, 6> kExposureFields = {"user",    "item", "at",
                                                             "surface", "of",   "same_as"};

enum CallField : size_t { kExposures, kInCollection };
constexpr std::array<std::string_view, 2> kCallFields = {"events", "collection"};

enum NotField : size_t { kFact, kWindow, kWithin, kLast, kNotSurface };
constexpr std::array<std::string_view, 5> kNotFields = {"fact", "window", "within", "last",
                                                        "surface"};

constexpr std::array<Fact, kFactCount> kFacts = {Fact::kPlayed, Fact::kServed, Fact::kExposed};

// The exposure at `position`.
Status ReadExposure(ondemand::object object, size_t position, Exposure* exposure,
                    EventGroupsReader* groups) {
  *exposure = Exposure();
  FieldSet fields(kExposureFields);
  std::string_view token;
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value value) {
    return field == kExposedUser   ? ReadId(value, &exposure->user, &token)
           : field == kExposedItem ? ReadId(value, &exposure->item, &token)
           : field == kExposedAt   ? ReadTime(value, &exposure->at_ms)
           : field == kExposedOf   ? groups->Read(value, position)
           : field == kExposedSame ? groups->Read(value, position, true)
                                   : ReadSurface(value, &exposure->surface);
  });
  if (status.ok()) status = fields.Require(kExposedUser);
  return status.ok() ? fields.Require(kExposedItem) : status;
}

Status ReadEntry(ondemand::object object, NotEntry* entry) {
  FieldSet fields(kNotFields);
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value value) {
    return field == kFact     ? ReadFact(value, &entry->fact)
           : field == kWindow ? ReadCount(value, &entry->window.emplace())
           : field == kWithin ? ReadSpan(value, &entry->within_ms.emplace())
           : field == kLast   ? ReadCount(value, &entry->last.emplace())
                              : ReadSurface(value, &entry->surface);
  });
  return status.ok() ? fields.Require(kFact) : status;
}

}  // namespace

Status ReadFact(ondemand::value value, Fact* fact) {
  std::string_view name;
  if (Status status = ReadText(value, &name); !status.ok()) return status;
  const auto* const found =
      std::find_if(kFacts.begin(), kFacts.end(), [&](Fact one) { return FactName(one) == name; });
  if (found == kFacts.end()) {
    return Status::InvalidArgument(R"(must be "played", "served" or "exposed")");
  }
  *fact = *found;
  return Status::Ok();
}

Status ReadCount(ondemand::value value, uint32_t* count) {
  uint64_t number = 0;
  if (Status status = ReadUint(value, &number); !status.ok()) return status;
  *count = static_cast<uint32_t>(std::min<uint64_t>(number, std::numeric_limits<uint32_t>::max()));
  return Status::Ok();
}

Status ReadSpan(ondemand::value value, int64_t* span_ms) {
  using Unit = std::pair<std::string_view, int64_t>;
  constexpr std::array<Unit, 5> kUnits = {Unit{"ms", 1}, Unit{"s", 1'000}, Unit{"m", 60'000},
                                          Unit{"h", 3'600'000}, Unit{"d", 86'400'000}};
  const auto refusal = [] {
    return Status::InvalidArgument(
        R"(must be a duration like "7d", "24h", "90m", "30s" or "500ms")");
  };
  std::string_view text;
  if (Status status = ReadText(value, &text); !status.ok()) return status;
  uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  const std::string_view suffix(stop, static_cast<size_t>(end - stop));
  const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(),
                                        [&](const Unit& one) { return one.first == suffix; });
  if (error != std::errc() || unit == kUnits.end()) return refusal();
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (count > kMost / static_cast<uint64_t>(unit->second)) return refusal();
  *span_ms = static_cast<int64_t>(count) * unit->second;
  return Status::Ok();
}

void AppendExposure(const Exposure& exposure, std::string* out) {
  AppendEvent({.user = exposure.user, .item = exposure.item, .at_ms = exposure.at_ms}, out);
  if (exposure.surface.empty()) return;
  out->pop_back();
  out->append(",\"surface\":");
  AppendJsonString(exposure.surface, out);
  out->push_back('}');
}

Status ParseExposures(std::string_view body, JsonDocument* document, ExposuresCall* call) {
  call->exposures.clear();
  call->groups.Clear();
  call->collection.reset();
  FieldSet fields(kCallFields);
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    if (field == kExposures) {
      return ReadObjects(value, SIZE_MAX, "events", [&](ondemand::object object) {
        const size_t position = call->exposures.size();
        return ReadExposure(object, position, &call->exposures.emplace_back(), &call->groups);
      });
    }
    std::string_view text;
    Status read = ReadText(value, &text);
    if (read.ok()) call->collection = text;
    return read;
  });
  call->groups.GiveTo(std::span(call->exposures));
  return status.ok() ? fields.Require(kExposures) : status;
}

Status ParseExposure(std::string_view line, JsonDocument* document, Exposure* exposure,
                     EventGroupsReader* groups) {
  groups->Clear();
  ondemand::object root;
  if (Status status = document->Begin(line, &root); !status.ok()) return status;
  if (Status status = ReadExposure(root, 0, exposure, groups); !status.ok()) return status;
  groups->GiveTo(std::span(exposure, 1));
  return document->End();
}

Status ReadNot(ondemand::value value, std::vector<NotEntry>* entries) {
  entries->clear();
  return ReadObjects(value, kMaxNotEntries, "entries", [&](ondemand::object object) {
    return ReadEntry(object, &entries->emplace_back());
  });
}

void AppendFactsTold(uint8_t coarse, uint8_t beyond, std::string* out) {
  const auto append = [out](std::string_view member, uint8_t facts) {
    if (facts == 0) return;
    out->append(",\"").append(member).append("\":[");
    const char* before = "\"";
    for (const Fact fact : kFacts) {
      if ((facts & FactBit(fact)) == 0) continue;
      out->append(before).append(FactName(fact)).append("\"");
      before = ",\"";
    }
    out->push_back(']');
  };
  append("coarse", coarse);
  append("beyond", beyond);
}

}  // namespace seendb::wire
