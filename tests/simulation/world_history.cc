// What an opening tells of history, and the look at all of it and of the days.

#include <algorithm>
#include <utility>

#include "simulation/checks_days.h"
#include "simulation/world.h"

namespace seendb::simulation {

void World::CheckRecording(Engine* engine, const std::string& user) {
  const Result<Recording> is = engine->GetRecording(IdRef(user));
  const Recording should = model_.history().RecordingOf(user);
  if (is.ok() && is->paused == should.paused && is->since_ms == should.since_ms) return;
  throw Violation(
      "recording of " + user + ": " +
      (is.ok() ? (is->paused ? "paused since " : "goes on since ") + std::to_string(is->since_ms)
               : is.status().ToString()) +
      ", expected " + (should.paused ? "paused since " : "going on since ") +
      std::to_string(should.since_ms));
}

void World::SettlePauses() {
  for (const auto& [user, paused] : std::exchange(doubted_pauses_, {})) {
    const Result<Recording> is = engine_->GetRecording(IdRef(user));
    if (!is.ok()) throw Violation("recording of " + user + ": " + is.status().ToString());
    if (is->paused == paused) {
      if (is->since_ms != model_.history().RecordingAfter(user, paused).since_ms) {
        throw Violation("recording of " + user + " changed at another time");
      }
      model_.history().Pause(user, paused);
    }
    CheckRecording(engine_.get(), user);
  }
}

void World::SettleHistory(uint32_t shard, uint64_t kept) {
  using Seen = std::optional<std::optional<HistoryEntry>>;
  model_.history().Settle(
      shard, power_was_cut_, kept,
      [&](const std::string& collection, const std::string& user, const std::string& item) -> Seen {
        if (!model_.PolicyOf(collection).history.enabled) return {};
        const IdRef items[] = {IdRef(item)};
        HistoryLookup found;
        const Status status = engine_->LookupHistory(IdRef(user), collection, items, &found);
        if (!status.ok() || found.degraded) return {};
        return found.entries[0];
      });
}

bool World::Doubts(const std::string& user) const {
  const auto forgotten = doubted_forgotten_.lower_bound({user, ""});
  return doubted_erasures_.contains(user) ||
         (forgotten != doubted_forgotten_.end() && forgotten->first.first == user);
}

// Whose state is open just now, or changed by `but`.
bool World::Skips(const Operation* but, const std::string& user) const {
  if (Doubts(user)) return true;
  return but != nullptr && (but->user == user || std::any_of(but->events.begin(), but->events.end(),
                                                             [&](const ScriptEvent& event) {
                                                               return event.user == user;
                                                             }));
}

void World::SweepDays(Engine* engine, const Operation* but) {
  for (const std::string& user : model_.days().Users()) {
    if (Skips(but, user)) continue;
    const Result<UserReport> report = engine->Inspect(IdRef(user));
    if (!report.ok()) throw Violation("inspect " + user + ": " + report.status().ToString());
    CheckDays(model_, *report);
  }
}

void World::SweepHistory(Engine* engine, bool excused, const Operation* but) {
  if (!doubted_policies_.empty()) return;
  std::set<std::string> users;
  for (const auto& [collection, policy] : model_.policies()) {
    if (!policy.history.enabled) continue;
    for (const std::string& user : model_.history().UsersOf(collection)) {
      if (Skips(but, user)) continue;
      users.insert(user);
      const std::vector<std::string> all = model_.history().ItemsOf(collection, user);
      for (size_t at = 0; at < all.size(); at += kMaxHistoryItems) {
        const size_t end = std::min(all.size(), at + kMaxHistoryItems);
        const std::vector<std::string> items(all.begin() + static_cast<int64_t>(at),
                                             all.begin() + static_cast<int64_t>(end));
        HistoryLookup found;
        const Status status = engine->LookupHistory(
            IdRef(user), collection, std::vector<IdRef>(items.begin(), items.end()), &found);
        if (!status.ok()) throw Violation("lookup " + user + ": " + status.ToString());
        // What a failed write meant to take may be shown still, and gone at the next opening.
        const bool learn = engine == engine_.get() && !excused;
        CheckLookup(&model_, collection, user, items, found, excused, learn);
      }
    }
  }
  for (const std::string& user : users) {
    Reading reading;
    reading.limit = kMaxHistoryLimit;
    do {
      HistoryPage page;
      const Status status =
          engine->ReadHistory({IdRef(user), {}, reading.limit, reading.cursor}, &page);
      if (!status.ok()) throw Violation("history " + user + ": " + status.ToString());
      CheckPage(model_, user, page, excused, &reading);
    } while (!reading.cursor.empty());
  }
  for (const std::string& user : model_.history().PausedUsers()) {
    if (!Skips(but, user) && !doubted_pauses_.contains(user)) CheckRecording(engine, user);
  }
}

}  // namespace seendb::simulation
