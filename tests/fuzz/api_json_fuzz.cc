// Arbitrary bytes as the body of a filter request, of plays, of impressions and as one event: the
// fast readers and a plain one with nlohmann_json take and refuse the same bodies and read the same
// values. There is no lawful difference. The first byte chooses the reader.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fuzz/input.h"
#include "fuzz/plain_json.h"
#include "wire/events_json.h"
#include "wire/filter_json.h"
#include "wire/unit/padded.h"

namespace {

using namespace seendb;
using fuzz::Check;
using fuzz::Json;
using fuzz::PlainEvent;

constexpr size_t kMostIds = 12;

std::optional<std::string> TextOf(std::optional<std::string_view> text) {
  if (!text) return {};
  return std::string(*text);
}

std::vector<std::string> TextsOf(const std::vector<IdRef>& ids) {
  std::vector<std::string> texts;
  for (const IdRef& id : ids) texts.push_back(id.ToString());
  return texts;
}

/// What a filter request says.
struct PlainFilter {
  std::string user;
  std::vector<std::string> items, exclude;
  bool has_exclude = false;
  std::string collection = std::string(FilterRequest().collection);
  uint8_t facts = FilterRequest().facts;
  uint32_t limit = FilterRequest().limit;
  int64_t deadline_us = FilterRequest().deadline_us;
  bool explain = false, record = false, verify = false, fail = false;
  bool operator==(const PlainFilter&) const = default;
};

bool PlainFacts(const Json& object, uint8_t* facts) {
  if (fuzz::IsAbsent(object, "facts")) return true;
  const auto at = object.find("facts");
  if (!at->is_array()) return false;
  if (at->empty()) return true;
  *facts = 0;
  for (const Json& fact : *at) {
    if (fact != "plays" && fact != "impressions") return false;
    *facts = static_cast<uint8_t>(*facts | (fact == "plays" ? kFactPlays : kFactImpressions));
  }
  return true;
}

/// "limit" and "deadline_ms", whose large values mean none.
bool PlainLimits(const Json& object, PlainFilter* filter) {
  uint64_t limit = 1, deadline_ms = 0;
  if (!fuzz::PlainUint(object, "limit", &limit) || limit == 0) return false;
  if (!fuzz::PlainUint(object, "deadline_ms", &deadline_ms)) return false;
  if (!fuzz::IsAbsent(object, "limit")) {
    filter->limit = static_cast<uint32_t>(std::min<uint64_t>(limit, UINT32_MAX));
  }
  if (!fuzz::IsAbsent(object, "deadline_ms")) {
    constexpr uint64_t kDayMs = 86'400'000;
    filter->deadline_us = deadline_ms > kDayMs ? 0
                          : deadline_ms == 0   ? 1
                                               : static_cast<int64_t>(deadline_ms) * 1'000;
  }
  return true;
}

bool CountsAtMost(const Json& object, const char* name) {
  return fuzz::IsAbsent(object, name) || object.at(name).size() <= kMostIds;
}

/// Takes out of a list what stands for no id.
void SkipNoIds(Json* object, const char* name) {
  if (fuzz::IsAbsent(*object, name) || !object->at(name).is_array()) return;
  Json kept = Json::array();
  for (const Json& item : object->at(name)) {
    const size_t bytes = item.is_string() ? item.get_ref<const std::string&>().size() : 1;
    if (!item.is_null() && bytes > 0 && bytes <= kMaxIdBytes) kept.push_back(item);
  }
  (*object)[name] = kept;
}

std::optional<PlainFilter> ReadPlainly(std::string_view body) {
  auto document = fuzz::PlainDocument(body);
  if (!document ||
      !fuzz::HasOnly(*document, {"user", "items", "collection", "facts", "limit", "exclude",
                                 "explain", "on_error", "deadline_ms", "record", "verify",
                                 "invalid", "where", "at_most", "unknown", "fields"})) {
    return {};
  }
  PlainFilter filter;
  std::optional<std::string> invalid;
  if (!fuzz::PlainText(*document, "invalid", &invalid)) return {};
  if (invalid && *invalid != "skip" && *invalid != "refuse") return {};
  const bool counted = CountsAtMost(*document, "items") && CountsAtMost(*document, "exclude");
  if (invalid == "skip" && counted) {
    SkipNoIds(&*document, "items");
    SkipNoIds(&*document, "exclude");
  }
  const auto user = fuzz::PlainId(*document, "user");
  const auto items = fuzz::PlainIds(*document, "items", kMostIds);
  const auto exclude = fuzz::PlainIds(*document, "exclude", kMostIds);
  std::optional<std::string> collection, on_error;
  filter.has_exclude = !fuzz::IsAbsent(*document, "exclude");
  if (!user || !items || (filter.has_exclude && !exclude) ||
      !fuzz::PlainText(*document, "collection", &collection) ||
      !fuzz::PlainText(*document, "on_error", &on_error) ||
      !fuzz::PlainBool(*document, "explain", &filter.explain) ||
      !fuzz::PlainBool(*document, "record", &filter.record) ||
      !fuzz::PlainBool(*document, "verify", &filter.verify) ||
      !PlainFacts(*document, &filter.facts) || !PlainLimits(*document, &filter) ||
      (on_error && *on_error != "fail" && *on_error != "degrade")) {
    return {};
  }
  filter.user = *user;
  filter.items = *items;
  if (exclude) filter.exclude = *exclude;
  if (collection) filter.collection = *collection;
  filter.fail = on_error == "fail";
  return filter;
}

/// The token echoed for an item must be JSON of that very id.
void CheckTokens(const wire::FilterCall& call) {
  Check(call.tokens.size() == call.items.size());
  for (size_t i = 0; i < call.tokens.size(); ++i) {
    const Json token = Json::parse(call.tokens[i], nullptr, false);
    Check(fuzz::PlainId({{"id", token}}, "id") == call.items[i].ToString());
  }
}

/// Whether it has members that the plain reader does not read, or candidates with groups: unit
/// tests do (filter_json_test.cc, item_rules_json_test.cc and others).
bool IsBeyondPlain(std::string_view body) {
  const auto document = fuzz::PlainDocument(body);
  if (!document) return false;
  constexpr const char* kNames[] = {"where",      "at_most", "unknown",      "fields",     "not",
                                    "when_short", "caps",    "exclude_sets", "collections"};
  const bool named = std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) {
    return !fuzz::IsAbsent(*document, name);
  });
  if (named || fuzz::IsAbsent(*document, "items")) return named;
  const Json& items = document->at("items");
  return items.is_array() &&
         std::any_of(items.begin(), items.end(), [](const Json& item) { return item.is_object(); });
}

