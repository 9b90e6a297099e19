#include "store/losses.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kReasonBytes = 2000;  // more is not added to

}  // namespace

void Losses::Absorb(const Losses& other) {
  at_ms = std::max(at_ms, other.at_ms);
  if (reason.empty()) {
    reason = other.reason;
  } else if (reason.find(other.reason) == std::string::npos && reason.size() < kReasonBytes) {
    reason += "; " + other.reason;
  }
}

std::string Losses::ToJson() const {
  return Json{{"at_ms", at_ms}, {"reason", reason}}.dump(-1, ' ', false,
                                                         Json::error_handler_t::replace);
}

std::optional<Losses> Losses::FromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    return Losses{json.at("at_ms").get<int64_t>(), json.at("reason").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace seendb
