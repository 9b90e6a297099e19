#include "ingest/decoder.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/json_pointer.h"
#include "base/outside_json.h"
#include "wire/events_json.h"
#include "wire/groups_json.h"

namespace seendb::ingest {
namespace {

namespace ondemand = wire::ondemand;

constexpr uint32_t Bit(size_t member) { return 1u << member; }

/// What a registry of schemas puts in front of a message: a zero and the number of a schema.
constexpr size_t kRegistryBytes = 5;

/// A unit of the settings: as the parser of times has it, and its name.
struct UnitRow {
  ops::AtUnit unit;
  times::TimeUnit parsed;
  const char* name;
};
constexpr std::array<UnitRow, 4> kUnits = {{
    {ops::AtUnit::kMillis, times::TimeUnit::kMillis, "ms"},
    {ops::AtUnit::kSeconds, times::TimeUnit::kSeconds, "s"},
    {ops::AtUnit::kMicros, times::TimeUnit::kMicros, "us"},
    {ops::AtUnit::kNanos, times::TimeUnit::kNanos, "ns"},
}};

const UnitRow& RowOf(ops::AtUnit unit) {
  const UnitRow& row = kUnits[static_cast<size_t>(unit)];
  assert(row.unit == unit);
  return row;
}

/// An id in quotes may be written in escapes of six bytes.
constexpr size_t kTextIdMost = 6 * kMaxIdBytes + 2;

/// Text that a record has beside its message. Writers of JSON put it in quotes.
Status ReadTextId(std::optional<std::string_view> text, ops::Framing framing,
                  const std::string& field, wire::Arena* arena, IdRef* id) {
  if (!text) return Status::InvalidArgument("the record has none", field);
  if (framing == ops::Framing::kConfluent && text->size() > kRegistryBytes && text->front() == 0) {
    text->remove_prefix(kRegistryBytes);
  }
  if (text->size() > kTextIdMost) return Status::InvalidArgument("is too long", field);
  // Numbers as bytes, and objects, are valid UTF-8 too.
  const bool plain = std::none_of(text->begin(), text->end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (!plain || text->starts_with('{') || text->starts_with('[')) {
    return Status::InvalidArgument("is no plain text", field);
  }
  if (text->size() >= 2 && text->front() == '"' && text->back() == '"') {
    const nlohmann::json quoted = ParseOutside(*text, 1);
    if (!quoted.is_string()) return Status::InvalidArgument("quotes that do not pair", field);
    *id = IdRef(arena->Copy(quoted.get_ref<const std::string&>()));
  } else {
    *id = IdRef(arena->Copy(*text));
  }
  return id->Validate().WithFieldPrefix(field);
}

}  // namespace

Status SkipRegistryBytes(std::string_view* payload) {
  if (payload->size() < kRegistryBytes || payload->front() != 0) {
    return Status::InvalidArgument("does not begin with the five bytes of a schema registry");
  }
  payload->remove_prefix(kRegistryBytes);
  return {};
}

/// What one message has come to.
struct Decoder::Reading {
  std::string_view body;  // the copy that is being parsed
  wire::Arena* arena;
  std::vector<Play>* events;
  std::deque<Watch>* watches;
  std::vector<Beside>* beside;
  std::optional<int64_t> record_ms;
  IdRef user = {}, item = {};  // that the record has beside the message
  uint32_t found = 0;          // members of the present event
  bool deleted = false;        // the present event says that there is none
  uint64_t deletions = 0;

