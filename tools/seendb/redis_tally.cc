#include "redis_tally.h"

#include <utility>

#include "report_json.h"

namespace seendb::tool {
namespace {

std::map<std::string, uint64_t> CountsOf(const Json& json, const char* name) {
  std::map<std::string, uint64_t> counts;
  const Json named = json.value(name, Json::object());
  for (const auto& [reason, count] : named.items()) {
    if (count.is_number_unsigned()) counts[reason] = count.get<uint64_t>();
  }
  return counts;
}

}  // namespace

void RedisTally::Add(const RedisTally& other) {
  users += other.users;
  members += other.members;
  accepted += other.accepted;
  outside_window += other.outside_window;
  refused += other.refused;
  for (const auto& [reason, count] : other.refused_by) refused_by[reason] += count;
  absent_keys += other.absent_keys;
  bad_keys += other.bad_keys;
  for (const auto& [reason, count] : other.bad_by) bad_by[reason] += count;
  for (const Problem& problem : other.problems) Describe(problem.what, problem.why);
}

void RedisTally::Refuse(const std::string& reason, uint64_t count) {
  refused += count;
  refused_by[reason] += count;
}

void RedisTally::LeaveOut(const std::string& key, const std::string& reason, std::string why) {
  ++bad_keys;
  if (++bad_by[reason] <= kKeysOfAReasonMax) Describe(key, std::move(why));
}

void RedisTally::Describe(std::string what, std::string why) {
  if (problems.size() < kProblemsMax) problems.push_back({std::move(what), std::move(why)});
}

Json ToJson(const RedisTally& tally) {
  return {{"users", tally.users},
          {"members", tally.members},
          {"accepted", tally.accepted},
          {"outside_window", tally.outside_window},
          {"refused", tally.refused},
          {"refused_by", tally.refused_by},
          {"absent_keys", tally.absent_keys},
          {"bad_keys", tally.bad_keys},
          {"bad_by", tally.bad_by}};
}

RedisTally TallyOfJson(const Json& json) {
  RedisTally tally{CountOf(json, "users"), CountOf(json, "members"), CountOf(json, "accepted"),
                   CountOf(json, "outside_window"), CountOf(json, "refused")};
  tally.refused_by = CountsOf(json, "refused_by");
  tally.bad_by = CountsOf(json, "bad_by");
  tally.absent_keys = CountOf(json, "absent_keys");
  tally.bad_keys = CountOf(json, "bad_keys");
  return tally;
}

Json ProblemsJson(const RedisTally& tally) {
  Json list = Json::array();
  for (const Problem& problem : tally.problems) {
    list.push_back({{"what", problem.what}, {"why", problem.why}});
  }
  return list;
}

}  // namespace seendb::tool
