#include "wire/appended.h"

#include <string>
#include <utility>

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

constexpr size_t kDayBytesMost = 10;

/// Thrown for an answer that no node gives.
struct NoAnswer {};

/// The member, or its default where it is missing. Throws where it has another type.
const Json& Member(const Json& of, const char* name, const Json& missing) {
  if (!of.is_object()) throw NoAnswer{};
  const auto found = of.find(name);
  if (found == of.end()) return missing;
  if (found->type() != missing.type()) throw NoAnswer{};
  return *found;
}

const Json kNone = 0u, kNothing = Json::array(), kEmpty = Json::object(), kText = "", kNo = false;

uint64_t Whole(const Json& value, uint64_t most = UINT64_MAX) {
  const auto number = WholeNumber(value, most);
  if (!number) throw NoAnswer{};
  return *number;
}

/// A number that must be there.
uint64_t Needed(const Json& of, const char* name, uint64_t most) {
  if (!of.is_object() || !of.contains(name)) throw NoAnswer{};
  return Whole(of.at(name), most);
}

uint64_t Count(const Json& of, const char* name) { return Whole(Member(of, name, kNone)); }

/// A refusal whose reason is not known here is a newer node's: the event counts as refused, under
/// no reason.
RecordResult ToRecorded(const Json& json) {
  RecordResult recorded;
  recorded.accepted = Count(json, "accepted");
  recorded.refused = Count(json, "refused");
  for (const Json& one : Member(json, "refusals", kNothing)) {
    const auto& reason = Member(one, "reason", kText).get_ref<const std::string&>();
    recorded.refusals.push_back(
        {static_cast<uint32_t>(Needed(one, "index", UINT32_MAX)),
         FailureOfObject(Member(one, "error", kEmpty), StatusCode::kInvalidArgument),
         RefusalReasonOf(reason).value_or(RefusalReason::kTooOld)});
  }
  for (const auto& [name, count] : Member(json, "refused_by", kEmpty).items()) {
    const auto reason = RefusalReasonOf(name);
    if (reason) recorded.refused_by[static_cast<size_t>(*reason)] = Whole(count);
  }
  recorded.outside_window = Count(json, "outside_window");
  recorded.beyond_cap = Count(json, "beyond_cap");
  recorded.day = Member(json, "day", kText).get<std::string>();
  if (recorded.day.size() > kDayBytesMost) throw NoAnswer{};
  for (const Json& index : Member(json, "first_today", kNothing)) {
    recorded.first_today.push_back(static_cast<uint32_t>(Whole(index, UINT32_MAX)));
  }
  return recorded;
}

int64_t Time(const Json& json, const char* name) {
  const auto time = json.find(name);
  if (time == json.end()) return 0;
  if (!time->is_number_integer()) throw NoAnswer{};
  return time->get<int64_t>();
}

Erasure ToErasure(const Json& json) {
  return {Member(json, "known", kNo).get<bool>(), Member(json, "written", kNo).get<bool>(),
          Time(json, "until_ms")};
}

UserSetInfo ToUserSet(const Json& json) {
  return {{}, Count(json, "count"), Time(json, "at_ms"), Time(json, "ends_ms")};
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
  if (appended.user_set.ends_ms != 0) {
    json["user_set"] = {{"count", appended.user_set.count},
                        {"at_ms", appended.user_set.at_ms},
                        {"ends_ms", appended.user_set.ends_ms}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Appended> AppendedFromJson(std::string_view text) {
  const Json json = ParseOutside<Json>(text);
  try {
    Appended appended;
    appended.offset = static_cast<int64_t>(Needed(json, "offset", INT64_MAX - 1));
    appended.applied = Member(json, "applied", kNo).get<bool>();
    if (json.contains("verdict")) {
      appended.verdict = FailureOfObject(json.at("verdict"), StatusCode::kUnavailable);
    }
    appended.recorded = ToRecorded(Member(json, "recorded", kEmpty));
    appended.erasure = ToErasure(Member(json, "erasure", kEmpty));
    appended.user_set = ToUserSet(Member(json, "user_set", kEmpty));
    return appended;
  } catch (const NoAnswer&) {
    return Status::Unavailable("another node's answer is none; the outcome is open");
  }
}

}  // namespace seendb::wire
