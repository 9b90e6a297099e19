#include "redis_tally.h"

#include <utility>

#include "report_json.h"

namespace seendb::tool {

void RedisTally::Add(const RedisTally& other) {
  users += other.users;
  members += other.members;
  accepted += other.accepted;
  outside_window += other.outside_window;
  refused += other.refused;
  for (const auto& [reason, count] : other.refused_by) refused_by[reason] += count;
  absent_keys += other.absent_keys;
  bad_keys += other.bad_keys;
  for (const Problem& problem : other.problems) Describe(problem.what, problem.why);
}

void RedisTally::Refuse(const std::string& reason, uint64_t count) {
  refused += count;
  refused_by[reason] += count;
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
          {"bad_keys", tally.bad_keys}};
}

RedisTally TallyOfJson(const Json& json) {
  RedisTally tally{CountOf(json, "users"), CountOf(json, "members"), CountOf(json, "accepted"),
                   CountOf(json, "outside_window"), CountOf(json, "refused")};
  const Json refused_by = json.value("refused_by", Json::object());
  for (const auto& [reason, count] : refused_by.items()) {
    if (count.is_number_unsigned()) tally.refused_by[reason] = count.get<uint64_t>();
  }
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
