// The model of events that are counted by groups.

#include <algorithm>

#include "seendb/counts.h"
#include "simulation/model.h"

namespace seendb::simulation {

std::string CountedGroupOf(const std::string& item) {
  return kCountedKind + (":" + std::to_string(item.empty() ? 0 : item.back() % 3));
}

void Model::Count(const std::string& collection, Fact fact, const std::vector<Sent>& sent,
                  const std::string& surface, bool acknowledged) {
  for (const Sent& one : sent) {
    if (!Takes(collection, one)) continue;
    Counted& counted = facts_[collection][one.user]
                           .counted[{CountedGroupOf(one.item), fact, one.at_ms, one.item, surface}];
    if (!counted.sure && acknowledged) counted = {call_, true};
  }
}

// An event may have left at any time at which it was too old.
CountedRange Model::ExpectCounted(const std::string& collection, const std::string& user,
                                  const std::string& group, Fact fact, int64_t within_ms) const {
  CountedRange range;
  const Facts* facts = Find(collection, user);
  if (facts == nullptr) return range;
  const int64_t begin_ms = now_ms - within_ms, surely_from_ms = newest_now_ms - kCountedForMs;
  for (const auto& [event, counted] : facts->counted) {
    if (event.group != group || event.fact != fact || event.at_ms < begin_ms) continue;
    ++range.most;
    if (counted.sure && event.at_ms >= surely_from_ms) ++range.least;
  }
  range.most = std::min<uint32_t>(range.most, kMaxCountsOfKey);
  range.least = std::min<uint32_t>(range.least, kMaxCountsOfKey);
  return range;
}

bool Model::CountsAny(const std::string& collection, const std::string& user) const {
  const Facts* facts = Find(collection, user);
  const int64_t surely_from_ms = newest_now_ms - kCountedForMs;
  return facts != nullptr &&
         std::any_of(facts->counted.begin(), facts->counted.end(), [&](const auto& one) {
           return one.second.sure && one.first.at_ms >= surely_from_ms;
         });
}

}  // namespace seendb::simulation
