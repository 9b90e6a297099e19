#include "store/losses.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/hex.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

bool Losses::Cover(std::string_view user) const {
  return all || std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
           return range.first <= user && user <= range.second;
         });
}

void Losses::Add(std::string_view first, std::string_view last) {
  if (last < first) return;
  ranges.emplace_back(first, last);
  if (ranges.size() <= 2 * kRangesKept) return;
  // Neighbours are drawn together: too much is covered, never too little.
  std::sort(ranges.begin(), ranges.end());
  std::vector<std::pair<std::string, std::string>> drawn;
  for (size_t i = 0; i < ranges.size(); i += 4) {
    std::string end;
    for (size_t k = i; k < std::min(i + 4, ranges.size()); ++k) {
      end = std::max(end, ranges[k].second);
    }
    drawn.emplace_back(ranges[i].first, std::move(end));
  }
  ranges = std::move(drawn);
}

void Losses::Absorb(const Losses& other) {
  at_ms = std::max(at_ms, other.at_ms);
  if (reason.empty()) {
    reason = other.reason;
  } else if (!other.reason.empty() && reason.find(other.reason) == std::string::npos &&
             reason.size() < 2000) {
    reason += "; " + other.reason;
  }
  all = all || other.all;
  for (const auto& [first, last] : other.ranges) Add(first, last);
}

std::string Losses::ToJson() const {
  Json json{{"at_ms", at_ms}, {"reason", reason}, {"all", all}, {"ranges", Json::array()}};
  for (const auto& [first, last] : ranges) {
    json["ranges"].push_back(Json::array({ToHex(first), ToHex(last)}));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Losses> Losses::FromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    Losses losses;
    losses.at_ms = json.at("at_ms").get<int64_t>();
    losses.reason = json.at("reason").get<std::string>();
    losses.all = json.at("all").get<bool>();
    for (const Json& range : json.at("ranges")) {
      const auto first = FromHex(range.at(0).get<std::string>());
      const auto last = FromHex(range.at(1).get<std::string>());
      if (!first || !last) return {};
      losses.ranges.emplace_back(*first, *last);
    }
    return losses;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace seendb
