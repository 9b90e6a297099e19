// What may be said of an item in the model of history: of each thing the latest word that counts.

#include <algorithm>
#include <tuple>

#include "simulation/calendar.h"
#include "simulation/model.h"

namespace seendb::simulation {
namespace {

// Whether a word is there: for certain, in some possible world, or in none.
enum class There { kNo, kMaybe, kSurely };

// A word that was said of one thing.
template <typename Value>
struct Saying {
  int64_t at_ms;
  int64_t rank;  // of one time the greater counts; texts by themselves
  Value value;
  There there;

  auto place() const { return std::tie(at_ms, rank, value); }
};

int64_t RankOf(int32_t seconds) { return seconds == kFinished ? INT64_MAX : seconds; }
int64_t RankOf(const std::string&) { return 0; }

// The values that an answer may have: those down to the first that is surely there.
template <typename Value>
std::set<Value> PossibleOf(std::vector<Saying<Value>> sayings) {
  std::sort(sayings.begin(), sayings.end(),
            [](const auto& a, const auto& b) { return a.place() > b.place(); });
  std::set<Value> possible;
  for (const Saying<Value>& saying : sayings) {
    if (saying.there != There::kNo) possible.insert(saying.value);
    if (saying.there == There::kSurely) return possible;
  }
  possible.insert(Value());
  return possible;
}

std::string TextOf(int32_t seconds) { return std::to_string(seconds); }
std::string TextOf(const std::string& text) { return text; }

template <typename Value>
std::string JoinedText(const std::set<Value>& values) {
  std::string text;
  for (const Value& value : values) text += (text.empty() ? "~" : "|") + TextOf(value);
  return text;
}

}  // namespace

bool Shown::Has(const HistoryEntry& entry, bool degraded) const {
  if (entry.at_ms != at_ms) return false;
  return degraded ||
         (progress_s.contains(entry.progress_s) && duration_s.contains(entry.duration_s) &&
          device.contains(entry.device) && fields.contains(entry.fields));
}

std::string Shown::Text() const {
  return "@" + std::to_string(at_ms) + JoinedText(progress_s) + JoinedText(duration_s) +
         JoinedText(device) + JoinedText(fields);
}

// Clearings, evictions and the age of what is kept end words as they end entries; so does a
// deletion, unless its bucket may be gone, while the word stands in a newer one.
Shown HistoryModel::ShownAt(const std::string& collection, const Of& of,
                            const std::vector<ItemState>& states, int64_t at_ms) const {
  const Policy& policy = model_.PolicyOf(collection);
  int64_t deleted_surely_ms = INT64_MIN, deleted_maybe_ms = INT64_MIN;
  for (const ItemState& state : states) {
    if (!state.tombstone) continue;
    deleted_maybe_ms = std::max(deleted_maybe_ms, state.at_ms);
    const bool kept = BucketAt(policy, state.at_ms) >= lost_below_.at(collection);
    if (state.sure && kept) deleted_surely_ms = std::max(deleted_surely_ms, state.at_ms);
  }
  const auto there = [&](const ItemState& report) {
    if (Hidden(collection, of, report.moment()) || report.at_ms <= deleted_surely_ms) {
      return There::kNo;
    }
    const bool surely = report.sure && report.at_ms > deleted_maybe_ms &&
                        !MayBeHidden(collection, of, report.moment());
    return surely ? There::kSurely : There::kMaybe;
  };
  std::vector<Saying<int32_t>> progress, duration;
  std::vector<Saying<std::string>> device, fields;
  const auto add = [](const ItemState& report, There is_there, const auto& value, auto* sayings) {
    sayings->push_back({report.at_ms, RankOf(value), value, is_there});
  };
  for (const ItemState& report : states) {
    if (report.tombstone || report.at_ms > at_ms || policy.history.ids_only) continue;
    const ScriptWatch& watch = report.watch;
    const There is_there = there(report);
    if (watch.progress_s) add(report, is_there, *watch.progress_s, &progress);
    if (watch.duration_s.value_or(0) != 0) add(report, is_there, *watch.duration_s, &duration);
    if (!watch.device.empty()) add(report, is_there, watch.device, &device);
    if (!watch.fields.empty()) add(report, is_there, watch.fields, &fields);
  }
  return {at_ms, PossibleOf(progress), PossibleOf(duration), PossibleOf(device),
          PossibleOf(fields)};
}

}  // namespace seendb::simulation
