#include "ingest/decoder.h"

#include "api/events_json.h"
#include "base/json_pointer.h"

namespace seendb::ingest {
namespace {

namespace ondemand = api::ondemand;

constexpr uint32_t Bit(size_t member) { return 1u << member; }

}  // namespace

/// What one message has come to.
struct Decoder::Reading {
  std::string_view body;  // the copy that is being parsed
  api::Arena* arena;
  std::vector<Play>* events;
  std::deque<Watch>* watches;
  std::optional<int64_t> record_ms;
  uint32_t found = 0;  // members of the present event

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
    : topic_(topic), paths_{&topic.user,       &topic.item,       &topic.at,     &topic.day,
                            &topic.progress_s, &topic.duration_s, &topic.device, &topic.fields} {
  for (size_t member = 0; member < kMembers; ++member) {
    if (!paths_[member]->empty()) looked_for_ |= Bit(member);
  }
  needed_ = looked_for_ & (Bit(kUser) | Bit(kItem) | Bit(kAt));
}

Status Decoder::Decode(std::string_view payload, std::optional<int64_t> record_ms,
                       api::Arena* arena, std::vector<Play>* events,
                       std::deque<Watch>* watches) const {
  Reading reading{arena->Copy(payload, simdjson::SIMDJSON_PADDING), arena, events, watches,
                  record_ms};
  const size_t before = events->size(), watches_before = watches->size();
  api::JsonDocument document;
  ondemand::value root;
  Status status = document.Begin(reading.body, &root);
  if (status.ok()) {
    ondemand::json_type type{};
    if (const auto error = root.type().get(type)) {
      status = api::Malformed(error);
    } else if (type == ondemand::json_type::array) {
      status =
          api::ReadElements(root, kMaxMessageEvents, "events",
                            [&](size_t, ondemand::value one) { return ReadEvent(one, &reading); });
    } else {
      status = ReadEvent(root, &reading);
    }
  }
  if (status.ok()) status = document.End();
  if (!status.ok()) {
    events->resize(before);
    watches->resize(watches_before);
  }
  return status;
}

Status Decoder::ReadEvent(ondemand::value value, Reading* reading) const {
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) {
    return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                             : api::Malformed(error);
  }
  reading->events->push_back({{}, {}, reading->record_ms});
  reading->found = 0;
  if (Status status = ReadObject(object, 0, looked_for_, reading); !status.ok()) return status;
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
    if (const auto error = std::move(one).get(field)) return api::Malformed(error);
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return api::Malformed(error);
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
    } else {
      ondemand::object below;
      const auto error = field.value().get_object().get(below);
      status = error ? Status::InvalidArgument("must be an object")
                     : ReadObject(below, depth + 1, through, reading);
    }
    if (!status.ok()) return api::Within(std::move(status), PointerTo(key));
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
  if (member != kAt) return ReadWatch(member, value, reading);
  Status status = api::ReadTime(value, &event.at_ms);
  if (!status.ok() || !topic_.at_seconds) return status;
  if (*event.at_ms > INT64_MAX / 1'000) return Status::InvalidArgument("must be a time in s");
  *event.at_ms *= 1'000;
  return status;
}

Status Decoder::ReadWatch(size_t member, ondemand::value value, Reading* reading) const {
  if (api::TokenOf(value) == "null") return Status::Ok();
  Play& event = reading->events->back();
  if (event.watch == nullptr) event.watch = &reading->watches->emplace_back();
  Watch& watch = reading->watches->back();
  if (member == kProgress) return api::ReadProgress(value, &watch.progress_s);
  if (member == kDuration) return api::ReadDuration(value, &watch.duration_s);
  if (member == kFields) return api::ReadOpaque(value, kMaxFieldsBytes, &watch.fields);
  Status status = api::ReadDevice(value, &watch.device);
  if (status.ok()) watch.device = reading->Kept(watch.device);
  return status;
}

Status Decoder::ReadDay(ondemand::value value, Reading* reading, std::string_view* day) const {
  if (api::TokenOf(value) == "null") return Status::Ok();
  Status status = api::ReadDay(value, day);
  if (status.ok()) *day = reading->Kept(*day);
  return status;
}

Status Decoder::ReadId(ondemand::value value, Reading* reading, IdRef* id) const {
  std::string_view raw;
  if (Status status = api::ReadId(value, id, &raw); !status.ok()) return status;
  if (id->is_number()) return Status::Ok();
  const std::string_view kept = reading->Kept(id->text());
  if (kept.data() != id->text().data()) *id = IdRef(kept);
  return Status::Ok();
}

}  // namespace seendb::ingest
