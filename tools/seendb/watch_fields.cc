#include "watch_fields.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "base/utf8.h"

namespace seendb::tool {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr int64_t kMillisOfSecond = 1'000;

/// `text` without the JSON white space around it.
std::string_view WithoutSpace(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

/// Seconds of "1:02:03" or "02:03"; nothing where it is none.
std::optional<int64_t> SecondsOfClock(std::string_view text) {
  constexpr int64_t kSixty = 60;
  int64_t seconds = 0;
  int parts = 0;
  while (true) {
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string_view part = text.substr(0, colon);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool first = parts++ == 0;
    const bool sound = error == std::errc() && end == part.data() + part.size() && number >= 0;
    if (!sound || (!first && (part.size() != 2 || number >= kSixty))) return {};
    if (number > INT32_MAX) return {};
    seconds = seconds * kSixty + number;
    if (colon == text.size()) break;
    text.remove_prefix(colon + 1);
  }
  if (parts < 2 || parts > 3) return {};
  return seconds;
}

bool TakeSpan(std::string_view text, SpanUnit unit, std::optional<int32_t>* seconds) {
  int64_t number = 0;
  if (const auto clock = SecondsOfClock(text)) {
    number = *clock;
  } else {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return false;
    if (unit == SpanUnit::kMillis) number /= kMillisOfSecond;
  }
  if (number > INT32_MAX) return false;
  *seconds = static_cast<int32_t>(number);
  return true;
}

/// Why `text` is no opaque field, or null.
const char* OpaqueError(std::string_view text) {
  if (text.size() > kMaxFieldsBytes) return "longer than 1,024 bytes";
  const bool is_object =
      text.find('\0') == std::string_view::npos && ParseOutside(text).is_object();
  return is_object ? nullptr : "not a JSON object";
}

size_t SkipSpace(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

/// Behind the string that begins at `at`.
size_t SkipString(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// Behind the value that begins at `at`: where the comma or the brace that ends it is.
size_t SkipValue(std::string_view text, size_t at) {
  for (size_t depth = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = SkipString(text, at);
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}')) break;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return at;
}

}  // namespace

bool TakeWatchField(WatchField field, std::string_view text, SpanUnit unit, Watch* watch,
                    std::string* error) {
  const char* why = nullptr;
  switch (field) {
    case kProgress:
      if (text == "-1") {
        watch->progress_s = kFinished;
      } else if (!TakeSpan(text, unit, &watch->progress_s)) {
        why = "must be a whole number, a span like 1:02:03, or -1 for finished";
      }
      break;
    case kDuration:
      if (!TakeSpan(text, unit, &watch->duration_s))
        why = "must be a whole number, or a span like 1:02:03";
      break;
    case kDevice:
      watch->device = text;
      if (text.size() > kMaxDeviceBytes) why = "longer than 64 bytes";
      if (!IsUtf8(text)) why = "not UTF-8";
      break;
    default:
      watch->fields = WithoutSpace(text);
      why = OpaqueError(watch->fields);
  }
  if (why == nullptr) return true;
  *error = std::string(kWatchNames[field]) + ": " + why;
  return false;
}

std::string_view RawMember(std::string_view object, std::string_view name) {
  std::string_view found;
  size_t at = SkipSpace(object, object.find('{') + 1);
  while (at < object.size() && object[at] == '"') {
    const size_t key_end = SkipString(object, at);
    const std::string_view key = object.substr(at, key_end - at);
    const size_t value =
        SkipSpace(object, std::min(object.find(':', key_end), object.size() - 1) + 1);
    const size_t end = SkipValue(object, value);
    if (ParseOutside(key) == name) found = WithoutSpace(object.substr(value, end - value));
    at = SkipSpace(object, end + (end < object.size() && object[end] == ',' ? 1 : 0));
  }
  return found;
}

}  // namespace seendb::tool
