#include "migration/taken.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace seendb::migration {
namespace {

/// Items that are asked about at once.
constexpr size_t kJudgedAtOnce = 1'000;

/// Appends those of one user's plays whose item is seen now, or is not known to be unseen.
void AddSeen(Engine& engine, std::string_view collection, std::span<const Play> own,
             std::vector<Play>* taken) {
  std::vector<IdRef> items;
  for (const Play& play : own) items.push_back(play.item);
  FilterRequest request;
  request.collection = collection;
  request.user = own.front().user;
  request.items = items;
  request.facts = kFactPlays;
  FilterResponse response;
  const bool asked = engine.Filter(request, &response).ok() && !response.degraded;
  for (size_t i = 0; i < own.size(); ++i) {
    const bool unseen = asked && std::binary_search(response.unseen.begin(), response.unseen.end(),
                                                    static_cast<uint32_t>(i));
    if (!unseen) taken->push_back(own[i]);
  }
}

}  // namespace

std::vector<Play> TakenOf(Engine& engine, std::string_view collection, std::span<const Play> plays,
                          uint64_t refused, std::span<const Refusal> refusals) {
  std::vector<Play> taken;
  if (refusals.size() == refused) {
    auto next = refusals.begin();  // they ascend
    for (size_t i = 0; i < plays.size(); ++i) {
      if (next != refusals.end() && next->index == i) {
        ++next;
      } else {
        taken.push_back(plays[i]);
      }
    }
    return taken;
  }
  std::unordered_map<std::string, std::vector<Play>> by_user;
  for (const Play& play : plays) {
    std::vector<Play>& own = by_user[play.user.ToString()];
    own.push_back(play);
    if (own.size() < kJudgedAtOnce) continue;
    AddSeen(engine, collection, own, &taken);
    own.clear();
  }
  for (const auto& [user, own] : by_user) {
    if (!own.empty()) AddSeen(engine, collection, own, &taken);
  }
  return taken;
}

}  // namespace seendb::migration
