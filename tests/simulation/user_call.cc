#include "simulation/user_call.h"

#include <algorithm>

#include "simulation/checks.h"
#include "simulation/checks_days.h"

namespace seendb::simulation {

bool UserCall::Is(Verb verb) {
  return verb == Verb::kPlay || verb == Verb::kServe || verb == Verb::kExpose ||
         verb == Verb::kFilter || verb == Verb::kErase || verb == Verb::kPut ||
         verb == Verb::kMark || verb == Verb::kUnmark || HistoryCall::Is(verb) ||
         IngestCall::Is(verb);
}

void UserCall::Call() {
  if (HistoryCall::Is(operation_.verb)) return history_.Call();
  if (IngestCall::Is(operation_.verb)) return ingest_.Call();
  switch (operation_.verb) {
    case Verb::kPut:
      status_ = world_->engine().PutCollection(operation_.collection, operation_.patch);
      return;
    case Verb::kErase:
      status_ = world_->engine().EraseUser(IdRef(operation_.user), {}, &erasure_);
      return;
    case Verb::kMark:
    case Verb::kUnmark:
      return CallMark();
    case Verb::kFilter:
      if (Knows()) {
        status_ =
            world_->Answer({operation_.collection, operation_.user, operation_.filter}, &answer_);
      }
      return;
    default:
      break;
  }
  if (!Knows()) return;
  Result<RecordResult> result = operation_.verb == Verb::kPlay    ? Record<Play>()
                                : operation_.verb == Verb::kServe ? Record<Impression>()
                                                                  : Record<Exposure>();
  status_ = result.status();
  if (result.ok()) recorded_ = std::move(result).value();
}

Status UserCall::Account(bool alone) {
  if (HistoryCall::Is(operation_.verb)) return history_.Account(alone);
  if (IngestCall::Is(operation_.verb)) return ingest_.Account(alone);
  if (alone && operation_.verb != Verb::kFilter) world_->Note(status_);
  if (operation_.verb == Verb::kErase) {
    if (alone && status_.ok()) CheckErasedFromOutbox(operation_.user, &world_->engine());
    return AccountErase();
  }
  if (operation_.verb == Verb::kPut) return AccountPut();
  if (operation_.verb == Verb::kMark || operation_.verb == Verb::kUnmark) return AccountMark();
  if (!Knows()) return {};
  if (operation_.verb == Verb::kFilter) {
    world_->Examine({operation_.collection, operation_.user, operation_.filter, !alone}, status_,
                    answer_, alone);
    return status_.code() == StatusCode::kUnavailable ? Status() : status_;
  }
  return AccountRecord(alone);
}

// ---- Plays and impressions ----

template <typename Given>
Result<RecordResult> UserCall::Record() {
  std::vector<Given> given;
  std::vector<Watch> watches;
  watches.reserve(operation_.events.size());
  std::vector<std::string> groups;
  for (const ScriptEvent& event : operation_.events) groups.push_back(CountedGroupOf(event.item));
  const std::vector<std::string_view> views(groups.begin(), groups.end());
  for (const ScriptEvent& event : operation_.events) {
    given.push_back({IdRef(event.user), IdRef(event.item), event.at_ms});
    if (operation_.grouped) given.back().of = {&views[given.size() - 1], 1};
    if constexpr (std::is_same_v<Given, Exposure>) given.back().surface = operation_.surface;
    if constexpr (std::is_same_v<Given, Play>) {
      given.back().day = event.day;
      if (!event.watch) continue;
      const ScriptWatch& watch = *event.watch;
      watches.push_back({watch.progress_s, watch.duration_s, watch.device, watch.fields});
      given.back().watch = &watches.back();
    }
  }
  EngineStats& expected = world_->expected;
  if constexpr (std::is_same_v<Given, Play>) {
    Result<RecordResult> result = world_->engine().RecordPlays(given, {operation_.collection});
    if (result.ok()) expected.plays_accepted += result->accepted;
    if (result.ok()) expected.plays_refused += result->refused;
    return result;
  } else if constexpr (std::is_same_v<Given, Exposure>) {
    Result<RecordResult> result = world_->engine().RecordExposures(given, {operation_.collection});
    if (result.ok()) expected.exposures_accepted += result->accepted;
    if (result.ok()) expected.exposures_refused += result->refused;
    return result;
  } else {
    Result<RecordResult> result =
        world_->engine().RecordImpressions(given, {operation_.collection});
    if (result.ok()) expected.impressions_accepted += result->accepted;
    if (result.ok()) expected.impressions_refused += result->refused;
    return result;
  }
}

Status UserCall::AccountRecord(bool alone) {
  const std::string& collection = operation_.collection;
  std::vector<Sent> sent;
  std::vector<uint32_t> refused;
  const bool plays = operation_.verb == Verb::kPlay;
  const bool ok = status_.ok();
  for (const ScriptEvent& event : operation_.events) {
    const auto index = static_cast<uint32_t>(sent.size());
    sent.push_back({event.user, event.item, event.at_ms.value_or(model().now_ms),
                    event.watch.value_or(ScriptWatch{}), event.day});
    if (ok) sent.back().taken = !IsRefused(recorded_, index);
    if (!model().Takes(collection, sent.back())) refused.push_back(index);
  }
  if (status_.code() == StatusCode::kBusy) {
    ++world_->expected.busy;
    if (alone) world_->CheckFull();
    return status_;
  }
  if (ok) CheckRefusals(sent.size(), refused);
  if (ok && plays) {
    world_->CountVerdicts(collection, sent);
    CheckFirstPlays(model(), collection, sent, recorded_, world_->ReadsFail(), &world_->tally());
    for (const uint32_t index : recorded_.first_today) {
      if (alone) world_->Note(index);
    }
  }
  if (!ok) world_->CheckExcused("record", status_);
  const bool served = operation_.verb == Verb::kServe;
  if (plays) {
    model().Play(collection, sent, ok);
  } else if (served) {
    model().Serve(collection, sent, ok);
  } else {
    model().Expose(collection, sent, operation_.surface, ok);
  }
  if (operation_.grouped && !plays) {
    model().Count(collection, served ? Fact::kServed : Fact::kExposed, sent, operation_.surface,
                  ok);
  }
  if (ok) {
    Tally& tally = world_->tally();
    (plays ? tally.plays : served ? tally.impressions : tally.exposures) += recorded_.accepted;
    if (!served || operation_.grouped || model().KeepsServed(collection)) NoteSynced(sent);
  }
  return status_;
}

void UserCall::CheckRefusals(size_t sent, const std::vector<uint32_t>& refused) const {
  std::vector<uint32_t> indexes;
  for (const Refusal& refusal : recorded_.refusals) indexes.push_back(refusal.index);
  // Of many, which are told depends on where they were met.
  const bool told = indexes.size() == std::min(refused.size(), kMaxRefusals) &&
                    std::includes(refused.begin(), refused.end(), indexes.begin(), indexes.end());
  if (recorded_.accepted + recorded_.refused != sent || recorded_.refused != refused.size() ||
      !told) {
    throw Violation("refused " + std::to_string(recorded_.refused) + " of " + std::to_string(sent) +
                    ", expected " + std::to_string(refused.size()));
  }
}

void UserCall::NoteSynced(const std::vector<Sent>& sent) {
  if (model().PolicyOf(operation_.collection).durability != Durability::kSync) return;
  std::set<uint32_t> shards;
  for (const Sent& one : sent) {
    const bool written = operation_.verb != Verb::kPlay ||
                         model().history().Judge(operation_.collection, one.user, one.at_ms) !=
                             HistoryModel::Verdict::kNothing;
    if (written && model().Takes(operation_.collection, one)) {
      shards.insert(model().ShardOf(one.user));
    }
  }
  for (const uint32_t shard : shards) model().Synced(shard);
}

// ---- Marks ----

void UserCall::CallMark() {
  const IdRef user(operation_.user);
  EngineStats& expected = world_->expected;
  said_ms_ = model().now_ms - operation_.behind;
  if (operation_.verb == Verb::kUnmark) {
    const Result<bool> deleted = world_->engine().DeleteMark(user, operation_.surface);
    status_ = deleted.status();
    deleted_ = deleted.ok() && *deleted;
    expected.marks_deleted += deleted_ ? 1 : 0;
    return;
  }
  Mark mark{.group = operation_.surface, .at_ms = said_ms_};
  if (operation_.number >= 0) mark.until_ms = operation_.number;
  Result<RecordResult> result = world_->engine().PutMarks(user, {&mark, 1});
  status_ = result.status();
  if (!result.ok()) return;
  expected.marks_accepted += result->accepted;
  recorded_ = std::move(result).value();
}

Status UserCall::AccountMark() {
  MarksModel& marks = model().marks();
  const std::string& user = operation_.user;
  const bool ok = status_.ok();
  if (!ok) world_->CheckExcused("mark", status_);
  if (operation_.verb == Verb::kUnmark) {
    const Truth had = marks.Has(user, operation_.surface);
    if (ok && had != Truth::kMaybe && deleted_ != (had == Truth::kYes)) {
      throw Violation("unmark " + user + " " + operation_.surface + ": " +
                      (deleted_ ? "there was none" : "there was one"));
    }
    marks.Delete(user, operation_.surface, model().now_ms, ok);
    if (ok) model().Synced(model().ShardOf(user));
    return status_;
  }
  const std::optional<int64_t> erased_ms = model().ErasedAt(user);
  const bool erased = erased_ms && said_ms_ <= *erased_ms;
  if (ok && recorded_.refused != (erased ? 1 : 0) && !model().MayBeWithoutErasure(user)) {
    throw Violation("mark " + user + ": " + (erased ? "taken" : "refused"));
  }
  if (ok ? recorded_.refused > 0 : erased) return status_;
  const int64_t until_ms = operation_.number < 0 ? kAlwaysUntil : operation_.number;
  marks.Mark(user, operation_.surface, until_ms, said_ms_, ok);
  if (ok) ++world_->tally().marks;
  return status_;
}

// ---- Erasures and policies ----

Status UserCall::AccountErase() {
  const int64_t at_ms = model().now_ms;
  if (status_.ok() && !erasure_.written) {
    if (erasure_.known) throw Violation("erase " + operation_.user + ": known, and not written");
    CheckUnknown();
  } else if (status_.ok()) {
    ++world_->expected.users_erased;
    int64_t latest_ms = std::max(at_ms, model().ErasedAt(operation_.user).value_or(at_ms));
    for (const auto& [name, policy] : model().policies()) {
      latest_ms = std::max(latest_ms, at_ms + policy.max_future_ms);
    }
    // Marks that were said before the clock was set back lie ahead.
    if (model().may_be_set_back) latest_ms = std::max(latest_ms, at_ms + kMostAheadMs);
    const int64_t until_ms = std::max(erasure_.until_ms, at_ms);
    if (until_ms > latest_ms) throw Violation("erase " + operation_.user + ": for too long");
    model().Erase(operation_.user, until_ms);
  } else {
    world_->CheckExcused("erase", status_);
    world_->Doubt(operation_.user, at_ms);
  }
  return status_;
}

// Nothing that is sure may be there, nor an earlier erasure.
void UserCall::CheckUnknown() {
  const std::string& user = operation_.user;
  const std::string denied = "erase " + user + ": called unknown, but ";
  if (model().marks().Holds(user)) throw Violation(denied + "has marks");
  if (model().ErasedAt(user)) throw Violation(denied + "it was erased");
  for (const auto& [name, policy] : model().policies()) {
    Expected expected = model().Expect(name, user);
    model().ExpectExposed(name, user, INT64_MIN, {}, &expected);
    if (!expected.served_sure.empty()) throw Violation(denied + "was served in " + name);
    if (model().CountsAny(name, user)) throw Violation(denied + "is counted in " + name);
    if (!expected.exposed_sure.empty()) throw Violation(denied + "was exposed to in " + name);
    for (const auto& [item, buckets] : expected.played_sure) {
      if (!buckets.empty()) throw Violation(denied + "played " + item + " in " + name);
    }
  }
}

Status UserCall::AccountPut() {
  const std::string& name = operation_.collection;
  const PolicyPatch& patch = operation_.patch;
  const Policy before = Knows() ? model().PolicyOf(name) : Policy{};
  const Policy policy = ApplyPatch(before, patch);
  const bool begins_anew = Knows() && !SameFixedFields(before, policy);
  const bool must_not = !ValidatePolicy(policy).ok() || (begins_anew && model().HoldsAny(name));
  if (status_.ok()) {
    if (must_not) throw Violation("a policy was taken that must not be");
    begins_anew ? model().BeginAnew(name, policy) : model().SetPolicy(name, policy);
    model().AllSynced();
  } else if (!must_not && !(begins_anew && status_.code() == StatusCode::kIncompatible)) {
    world_->CheckExcused("put", status_);
    world_->Doubt(name, policy);
  }
  return status_;
}

}  // namespace seendb::simulation
