#include "wire/appended.h"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "wire/failure_json.h"
#include "wire/refusal_names.h"

namespace seendb::wire {
namespace {

using Json = nlohmann::json;

Json ToJson(const RecordResult& recorded) {
  Json refusals = Json::array();
  for (const Refusal& refusal : recorded.refusals) {
    refusals.push_back({{"index", refusal.index},
                        {"reason", RefusalReasonName(refusal.reason)},
                        {"error", ObjectOf(refusal.status)}});
  }
  Json refused_by = Json::object();
  for (size_t i = 0; i < kRefusalReasons; ++i) {
    if (recorded.refused_by[i] > 0) refused_by[RefusedByName(i)] = recorded.refused_by[i];
  }
  return {{"accepted", recorded.accepted},
          {"refused", recorded.refused},
          {"refusals", std::move(refusals)},
          {"refused_by", std::move(refused_by)},
          {"outside_window", recorded.outside_window},
          {"beyond_cap", recorded.beyond_cap},
          {"day", recorded.day},
          {"first_today", recorded.first_today}};
}

/// The member where it is there. Throws where it has another type than its default.
template <typename T>
T Member(const Json& of, const char* name, T missing) {
  return of.value(name, std::move(missing));
}

/// A reason that is not known here is a newer node's: the event counts as refused, under no reason.
RecordResult ToRecorded(const Json& json) {
  RecordResult recorded;
  recorded.accepted = Member(json, "accepted", uint64_t{0});
  recorded.refused = Member(json, "refused", uint64_t{0});
  const Json refusals = Member(json, "refusals", Json::array());
  for (const Json& one : refusals) {
    recorded.refusals.push_back(
        {one.at("index").get<uint32_t>(),
         FailureOfObject(Member(one, "error", Json::object()), StatusCode::kInvalidArgument),
         RefusalReasonOf(Member(one, "reason", std::string())).value_or(RefusalReason::kTooOld)});
  }
  const Json refused_by = Member(json, "refused_by", Json::object());
  for (const auto& [name, count] : refused_by.items()) {
    const auto reason = RefusalReasonOf(name);
    if (reason) recorded.refused_by[static_cast<size_t>(*reason)] = count.get<uint64_t>();
  }
  recorded.outside_window = Member(json, "outside_window", uint64_t{0});
  recorded.beyond_cap = Member(json, "beyond_cap", uint64_t{0});
  recorded.day = Member(json, "day", std::string());
  recorded.first_today = Member(json, "first_today", std::vector<uint32_t>());
  return recorded;
}

}  // namespace

std::string AppendedToJson(const Appended& appended) {
  Json json = {
      {"version", kAppendedVersion}, {"offset", appended.offset}, {"applied", appended.applied}};
  if (!appended.verdict.ok()) json["verdict"] = ObjectOf(appended.verdict);
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
    appended.applied = Member(json, "applied", false);
    if (json.contains("verdict")) {
      appended.verdict = FailureOfObject(json.at("verdict"), StatusCode::kUnavailable);
    }
    appended.recorded = ToRecorded(Member(json, "recorded", Json::object()));
    const Json erasure = Member(json, "erasure", Json::object());
    appended.erasure = {Member(erasure, "known", false), Member(erasure, "written", false),
                        Member(erasure, "until_ms", int64_t{0})};
    return appended;
  } catch (const Json::exception&) {
    return Status::Unavailable("another node's answer is none; the outcome is open");
  }
}

}  // namespace seendb::wire
