// Arbitrary bytes as a message of a topic: what a plain reading finds, the decoder finds; what it
// finds in bytes that are no JSON where nobody looks, are well-formed ids all the same. The first
// byte chooses the topic's paths.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/facts.h"
#include "base/outside_json.h"
#include "fuzz/input.h"
#include "fuzz/plain_json.h"
#include "ingest/decoder.h"

namespace {

using seendb::Play;
using seendb::fuzz::Check;
using seendb::fuzz::Json;
using seendb::fuzz::PlainEvent;
using Path = std::vector<std::string>;

constexpr int64_t kRecordMs = 1'700'000'000'000;
constexpr int64_t kLastMs = 253'402'300'799'999;  // of the year 9999
constexpr size_t kNested = 500;  // the decoder refuses documents nested deeper than some 1,000

seendb::ops::KafkaTopic TopicOf(uint8_t choice) {
  seendb::ops::KafkaTopic topic;
  if ((choice & 1) != 0) topic.at = {"at"};
  if ((choice & 2) != 0) topic.user = {"user", "item"};
  if ((choice & 4) != 0) topic.item = {"a", "b", "item"};
  if ((choice & 8) != 0) topic.at = {"a", "at"};
  if ((choice & 16) != 0) topic.at_unit = seendb::ops::AtUnit::kSeconds;
  if ((choice & 32) != 0) topic.progress_s = {"a", "p"};
  if ((choice & 64) != 0) {
    topic.device = {"device"};
    topic.day = {"day"};
  }
  if ((choice & 128) != 0) topic.fields = {"fields"};
  return topic;
}

/// Where a path leads.
struct Found {
  const Json* value = nullptr;  // null: nowhere
  bool through_null = false, through_other = false;
};

Found Follow(const Json& event, const Path& path) {
  const Json* at = &event;
  for (const std::string& name : path) {
    if (at->is_null()) return {.through_null = true};
    if (!at->is_object()) return {.through_other = true};
    const auto found = at->find(name);
    if (found == at->end()) return {};
    at = &*found;
  }
  return {.value = at};
}

const Json* At(const Json& event, const Path& path) { return Follow(event, path).value; }

std::vector<Path> PathsOf(const seendb::ops::KafkaTopic& topic) {
  return {topic.user,       topic.item,   topic.at,     topic.day,
          topic.progress_s, topic.device, topic.fields, topic.duration_s};
}

/// An event that a change log took away: a path to its ids ends in null on the way.
bool IsDeleted(const Json& event, const seendb::ops::KafkaTopic& topic) {
  return event.is_object() &&
         (Follow(event, topic.user).through_null || Follow(event, topic.item).through_null);
}

/// Nothing: it can't be read. Empty: there is none.
std::optional<std::string> PlainId(const Json& event, const Path& path, bool may_lack) {
  const Json* const at = At(event, path);
  if (at == nullptr) return may_lack ? std::optional<std::string>("") : std::nullopt;
  return seendb::fuzz::PlainId({{"id", *at}}, "id");
}

/// A time that this reading does not judge: text, or a number with a fraction.
bool HasOddTime(const Json& document, const seendb::ops::KafkaTopic& topic) {
  const Json list = document.is_array() ? document : Json::array({document});
  return !topic.at.empty() && std::any_of(list.begin(), list.end(), [&](const Json& event) {
    const Json* const at = event.is_object() ? At(event, topic.at) : nullptr;
    return at != nullptr && (at->is_string() || at->is_number_float());
  });
}

/// What the player said, under the names of the server's own events.
std::optional<Json> PlainWatchOf(const Json& event, const seendb::ops::KafkaTopic& topic) {
  Json watch = Json::object();
  const std::pair<const char*, const Path*> members[] = {
      {"progress_s", &topic.progress_s}, {"device", &topic.device}, {"fields", &topic.fields}};
  for (const auto& [name, path] : members) {
    const Json* const at = path->empty() ? nullptr : At(event, *path);
    if (at != nullptr && !at->is_null()) watch[name] = *at;
  }
  return watch;
}

std::optional<PlainEvent> PlainRead(const Json& event, const seendb::ops::KafkaTopic& topic) {
  if (!event.is_object()) return {};
  for (const Path& path : PathsOf(topic)) {
    if (Follow(event, path).through_other) return {};
  }
  const bool deleted = IsDeleted(event, topic);
  const auto user = PlainId(event, topic.user, deleted);
  const auto item = PlainId(event, topic.item, deleted);
  if (!user || !item) return {};
  PlainEvent read{*user, *item, kRecordMs, {}};
  const auto watch = PlainWatchOf(event, topic);
  if (!watch) return {};
  if (!watch->empty()) read.watch = seendb::fuzz::PlainWatchOf(*watch);
  if (!watch->empty() && !read.watch) return {};
  const Json* const day = topic.day.empty() ? nullptr : At(event, topic.day);
  if (day != nullptr && !day->is_null()) {
    const auto text = seendb::fuzz::PlainDayOf(*day);
    if (!text) return {};
    read.day = *text;
  }
  if (topic.at.empty()) return read;
  const Json* const at = At(event, topic.at);
  if (at == nullptr && deleted) return read;
  const int64_t unit = topic.at_unit == seendb::ops::AtUnit::kSeconds ? 1'000 : 1;
  if (at == nullptr || !at->is_number_unsigned()) return {};
  if (at->get<uint64_t>() > static_cast<uint64_t>(kLastMs / unit)) return {};
  read.at_ms = at->get<int64_t>() * unit;
  return read;
}

/// The events of a document, or nothing.
std::optional<std::vector<PlainEvent>> PlainMessage(const Json& document,
                                                    const seendb::ops::KafkaTopic& topic) {
  std::vector<PlainEvent> events;
  const Json list = document.is_array() ? document : Json::array({document});
  for (const Json& one : list) {
    const auto event = PlainRead(one, topic);
    if (!event) return {};
    if (!IsDeleted(one, topic)) events.push_back(*event);
  }
  return events;
}

bool HasFields(const std::vector<PlainEvent>& events) {
  return std::any_of(events.begin(), events.end(), [](const PlainEvent& event) {
    return event.watch && !event.watch->fields.is_null();
  });
}

}  // namespace