void CheckFilter(std::string_view body) {
  wire::JsonDocument document;
  wire::FilterCall call;
  const Status status = wire::ParseFilter(body, kMostIds, &document, &call);
  if (IsBeyondPlain(body)) return Check(status.ok() || !status.message().empty());
  const auto plain = ReadPlainly(body);
  Check(status.ok() == plain.has_value());
  if (!plain) return Check(!status.message().empty());
  const FilterRequest& request = call.request;
  Check(*plain == PlainFilter{request.user.ToString(), TextsOf(call.items), TextsOf(call.exclude),
                              call.has_exclude, std::string(request.collection), request.facts,
                              request.limit, request.deadline_us, request.explain, request.record,
                              request.verify, request.on_error == OnError::kFail});
  CheckTokens(call);
}

template <typename Event>
std::vector<PlainEvent> EventsOf(const std::vector<Event>& events) {
  std::vector<PlainEvent> all;
  for (const Event& event : events) {
    all.push_back({event.user.ToString(), event.item.ToString(), event.at_ms, {}});
    if constexpr (std::is_same_v<Event, Play>) {
      all.back().day = event.day;
      if (event.watch != nullptr) all.back().watch = fuzz::PlainWatchOf(*event.watch);
    }
  }
  return all;
}

/// Refused for the length of its fields, which the plain reader does not know?
bool FieldsMayBeLong(std::string_view body, const Status& status) {
  return body.size() > kMaxFieldsBytes && status.field().ends_with("/fields");
}

void CheckPlays(std::string_view body) {
  wire::JsonDocument document;
  wire::PlaysCall call;
  const Status status = wire::ParsePlays(body, &document, &call);
  const auto plain = fuzz::PlainDocument(body);
  std::optional<std::string> collection;
  std::vector<PlainEvent> events;
  bool sound = plain && fuzz::HasOnly(*plain, {"events", "collection"}) &&
               fuzz::PlainText(*plain, "collection", &collection) && plain->contains("events") &&
               plain->at("events").is_array();
  for (size_t i = 0; sound && i < plain->at("events").size(); ++i) {
    const auto event = fuzz::PlainPlayOf(plain->at("events")[i]);
    sound = event.has_value();
    if (event) events.push_back(*event);
  }
  Check(status.ok() == sound || FieldsMayBeLong(body, status));
  if (!status.ok()) return;
  Check(EventsOf(call.plays) == events && TextOf(call.collection) == collection);
}

void CheckImpressions(std::string_view body) {
  wire::JsonDocument document;
  wire::ImpressionsCall call;
  const Status status = wire::ParseImpressions(body, kMostIds, &document, &call);
  const auto plain = fuzz::PlainDocument(body);
  std::optional<std::string> collection, user;
  std::optional<std::vector<std::string>> items;
  std::optional<int64_t> at_ms;
  bool sound = plain && fuzz::HasOnly(*plain, {"user", "items", "collection", "at"});
  if (sound) {
    user = fuzz::PlainId(*plain, "user");
    items = fuzz::PlainIds(*plain, "items", kMostIds);
    sound = user && items && fuzz::PlainText(*plain, "collection", &collection) &&
            fuzz::PlainTime(*plain, &at_ms);
  }
  Check(status.ok() == sound);
  if (!sound) return;
  std::vector<PlainEvent> events;
  for (const std::string& item : *items) events.push_back({*user, item, at_ms, {}});
  Check(EventsOf(call.impressions) == events && TextOf(call.collection) == collection);
}

void CheckEvent(std::string_view body, bool is_play) {
  wire::JsonDocument document;
  Play play;
  Watch watch;
  const Status status =
      wire::ParseEvent(body, &document, &play, is_play ? &watch : nullptr, nullptr);
  const auto plain = fuzz::PlainDocument(body);
  const auto read = is_play ? fuzz::PlainPlayOf : fuzz::PlainImpressionOf;
  const auto event = plain ? read(*plain) : std::nullopt;
  Check(status.ok() == event.has_value() || FieldsMayBeLong(body, status));
  if (status.ok()) Check(EventsOf<Play>({play}) == std::vector<PlainEvent>{*event});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t reader = input.Byte() % 8;
  const test::Padded body(input.Rest());
  if (reader == 0) CheckFilter(body.view());
  if (reader == 1) CheckPlays(body.view());
  if (reader == 2) CheckImpressions(body.view());
  if (reader >= 3) CheckEvent(body.view(), reader == 3);
  return 0;
}
