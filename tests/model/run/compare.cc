#include "model/run/compare.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "model/view.h"

namespace seendb::model {
namespace {

std::string Text(const bool* items, int count) {
  std::string text;
  for (int item = 0; item < count; ++item) text += items[item] ? '1' : '0';
  return text;
}

// Which items a filter by these facts calls seen.
Status AskFilter(World& world, int collection, int user, uint8_t facts, bool* seen,
                 bool* degraded) {
  const std::string name = world.Collection(collection);
  std::vector<std::string> names;
  for (int item = 0; item < world.scope().items; ++item) names.push_back(world.Item(item));
  const std::vector<IdRef> items(names.begin(), names.end());
  FilterRequest request;
  request.collection = name;
  request.user = IdRef(world.User(user));
  request.items = items;
  request.facts = facts;
  FilterResponse answer;
  Status status = world.engine().Filter(request, &answer);
  if (!status.ok()) return status;
  std::fill(seen, seen + names.size(), true);
  for (const uint32_t at : answer.unseen) seen[at] = false;
  *degraded = answer.degraded;
  return status;
}

// Asks the engine about a user of a collection. An absent collection shows nothing.
Status Ask(World& world, int collection, int user, UserView* view) {
  const std::string name = world.Collection(collection);
  Status status = AskFilter(world, collection, user, kFactPlays, view->played, &view->degraded);
  if (status.code() == StatusCode::kUnavailable) {
    view->unavailable = true;
    return {};
  }
  bool degraded = false;
  if (status.ok()) {
    status = AskFilter(world, collection, user, kFactImpressions, view->served, &degraded);
  }
  if (status.ok()) status = AskFilter(world, collection, user, kFactsAll, view->seen, &degraded);
  if (!status.ok() || collection != 0) return status;
  const std::string_view of[] = {name};
  HistoryPage page;
  status = world.engine().ReadHistory({.user = IdRef(world.User(user)), .collections = of}, &page);
  if (!status.ok()) return status;
  view->list_degraded = page.degraded;
  for (const HistoryEntry& entry : page.entries) {
    for (int item = 0; item < world.scope().items; ++item) {
      if (entry.item == world.Item(item)) view->listed[item] = true;
    }
  }
  return status;
}

// After a repair that lost something: the answers say so, and nothing comes back that was
// forgotten.
std::string CompareLossy(const World& world, const UserView& is, const UserView& should,
                         const std::string& of) {
  if (!is.degraded) return of + "something was lost, and the answer is not degraded; ";
  for (int item = 0; item < world.scope().items; ++item) {
    const bool more = (is.played[item] && !should.played[item]) ||
                      (is.served[item] && !should.served[item]) ||
                      (is.listed[item] && !should.listed[item]);
    if (more) return of + "something that was forgotten is there; ";
  }
  return "";
}

std::string CompareUser(World& world, const State& state, int collection, int user) {
  const std::string of = "c" + std::to_string(collection) + " u" + std::to_string(user) + ": ";
  UserView is;
  const Status asked = Ask(world, collection, user, &is);
  if (state.exists[collection] == 0) {
    return asked.code() == StatusCode::kNotFound || is.unavailable
               ? ""
               : of + "the collection is there: " + asked.ToString();
  }
  if (!asked.ok()) return of + asked.ToString();
  const UserView should = ViewOf(world.scope(), state, collection, user);
  const auto flag = [&of](const char* name, bool value, bool wanted) {
    return value == wanted ? std::string() : of + name + " is " + (value ? "true" : "false") + "; ";
  };
  std::string difference = flag("unavailable", is.unavailable, should.unavailable);
  if (!difference.empty() || is.unavailable) return difference;
  if (world.lossy && ShardOf(world.scope(), user) == world.repaired) {
    return CompareLossy(world, is, should, of);
  }
  difference = flag("degraded", is.degraded, should.degraded);
  const int items = world.scope().items;
  const auto compare = [&](const char* name, const bool* value, const bool* wanted) {
    if (std::equal(value, value + items, wanted)) return;
    difference +=
        of + name + " is " + Text(value, items) + ", should be " + Text(wanted, items) + "; ";
  };
  compare("played", is.played, should.played);
  compare("served", is.served, should.served);
  compare("seen", is.seen, should.seen);
  if (collection != 0) return difference;
  compare("listed", is.listed, should.listed);
  difference += flag("the list's degraded", is.list_degraded, should.list_degraded);
  return difference;
}

std::string CompareRings(World& world, const State& state) {
  static constexpr const char* kPhases[] = {"free", "current", "closed", "draining", "drained"};
  std::string difference;
  for (const SlotInfo& slot : world.engine().Ring()) {
    const bool known = slot.slot < kSlots;  // a repair makes journals of more slots
    const Phase phase = known ? state.shards[slot.shard].phase[slot.slot] : Phase::kFree;
    const std::string should = kPhases[static_cast<size_t>(phase)];
    if (slot.state == should) continue;
    difference += "slot " + std::to_string(slot.slot) + " of shard " + std::to_string(slot.shard) +
                  " is " + slot.state + ", should be " + should + "; ";
  }
  return difference;
}

std::string CompareOffsets(World& world, const State& state) {
  int lowest = kShards * 100;
  for (int number = 0; number < world.scope().shards; ++number) {
    lowest = std::min<int>(lowest, state.shards[number].disk.offset);
  }
  const std::optional<int64_t> is = NextOffset(world);
  const std::optional<int64_t> should =
      lowest == 0 ? std::nullopt : std::optional<int64_t>(lowest - 1);
  if (is == should) return "";
  const auto text = [](const std::optional<int64_t>& offset) {
    return offset ? std::to_string(*offset) : "not known";
  };
  return "the offset to be read next is " + text(is) + ", should be " + text(should) + "; ";
}

}  // namespace

std::string Difference(World& world, const State& state) {
  std::string difference;
  for (int collection = 0; collection < world.scope().collections; ++collection) {
    for (int user = 0; user < world.scope().users; ++user) {
      difference += CompareUser(world, state, collection, user);
    }
  }
  if (!state.over) difference += CompareRings(world, state);
  if (world.scope().messages > 0) difference += CompareOffsets(world, state);
  return difference;
}

std::string DifferenceBeside(World& world, const State& before, const State& after) {
  std::string difference;
  const Scope& scope = world.scope();
  for (int collection = 0; collection < scope.collections; ++collection) {
    for (int user = 0; user < scope.users; ++user) {
      const UserView was = ViewOf(scope, before, collection, user);
      const UserView will = ViewOf(scope, after, collection, user);
      UserView is;
      if (before.exists[collection] == 0 || was.unavailable) continue;
      const Status asked = Ask(world, collection, user, &is);
      if (!asked.ok()) difference += "beside a drain: " + asked.ToString() + "; ";
      for (int item = 0; item < scope.items; ++item) {
        const auto compare = [&](const char* name, bool shown, bool first, bool second) {
          if (shown ? first || second : !first || !second) return;
          difference += std::string("beside a drain: c") + std::to_string(collection) + " u" +
                        std::to_string(user) + ": " + name + " of i" + std::to_string(item) +
                        " is " + (shown ? "true" : "false") + "; ";
        };
        compare("played", is.played[item], was.played[item], will.played[item]);
        compare("seen", is.seen[item], was.seen[item], will.seen[item]);
        compare("listed", is.listed[item], was.listed[item], will.listed[item]);
      }
    }
  }
  return difference;
}

std::string Difference(const Performed& done, Answer answer) {
  if (answer == Answer::kNothing && !done.nothing_is_told) answer = Answer::kOk;
  if (done.answer == answer) return "";
  return std::string("the answer is ") + NameOf(done.answer) + " (" + done.what + "), should be " +
         NameOf(answer) + "; ";
}

}  // namespace seendb::model