namespace {

// The same bytes as messages of exposures, and of marks: what is found in them is well-formed.
void ReadAsOthers(seendb::ops::KafkaTopic topic, std::string_view payload) {
  for (const bool marks : {false, true}) {
    topic.marks = marks;
    topic.fact = seendb::Fact::kExposed;
    topic.surface.clear();
    if (!marks) topic.surface = {"device"};
    if (marks) topic.group = {"item"};
    if (marks) topic.until = {"day"};
    topic.day.clear();
    if (marks) topic.item.clear();
    topic.device.clear();
    seendb::wire::Arena arena(1 << 20);
    std::vector<Play> events;
    std::deque<seendb::Watch> watches;
    std::vector<seendb::ingest::Beside> beside;
    uint64_t deletions = 0;
    const seendb::Status status = seendb::ingest::Decoder(topic).Decode(
        {.payload = payload, .at_ms = kRecordMs}, &arena, &events, &watches, &beside, &deletions);
    Check(status.ok() || events.empty());
    Check(beside.size() == events.size());
    for (const Play& event : events) {
      Check(event.user.Validate().ok() && (marks || event.item.Validate().ok()));
    }
    for (const seendb::ingest::Beside& one : beside) {
      Check(marks ? seendb::CheckGroup(one.group).ok() : seendb::CheckSurface(one.surface).ok());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  seendb::fuzz::Input input(data, size);
  const seendb::ops::KafkaTopic topic = TopicOf(input.Byte());
  const std::string_view payload = input.Rest();
  const seendb::ingest::Decoder decoder(topic);
  seendb::wire::Arena arena(1 << 20);
  std::vector<Play> events;
  std::deque<seendb::Watch> watches;
  std::vector<seendb::ingest::Beside> beside;
  uint64_t deletions = 0;
  const seendb::Status status = decoder.Decode({.payload = payload, .at_ms = kRecordMs}, &arena,
                                               &events, &watches, &beside, &deletions);
  ReadAsOthers(topic, payload);
  Check(status.ok() || events.empty());
  for (const Play& event : events) Check(event.user.Validate().ok() && event.item.Validate().ok());

  const auto document = seendb::fuzz::PlainDocument(payload);
  if (!document || seendb::JsonDepth(payload) > kNested) return 0;
  if (payload.data() == nullptr || HasOddTime(*document, topic)) return 0;
  const auto plain = PlainMessage(*document, topic);
  const bool long_fields = plain && payload.size() > seendb::kMaxFieldsBytes && HasFields(*plain);
  Check(status.ok() ? plain.has_value() : !plain || long_fields);
  if (!status.ok()) return 0;
  Check(plain->size() == events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    Check(events[i].user.ToString() == (*plain)[i].user);
    Check(events[i].item.ToString() == (*plain)[i].item && events[i].at_ms == (*plain)[i].at_ms);
    Check(events[i].day == (*plain)[i].day);
    const seendb::Watch* const watch = events[i].watch;
    Check((watch != nullptr) == (*plain)[i].watch.has_value());
    if (watch != nullptr) Check(seendb::fuzz::PlainWatchOf(*watch) == (*plain)[i].watch);
  }
  return 0;
}