  /// `text` where it stays. What was unescaped lies in the parser's buffer, which the next message
  /// overwrites.
  std::string_view Kept(std::string_view text) const {
    const auto begin = reinterpret_cast<uintptr_t>(body.data());
    const auto at = reinterpret_cast<uintptr_t>(text.data());
    if (at >= begin && at < begin + body.size()) return text;
    return arena->Copy(text, simdjson::SIMDJSON_PADDING);
  }
};

Decoder::Decoder(const ops::KafkaTopic& topic)
    : topic_(topic),
      paths_{&topic.user,       &topic.item,   &topic.at,     &topic.day,     &topic.progress_s,
             &topic.duration_s, &topic.device, &topic.fields, &topic.surface, &topic.group,
             &topic.until,      &topic.of,     &topic.same_as},
      has_beside_(topic.marks || !topic.surface.empty() || !topic.of.empty() ||
                  !topic.same_as.empty()) {
  for (size_t member = 0; member < kMembers; ++member) {
    if (!paths_[member]->empty()) looked_for_ |= Bit(member);
  }
  needed_ = looked_for_ & (Bit(kUser) | Bit(kItem) | Bit(kAt) | Bit(kGroup) | Bit(kUntil));
  time_form_.unit = RowOf(topic.at_unit).parsed;
  if (topic.time_zone.empty()) return;
  const auto zone = times::TimeZone::Named(topic.time_zone);
  assert(zone.ok());  // settings were checked
  if (zone.ok()) time_form_.zone = *zone;
}

void Decoder::SetZoneOfCollection(const times::TimeZone& zone) {
  if (topic_.time_zone.empty()) time_form_.zone = zone;
}

Status Decoder::ReadAround(const Record& record, Reading* reading) const {
  const auto read = [&](const ops::RecordPlace& place, std::optional<std::string_view> header,
                        IdRef* id) {
    if (place.key) return ReadTextId(record.key, topic_.framing, "/@key", reading->arena, id);
    if (place.header.empty()) return Status();
    return ReadTextId(header, ops::Framing::kNone, "/@header:" + place.header, reading->arena, id);
  };
  const Status status = read(topic_.user_place, record.user_header, &reading->user);
  return status.ok() ? read(topic_.item_place, record.item_header, &reading->item) : status;
}

Status Decoder::ReadPayload(Reading* reading) const {
  wire::JsonDocument document;
  ondemand::value root;
  Status status = document.Begin(reading->body, &root);
  if (!status.ok()) return status;
  ondemand::json_type type{};
  if (const auto error = root.type().get(type)) {
    status = wire::Malformed(error);
  } else if (type == ondemand::json_type::array) {
    status =
        wire::ReadElements(root, kMaxMessageEvents, "events",
                           [&](size_t, ondemand::value one) { return ReadEvent(one, reading); });
  } else {
    status = ReadEvent(root, reading);
  }
  return status.ok() ? document.End() : status;
}

Status Decoder::Decode(const Record& record, wire::Arena* arena, std::vector<Play>* events,
                       std::deque<Watch>* watches, std::vector<Beside>* beside,
                       uint64_t* deletions) const {
  std::string_view payload = record.payload;
  if (payload.data() == nullptr) return Status::Ok();
  if (topic_.framing == ops::Framing::kConfluent) {
    if (Status framed = SkipRegistryBytes(&payload); !framed.ok()) return framed;
  }
  Reading reading{arena->Copy(payload, simdjson::SIMDJSON_PADDING),
                  arena,
                  events,
                  watches,
                  beside,
                  record.at_ms};
  const size_t before = events->size(), watches_before = watches->size();
  const size_t beside_before = beside->size();
  Status status = ReadAround(record, &reading);
  if (status.ok()) status = ReadPayload(&reading);
  if (!status.ok()) {
    events->resize(before);
    watches->resize(watches_before);
    beside->resize(beside_before);
  } else {
    *deletions += reading.deletions;
  }
  return status;
}

Status Decoder::ReadEvent(ondemand::value value, Reading* reading) const {
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) {
    return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                             : wire::Malformed(error);
  }
  const size_t watches_before = reading->watches->size();
  reading->events->push_back({reading->user, reading->item, reading->record_ms});
  if (has_beside_) reading->beside->emplace_back();
  reading->found = 0;
  reading->deleted = false;
  if (Status status = ReadObject(object, 0, looked_for_, reading); !status.ok()) return status;
  if (reading->deleted) {
    ++reading->deletions;
    reading->events->pop_back();
    if (has_beside_) reading->beside->pop_back();
    reading->watches->resize(watches_before);
    return Status::Ok();
  }
  for (size_t member = 0; member < kMembers; ++member) {
    if ((needed_ & ~reading->found & Bit(member)) == 0) continue;
    std::string where;
    for (const std::string& name : *paths_[member]) where += PointerTo(name);
    return Status::InvalidArgument("missing field", where);
  }
  return Status::Ok();
}

// `candidates`: the members whose paths led here.
Status Decoder::ReadObject(ondemand::object object, size_t depth, uint32_t candidates,
                           Reading* reading) const {
  for (auto one : object) {
    ondemand::field field;
    if (const auto error = std::move(one).get(field)) return wire::Malformed(error);
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return wire::Malformed(error);
    uint32_t through = 0;  // whose paths go on below this key
    size_t ends = kMembers;
    for (size_t member = 0; member < kMembers; ++member) {
      const std::vector<std::string>& path = *paths_[member];
      if ((candidates & Bit(member)) == 0 || path[depth] != key) continue;
      if (path.size() == depth + 1) {
        ends = member;
      } else {
        through |= Bit(member);
      }
    }
    if (ends == kMembers && through == 0) continue;
    Status status;
    if (ends != kMembers) {
      status = ReadMember(ends, field.value(), reading);
    } else if (ondemand::value below_value = field.value(); wire::TokenOf(below_value) == "null") {
      reading->deleted = reading->deleted || (through & (Bit(kUser) | Bit(kItem))) != 0;
    } else {
      ondemand::object below;
      const auto error = below_value.get_object().get(below);
      status = error ? Status::InvalidArgument("must be an object")
                     : ReadObject(below, depth + 1, through, reading);
    }
    if (!status.ok()) return wire::Within(std::move(status), PointerTo(key));
  }
  return Status::Ok();
}

Status Decoder::ReadMember(size_t member, ondemand::value value, Reading* reading) const {
  if ((reading->found & Bit(member)) != 0) return Status::InvalidArgument("repeated field");
  reading->found |= Bit(member);
  Play& event = reading->events->back();
  if (member == kUser) return ReadId(value, reading, &event.user);
  if (member == kItem) return ReadId(value, reading, &event.item);
  if (member == kDay) return ReadDay(value, reading, &event.day);
  if (member == kAt) return ReadMoment(value, &event.at_ms);
  if (member == kOf || member == kSameAs) return ReadGroupsOf(member, value, reading);
  if (member >= kSurface) return ReadBeside(member, value, reading);
  return ReadWatch(member, value, reading);
}

Status Decoder::ReadBeside(size_t member, ondemand::value value, Reading* reading) const {
  Beside& beside = reading->beside->back();
  if (member == kUntil) {
    if (wire::TokenOf(value) == "\"always\"") return Status::Ok();
    Status status = ReadMoment(value, &beside.until_ms);
    if (status.ok()) return status;
    return Status::InvalidArgument(std::string(status.message()) + "; or \"always\"");
  }
  if (member == kSurface && wire::TokenOf(value) == "null") return Status::Ok();
  std::string_view* const text = member == kGroup ? &beside.group : &beside.surface;
  Status status = member == kGroup ? wire::ReadGroup(value, text) : wire::ReadSurface(value, text);
  if (status.ok()) *text = reading->Kept(*text);
  return status;
}

Status Decoder::ReadGroupsOf(size_t member, ondemand::value value, Reading* reading) const {
  const std::string_view token = wire::TokenOf(value);
  if (token == "null") return Status::Ok();
  Beside& beside = reading->beside->back();
  std::vector<std::string_view>& groups = member == kOf ? beside.of : beside.same_as;
  Status status = token.starts_with('"') ? wire::ReadGroup(value, &groups.emplace_back())
                                         : wire::ReadGroups(value, &groups);
  if (status.ok() && beside.of.size() + beside.same_as.size() > kMaxCandidateGroups) {
    status = Status::InvalidArgument("at most " + std::to_string(kMaxCandidateGroups) +
                                     " groups of both kinds");
  }
  for (size_t i = 0; status.ok() && i < groups.size(); ++i) groups[i] = reading->Kept(groups[i]);
  return status;
}

// Writers of floating-point numbers may use exponents.
Status Decoder::ReadMoment(ondemand::value value, std::optional<int64_t>* at_ms) const {
  std::string_view text = wire::TokenOf(value);
  std::string plain;
  if (text.starts_with('"')) {
    if (Status status = wire::ReadText(value, &text); !status.ok()) return status;
  } else if (text.find_first_of("eE") != std::string_view::npos) {
    double number = 0;
    if (!value.get_double().get(number) && number >= 0 && number < 9.2e18) {
      char buffer[32];
      std::snprintf(buffer, sizeof buffer, "%.3f", number);
      text = plain = buffer;
    }
  }
  *at_ms = times::ParseTimeMs(text, time_form_);
  if (*at_ms) return Status::Ok();
  return Status::InvalidArgument(std::string("must be a time: a number of ") +
                                 RowOf(topic_.at_unit).name +
                                 " since 1970 (at_unit), or text as ISO 8601 writes it");
}

Status Decoder::ReadWatch(size_t member, ondemand::value value, Reading* reading) const {
  if (wire::TokenOf(value) == "null") return Status::Ok();
  Play& event = reading->events->back();
  if (event.watch == nullptr) event.watch = &reading->watches->emplace_back();
  Watch& watch = reading->watches->back();
  if (member == kProgress) return wire::ReadProgress(value, &watch.progress_s);
  if (member == kDuration) return wire::ReadDuration(value, &watch.duration_s);
  if (member == kFields) return wire::ReadOpaque(value, kMaxFieldsBytes, &watch.fields);
  Status status = wire::ReadDevice(value, &watch.device);
  if (status.ok()) watch.device = reading->Kept(watch.device);
  return status;
}

Status Decoder::ReadDay(ondemand::value value, Reading* reading, std::string_view* day) const {
  if (wire::TokenOf(value) == "null") return Status::Ok();
  Status status = wire::ReadDay(value, day);
  if (status.ok()) *day = reading->Kept(*day);
  return status;
}

Status Decoder::ReadId(ondemand::value value, Reading* reading, IdRef* id) const {
  std::string_view raw;
  if (Status status = wire::ReadId(value, id, &raw); !status.ok()) return status;
  if (id->is_number()) return Status::Ok();
  const std::string_view kept = reading->Kept(id->text());
  if (kept.data() != id->text().data()) *id = IdRef(kept);
  return Status::Ok();
}

}  // namespace seendb::ingest
