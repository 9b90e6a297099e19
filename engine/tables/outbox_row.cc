#include "tables/outbox_row.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include <nlohmann/json.hpp>

#include "tables/meta_keys.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kOffsetDigits = 20;

// The whole text as a number.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return {};
  return number;
}

std::optional<std::string> TextIn(const Json& object, const char* member) {
  const auto at = object.find(member);
  if (at == object.end() || !at->is_string()) return {};
  return at->get<std::string>();
}

}  // namespace

std::string OutboxTopicPrefix(std::string_view topic) {
  return std::string(kOutboxPrefix).append(topic).append("/");
}

std::string OutboxSourcePrefix(std::string_view topic, uint32_t partition) {
  return OutboxTopicPrefix(topic).append(std::to_string(partition)).append("/");
}

std::string OutboxKey(std::string_view topic, uint32_t partition, int64_t offset) {
  assert(offset >= 0);
  const std::string digits = std::to_string(offset);
  return OutboxSourcePrefix(topic, partition)
      .append(kOffsetDigits - digits.size(), '0')
      .append(digits);
}

std::optional<OutboxPlace> ParseOutboxKey(std::string_view key) {
  if (!key.starts_with(kOutboxPrefix)) return {};
  key.remove_prefix(std::string_view(kOutboxPrefix).size());
  const size_t last = key.rfind('/');
  if (last == std::string_view::npos || last == 0) return {};
  const size_t middle = key.rfind('/', last - 1);
  if (middle == std::string_view::npos || middle == 0) return {};
  const auto partition = ParseNumber<uint32_t>(key.substr(middle + 1, last - middle - 1));
  const auto offset = ParseNumber<int64_t>(key.substr(last + 1));
  if (!partition || !offset || *offset < 0) return {};
  return OutboxPlace{std::string(key.substr(0, middle)), *partition, *offset};
}

std::string OutboxValue::ToJson() const {
  Json rows = Json::array();
  for (const FirstOfDay& one : first_plays) {
    rows.push_back({{"user", one.user}, {"collection", one.collection}, {"day", one.day}});
  }
  const Json row = {{"seq", seq}, {"at_ms", at_ms}, {"first_plays", std::move(rows)}};
  return row.dump();
}

std::optional<OutboxValue> OutboxValue::FromJson(std::string_view json) {
  const Json row = Json::parse(json, nullptr, false);
  if (!row.is_object()) return {};
  const auto seq = row.find("seq"), at = row.find("at_ms"), plays = row.find("first_plays");
  if (seq == row.end() || !seq->is_number_unsigned()) return {};
  if (at == row.end() || !at->is_number_integer()) return {};
  if (plays == row.end() || !plays->is_array()) return {};
  OutboxValue value{seq->get<uint64_t>(), at->get<int64_t>(), {}};
  for (const Json& play : *plays) {
    if (!play.is_object()) return {};
    std::optional<std::string> user = TextIn(play, "user");
    std::optional<std::string> collection = TextIn(play, "collection");
    std::optional<std::string> day = TextIn(play, "day");
    if (!user || !collection || !day) return {};
    value.first_plays.push_back({*std::move(user), *std::move(collection), *std::move(day)});
  }
  return value;
}

void OutboxValue::Join(const OutboxValue& earlier) {
  seq = std::min(seq, earlier.seq);
  at_ms = std::min(at_ms, earlier.at_ms);
  for (const FirstOfDay& one : earlier.first_plays) {
    if (std::find(first_plays.begin(), first_plays.end(), one) == first_plays.end()) {
      first_plays.push_back(one);
    }
  }
}

bool OutboxValue::Remove(std::string_view user) {
  return std::erase_if(first_plays, [&](const FirstOfDay& one) { return one.user == user; }) > 0;
}

}  // namespace seendb
