#include "simulation/history_call.h"

#include <algorithm>

namespace seendb::simulation {
namespace {

// Pages of one item of everything a user can have.
constexpr size_t kMostPages = 100'000;

std::vector<IdRef> Ids(const std::vector<std::string>& items) {
  return std::vector<IdRef>(items.begin(), items.end());
}
std::vector<std::string_view> Views(const std::vector<std::string>& names) {
  return std::vector<std::string_view>(names.begin(), names.end());
}

}  // namespace

bool HistoryCall::Is(Verb verb) {
  return verb == Verb::kHistory || verb == Verb::kMore || verb == Verb::kLookup ||
         verb == Verb::kDelete || verb == Verb::kClear || verb == Verb::kPause ||
         verb == Verb::kResume;
}

bool HistoryCall::Writes() const {
  return operation_.verb == Verb::kDelete || operation_.verb == Verb::kClear ||
         operation_.verb == Verb::kPause || operation_.verb == Verb::kResume;
}

void HistoryCall::Call() {
  Engine& engine = world_.engine();
  const IdRef user(operation_.user);
  switch (operation_.verb) {
    case Verb::kHistory:
      status_ = CallPages({operation_.of, operation_.filter.limit}, 1);
      return;
    case Verb::kMore: {
      const Reading& reading = world_.readings[operation_.user];
      if (!reading.cursor.empty()) status_ = CallPages(reading, operation_.number);
      return;
    }
    case Verb::kLookup:
      status_ =
          engine.LookupHistory(user, operation_.collection, Ids(operation_.filter.items), &found_);
      return;
    case Verb::kDelete:
      status_ = engine.DeleteHistory(user, operation_.collection, Ids(operation_.filter.items));
      return;
    case Verb::kClear: {
      const std::vector<std::string_view> of = Views(operation_.of);
      status_ = engine.ClearHistory(user, {.collections = of, .filter = Forgets()});
      return;
    }
    default:
      status_ = engine.SetRecording(user, operation_.verb == Verb::kPause);
  }
}

Status HistoryCall::CallPages(Reading reading, int64_t pages) {
  const std::vector<std::string_view> of = Views(reading.of);
  const size_t most = pages == 0 ? kMostPages : static_cast<size_t>(pages);
  while (pages_.size() < most) {
    HistoryPage& page = pages_.emplace_back();
    const Status status = world_.engine().ReadHistory(
        {IdRef(operation_.user), of, reading.limit, reading.cursor}, &page);
    if (!status.ok()) return status;
    reading.cursor = page.cursor;
    if (page.cursor.empty()) return {};
  }
  if (pages == 0) throw Violation("history " + operation_.user + ": pages without an end");
  return {};
}

// Of a clear: the filters too. Then it is for all collections that there are.
bool HistoryCall::Forgets() const { return operation_.number != 0; }

bool HistoryCall::Known(const std::vector<std::string>& collections) {
  return std::all_of(collections.begin(), collections.end(),
                     [&](const std::string& name) { return model().policies().contains(name); });
}

bool HistoryCall::Answerable() {
  switch (operation_.verb) {
    case Verb::kClear:
      if (Forgets()) return Known(operation_.of);
      [[fallthrough]];
    case Verb::kHistory:
      return KeepsHistory(model(), operation_.of);
    case Verb::kMore:
      return KeepsHistory(model(), world_.readings[operation_.user].of);
    case Verb::kLookup:
    case Verb::kDelete:
      return KeepsHistory(model(), {operation_.collection});
    default:
      return true;
  }
}

Status HistoryCall::Account(bool alone) {
  if (alone) world_.Note(status_);
  const bool asked = operation_.verb != Verb::kMore || !pages_.empty();
  if (!asked) return {};
  if (!Answerable()) {
    if (status_.ok()) throw Violation("history that is not kept is answered");
    if (status_.code() != StatusCode::kNotFound) world_.CheckExcused("history", status_);
    world_.readings.erase(operation_.user);
    return status_.code() == StatusCode::kNotFound ? Status() : status_;
  }
  if (!status_.ok() && !world_.ReadsFail()) world_.CheckExcused("history", status_);
  if (Writes()) {
    AccountWrite();
  } else if (!status_.ok()) {
    world_.readings.erase(operation_.user);
  } else if (operation_.verb == Verb::kLookup) {
    AccountLookup(alone);
  } else {
    AccountPages(alone);
  }
  return status_;
}

void HistoryCall::AccountPages(bool alone) {
  Reading& reading = world_.readings[operation_.user];
  if (operation_.verb == Verb::kHistory) reading = {operation_.of, operation_.filter.limit};
  for (const HistoryPage& page : pages_) {
    ++world_.tally().pages;
    world_.tally().entries += page.entries.size();
    CheckPage(model(), operation_.user, page, world_.ReadsFail(), &reading);
    if (!alone || page.degraded) continue;
    for (const HistoryEntry& entry : page.entries) {
      world_.Note(static_cast<uint64_t>(entry.at_ms));
    }
  }
}

void HistoryCall::AccountLookup(bool alone) {
  world_.tally().lookups += found_.entries.size();
  CheckLookup(&model(), operation_.collection, operation_.user, operation_.filter.items, found_,
              world_.ReadsFail(), alone);
  if (!alone || found_.degraded) return;
  for (const auto& entry : found_.entries) {
    world_.Note(entry ? static_cast<uint64_t>(entry->at_ms) : 1);
  }
}

void HistoryCall::AccountWrite() {
  const bool ok = status_.ok();
  const std::string& user = operation_.user;
  if (operation_.verb == Verb::kDelete) {
    model().history().Delete(operation_.collection, user, operation_.filter.items, ok);
    if (ok) {
      world_.expected.history_deleted += operation_.filter.items.size();
      model().Synced(model().ShardOf(user));
    }
    return;
  }
  if (operation_.verb == Verb::kClear) {
    bool any = false;
    for (const auto& [name, policy] : model().policies()) {
      const bool wanted =
          operation_.of.empty() || std::count(operation_.of.begin(), operation_.of.end(), name) > 0;
      if (!wanted) continue;
      model().history().Clear(name, user, ok);
      if (Forgets() && ok) model().Forget(name, user, model().now_ms);
      if (Forgets() && !ok) world_.DoubtForgotten(name, user, model().now_ms);
      any = true;
      if (ok) ++world_.expected.history_cleared;
    }
    if (ok && any) model().Synced(model().ShardOf(user));
    return;
  }
  const bool paused = operation_.verb == Verb::kPause;
  const bool changes = model().history().RecordingOf(user).paused != paused;
  if (!ok) return world_.DoubtPause(user, paused);
  model().history().Pause(user, paused);
  if (changes) model().Synced(model().ShardOf(user));
}

}  // namespace seendb::simulation
