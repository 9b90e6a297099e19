#include "simulation/model_days.h"

#include "simulation/calendar.h"
#include "simulation/model.h"

namespace seendb::simulation {

std::string DaysModel::Today(const std::string& collection) const {
  const Policy& policy = model_.PolicyOf(collection);
  return policy.first_of_day ? DayNameAt(policy, model_.now_ms) : "";
}

const DaysModel::Latest* DaysModel::LatestOf(const std::string& collection,
                                             const std::string& user) const {
  const auto at = latest_.find({collection, user});
  return at == latest_.end() ? nullptr : &at->second;
}

std::set<std::string> DaysModel::Users() const {
  std::set<std::string> users;
  for (const auto& [key, latest] : latest_) users.insert(key.second);
  return users;
}

std::map<uint32_t, FirstPlay> DaysModel::Expect(const std::string& collection,
                                                const std::vector<Sent>& sent) const {
  std::map<uint32_t, FirstPlay> expected;
  const std::string today = Today(collection);
  if (today.empty()) return expected;
  std::set<std::string> met;
  for (uint32_t i = 0; i < sent.size(); ++i) {
    const Sent& one = sent[i];
    const bool counts =
        one.day != today && model_.Takes(collection, one) &&
        model_.history().Judge(collection, one.user, one.at_ms) != HistoryModel::Verdict::kNothing;
    if (!counts || !met.insert(one.user).second) continue;
    const Latest* latest = LatestOf(collection, one.user);
    // A clock that was set back tells nothing anew.
    const bool active = latest != nullptr && latest->day >= today;
    expected[i] = !active ? FirstPlay::kMust : latest->told ? FirstPlay::kMustNot : FirstPlay::kMay;
  }
  return expected;
}

// An acknowledged call that did not tell found the day stored, by a call before it.
void DaysModel::Play(const std::string& collection, const std::vector<Sent>& sent,
                     bool acknowledged, uint64_t call) {
  for (const auto& [index, first] : Expect(collection, sent)) {
    if (first == FirstPlay::kMustNot) continue;
    const Latest* latest = LatestOf(collection, sent[index].user);
    if (latest != nullptr && latest->day > Today(collection)) continue;
    latest_[{collection, sent[index].user}] = {Today(collection), acknowledged,
                                               acknowledged ? call : 0};
  }
}

void DaysModel::Erase(const std::string& user) {
  std::erase_if(latest_, [&](const auto& one) { return one.first.second == user; });
}

void DaysModel::BeginAnew(const std::string& collection) {
  std::erase_if(latest_, [&](const auto& one) { return one.first.first == collection; });
}

void DaysModel::Synced(uint32_t shard) {
  for (auto& [key, latest] : latest_) {
    if (model_.ShardOf(key.second) == shard) latest.call = 0;
  }
}

void DaysModel::Settle(uint32_t shard, uint64_t kept) {
  for (auto& [key, latest] : latest_) {
    if (model_.ShardOf(key.second) != shard) continue;
    if (latest.call > kept) latest.told = false;
    latest.call = 0;
  }
}

}  // namespace seendb::simulation
