#include "simulation/checks_days.h"

#include <algorithm>
#include <functional>

namespace seendb::simulation {

void CheckFirstPlays(const Model& model, const std::string& collection,
                     const std::vector<Sent>& sent, const RecordResult& recorded, bool excused,
                     Tally* tally) {
  const std::string where = "play " + collection + ": ";
  if (recorded.day != model.days().Today(collection)) {
    throw Violation(where + "told the day " + recorded.day + ", expected " +
                    model.days().Today(collection));
  }
  const std::vector<uint32_t>& told = recorded.first_today;
  if (std::adjacent_find(told.begin(), told.end(), std::greater_equal<>()) != told.end()) {
    throw Violation(where + "first plays out of order");
  }
  tally->first_plays += told.size();
  const auto expected = model.days().Expect(collection, sent);
  for (const uint32_t index : told) {
    const auto at = expected.find(index);
    if (at == expected.end() || (at->second == FirstPlay::kMustNot && !excused)) {
      throw Violation(where + "number " + std::to_string(index) + " is told as the first of " +
                      recorded.day + ", which it is not");
    }
  }
  for (const auto& [index, first] : expected) {
    if (first != FirstPlay::kMust || std::binary_search(told.begin(), told.end(), index)) continue;
    throw Violation(where + "number " + std::to_string(index) + " is the first of " + recorded.day +
                    " of " + sent[index].user + ", and is not told");
  }
}

void CheckErasedFromOutbox(const std::string& user, Engine* engine) {
  for (const OutboxSource& source : engine->OutboxSources()) {
    std::vector<OutboxRow> rows;
    if (!engine->ReadOutbox(source, -1, SIZE_MAX, &rows).ok()) continue;
    for (const OutboxRow& row : rows) {
      for (const FirstOfDay& first : row.first_plays) {
        if (first.user == user) throw Violation("erase " + user + ": it is still in the outbox");
      }
    }
  }
}

void CheckDays(const Model& model, const UserReport& report) {
  std::map<std::string, std::string> stored(report.last_active_days.begin(),
                                            report.last_active_days.end());
  for (const auto& [collection, policy] : model.policies()) {
    const DaysModel::Latest* latest = model.days().LatestOf(collection, report.user);
    const std::string day = stored[collection];
    const bool right = latest == nullptr ? day.empty() : !latest->told || day == latest->day;
    if (right) continue;
    throw Violation("inspect " + report.user + ": the last day in " + collection + " is " + day +
                    ", expected " + (latest == nullptr ? "none" : latest->day));
  }
}

}  // namespace seendb::simulation
