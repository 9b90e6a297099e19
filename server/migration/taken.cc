#include "migration/taken.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace seendb::migration {
namespace {

/// Items that are asked about at once.
constexpr size_t kJudgedAtOnce = 1'000;

/// The distinct items of some plays, and the place of each play's item among them.
struct Items {
  explicit Items(std::span<const Play> plays) {
    std::unordered_map<std::string, uint32_t> places;
    for (const Play& play : plays) {
      const auto [at, fresh] =
          places.try_emplace(play.item.ToString(), static_cast<uint32_t>(ids.size()));
      if (fresh) ids.push_back(play.item);
      place_of.push_back(at->second);
    }
  }
  std::vector<IdRef> ids;
  std::vector<uint32_t> place_of;
};

/// Appends those of one user's plays whose item is seen now, or is not known to be unseen; all
/// where the request fails.
Status AddSeen(Engine& engine, std::string_view collection, std::span<const Play> own,
               std::vector<Play>* seen) {
  const Items items(own);
  FilterRequest request;
  request.collection = collection;
  request.user = own.front().user;
  request.items = items.ids;
  request.facts = kFactPlays;
  FilterResponse response;
  Status asked = engine.Filter(request, &response);
  const bool known = asked.ok() && !response.degraded;
  for (size_t i = 0; i < own.size(); ++i) {
    const bool unseen = known && std::binary_search(response.unseen.begin(), response.unseen.end(),
                                                    items.place_of[i]);
    if (!unseen) seen->push_back(own[i]);
  }
  return asked;
}

/// As AddSeen, of all users. The first failure.
Status AddSeenOfAll(Engine& engine, std::string_view collection, std::span<const Play> plays,
                    std::vector<Play>* seen) {
  std::unordered_map<std::string, std::vector<Play>> by_user;
  Status first;
  const auto ask = [&](std::vector<Play>* own) {
    Status asked = AddSeen(engine, collection, *own, seen);
    if (first.ok()) first = std::move(asked);
    own->clear();
  };
  for (const Play& play : plays) {
    std::vector<Play>& own = by_user[play.user.ToString()];
    own.push_back(play);
    if (own.size() == kJudgedAtOnce) ask(&own);
  }
  for (auto& [user, own] : by_user) {
    if (!own.empty()) ask(&own);
  }
  return first;
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
  // One that fails is no reason to leave a play out.
  static_cast<void>(AddSeenOfAll(engine, collection, plays, &taken));
  return taken;
}

Result<std::vector<Play>> SeenOf(Engine& engine, std::string_view collection,
                                 std::span<const Play> plays) {
  std::vector<Play> seen;
  Status asked = AddSeenOfAll(engine, collection, plays, &seen);
  if (!asked.ok()) return asked;
  return seen;
}

}  // namespace seendb::migration
