#include "router/appended_json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"

namespace seendb::router {
namespace {

using Json = nlohmann::json;
using replica::Appended;

constexpr StatusCode kCodes[] = {
    StatusCode::kInvalidArgument, StatusCode::kNotFound, StatusCode::kIncompatible,
    StatusCode::kCorruption,      StatusCode::kBusy,     StatusCode::kIOError,
    StatusCode::kUnavailable,     StatusCode::kClosed,   StatusCode::kForbidden};

Json ErrorOf(const Status& status) {
  return {{"code", StatusCodeName(status.code())},
          {"message", std::string(status.message())},
          {"field", std::string(status.field())}};
}

Status ToStatus(const Json& error) {
  const std::string code = error.at("code").get<std::string>();
  for (const StatusCode known : kCodes) {
    if (StatusCodeName(known) != code) continue;
    return Status(known, error.at("message").get<std::string>(),
                  error.value("field", std::string()));
  }
  return Status::Unavailable(error.at("message").get<std::string>());
}

Json ToJson(const RecordResult& recorded) {
  Json refusals = Json::array();
  for (const Refusal& refusal : recorded.refusals) {
    refusals.push_back({{"index", refusal.index},
                        {"reason", static_cast<int>(refusal.reason)},
                        {"error", ErrorOf(refusal.status)}});
  }
  return {{"accepted", recorded.accepted},
          {"refused", recorded.refused},
          {"refusals", std::move(refusals)},
          {"refused_by", recorded.refused_by},
          {"outside_window", recorded.outside_window},
          {"beyond_cap", recorded.beyond_cap},
          {"day", recorded.day},
          {"first_today", recorded.first_today}};
}

RecordResult ToRecorded(const Json& json) {
  RecordResult recorded;
  recorded.accepted = json.at("accepted").get<uint64_t>();
  recorded.refused = json.at("refused").get<uint64_t>();
  for (const Json& one : json.at("refusals")) {
    const auto reason = one.at("reason").get<size_t>();
    recorded.refusals.push_back(
        {one.at("index").get<uint32_t>(), ToStatus(one.at("error")),
         reason < kRefusalReasons ? static_cast<RefusalReason>(reason) : RefusalReason::kTooOld});
  }
  // A node of another version knows fewer reasons, or more.
  const auto refused_by = json.at("refused_by").get<std::vector<uint64_t>>();
  const size_t known = std::min(refused_by.size(), recorded.refused_by.size());
  std::copy_n(refused_by.begin(), known, recorded.refused_by.begin());
  recorded.outside_window = json.at("outside_window").get<uint64_t>();
  recorded.beyond_cap = json.at("beyond_cap").get<uint64_t>();
  recorded.day = json.at("day").get<std::string>();
  recorded.first_today = json.at("first_today").get<std::vector<uint32_t>>();
  return recorded;
}

}  // namespace

std::string AppendedToJson(const Appended& appended) {
  Json json = {{"offset", appended.offset}, {"applied", appended.applied}};
  if (!appended.verdict.ok()) json["verdict"] = ErrorOf(appended.verdict);
  json["recorded"] = ToJson(appended.recorded);
  json["erasure"] = {{"known", appended.erasure.known},
                     {"written", appended.erasure.written},
                     {"until_ms", appended.erasure.until_ms}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Appended> AppendedFromJson(std::string_view text) {
  const Json json = ParseOutside<Json>(text);
  try {
    Appended appended;
    appended.offset = json.at("offset").get<int64_t>();
    appended.applied = json.at("applied").get<bool>();
    if (json.contains("verdict")) appended.verdict = ToStatus(json.at("verdict"));
    appended.recorded = ToRecorded(json.at("recorded"));
    const Json& erasure = json.at("erasure");
    appended.erasure = {erasure.at("known").get<bool>(), erasure.at("written").get<bool>(),
                        erasure.at("until_ms").get<int64_t>()};
    return appended;
  } catch (const Json::exception&) {
    return Status::Unavailable("another node's answer is none; the outcome is open");
  }
}

Status StatusOfError(std::string_view text) {
  const Json json = ParseOutside<Json>(text);
  try {
    return ToStatus(json.at("error"));
  } catch (const Json::exception&) {
    return Status::Unavailable("another node refused it");
  }
}

}  // namespace seendb::router
