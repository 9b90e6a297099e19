#include "simulation/model_log.h"

#include <algorithm>

namespace seendb::simulation {

void LogModel::Make(const std::string& collection, const Policy& policy, int64_t at_ms) {
  made_[collection] = at_ms;
  model_.SetPolicy(collection, policy);
}

void LogModel::Take(const LogEntry& entry) {
  model_.SetTime(entry.arrival_ms);
  switch (entry.kind) {
    case LogEntry::Kind::kPlays:
    case LogEntry::Kind::kImpressions: {
      if (!Counts(entry)) return;
      std::vector<Sent> sent;
      for (const ScriptEvent& event : entry.events) {
        sent.push_back({event.user, event.item, event.at_ms.value_or(entry.arrival_ms)});
      }
      for (const Sent& one : sent) {  // history keeps times
        const bool kept = model_.PolicyOf(entry.collection).history.enabled;
        if (!kept || !model_.Takes(entry.collection, one)) continue;
        const auto times =
            model_.history().TimesOf(entry.collection, one.user, one.item, one.at_ms);
        NoteNewest(one.user, *times.rbegin());
      }
      const bool plays = entry.kind == LogEntry::Kind::kPlays;
      return plays ? model_.Play(entry.collection, sent, true)
                   : model_.Serve(entry.collection, sent, true);
    }
    case LogEntry::Kind::kErase:
      return TakeErase(entry);
    case LogEntry::Kind::kDelete:
      if (Counts(entry)) model_.history().Delete(entry.collection, entry.user, entry.items, true);
      return;
    case LogEntry::Kind::kClear:
      return TakeClear(entry);
    case LogEntry::Kind::kRecording:
      return TakeRecording(entry);
    case LogEntry::Kind::kNothing:
      return;
  }
}

// What is known of a time behind it is erased too: its writer's clock was ahead.
void LogModel::TakeErase(const LogEntry& entry) {
  NoteNewest(entry.user, entry.arrival_ms);
  model_.Erase(entry.user, newest_.at(entry.user));
}

void LogModel::NoteNewest(const std::string& user, int64_t at_ms) {
  int64_t& newest = newest_.try_emplace(user, at_ms).first->second;
  newest = std::max(newest, at_ms);
}

void LogModel::TakeClear(const LogEntry& entry) {
  if (!Counts(entry)) return;
  model_.history().Clear(entry.collection, entry.user, true);
  if (entry.flag) model_.Forget(entry.collection, entry.user, entry.arrival_ms);
}

// A clock that is behind another node's changes nothing of what was said before.
void LogModel::TakeRecording(const LogEntry& entry) {
  if (model_.history().RecordingOf(entry.user).paused == entry.flag) return;
  int64_t& at_ms = toggled_.try_emplace(entry.user, entry.arrival_ms).first->second;
  at_ms = std::max(at_ms, entry.arrival_ms);
  model_.SetTime(at_ms);
  model_.history().Pause(entry.user, entry.flag);
}

}  // namespace seendb::simulation
