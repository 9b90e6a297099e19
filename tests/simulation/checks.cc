#include "simulation/checks.h"

#include <algorithm>
#include <map>

#include "filter/item_hash.h"
#include "simulation/calendar.h"
#include "simulation/checks_clock.h"
#include "simulation/checks_verify.h"

namespace seendb::simulation {
namespace {

std::string Names(const Policy& policy, const std::set<int64_t>& buckets) {
  std::string text;
  for (const int64_t bucket : buckets) text += " " + NameOf(policy, bucket);
  return text;
}

// One answer under examination.
class Examination {
 public:
  Examination(const Model& model, const Question& question, const FilterResponse& answer,
              Engine* engine, bool excused, Tally* tally)
      : model_(model),
        question_(question),
        answer_(answer),
        engine_(engine),
        excused_(excused),
        tally_(tally),
        policy_(model.PolicyOf(question.collection)),
        expected_(model.Expect(question.collection, question.user)),
        plays_((question.filter.facts & kFactPlays) != 0),
        impressions_((question.filter.facts & kFactImpressions) != 0) {
    if (!plays_) expected_.played_sure.clear(), expected_.played_maybe.clear();
    if (!impressions_) expected_.served_sure.clear(), expected_.served_maybe.clear();
    if (question.filter.exposed_ms || policy_.exposed_is_seen) ExpectExposed();
    if (question.filter.marks) ExpectMarked();
    expected_.excluded.insert(question.filter.exclude.begin(), question.filter.exclude.end());
  }

  void Run() {
    CheckShape();
    if (answer_.degraded) ++tally_->degraded;
    if (answer_.degraded && !excused_ && !question_.filter.late &&
        !MissesDropped(model_, question_, answer_)) {
      Fail("degraded without a cause, missing " + answer_.missing.front());
    }
    std::vector<bool> unseen(answer_.examined, false);
    for (const uint32_t at : answer_.unseen) unseen[at] = true;
    std::map<std::string, uint32_t> first;
    uint32_t repeats = 0;
    for (uint32_t at = 0; at < answer_.examined; ++at) {
      const std::string& item = question_.filter.items[at];
      if (const auto [known, fresh] = first.try_emplace(item, at); !fresh) {
        ++repeats;
        CheckRepeat(item, at, known->second, unseen[at]);
        continue;
      }
      CheckItem(item, unseen[at], question_.filter.explain ? &answer_.reasons[at] : nullptr);
    }
    if (repeats != answer_.duplicates) Fail("duplicates are not as many as items that repeat");
    Expected listed = expected_;
    listed.served_maybe.insert(expected_.exposed_maybe.begin(), expected_.exposed_maybe.end());
    listed.served_maybe.insert(marked_maybe_.begin(), marked_maybe_.end());
    CheckVerified(model_, question_, answer_, listed, excused_, tally_);
  }

 private:
  void ExpectExposed() {
    const int64_t within_ms = question_.filter.exposed_ms.value_or(0);
    const int64_t begin_ms = within_ms > 0
                                 ? model_.now_ms - within_ms
                                 : FirstMsOf(policy_, model_.OldestRead(question_.collection));
    model_.ExpectExposed(question_.collection, question_.user, begin_ms, question_.filter.surface,
                         &expected_);
  }

  void ExpectMarked() {
    for (const std::string& item : question_.filter.items) {
      const Truth reaches = model_.marks().Reaches(question_.user, GroupOf(item));
      if (reaches != Truth::kNo) marked_maybe_.insert(item);
      if (reaches == Truth::kYes) marked_sure_.insert(item);
    }
  }

  [[noreturn]] void Fail(const std::string& what) const {
    throw Violation("filter " + question_.collection + " " + question_.user + ": " + what);
  }

  void CheckRepeat(const std::string& item, uint32_t at, uint32_t first, bool unseen) const {
    if (unseen) Fail(item + " is returned twice");
    if (question_.filter.explain && answer_.reasons[at].kind != answer_.reasons[first].kind) {
      Fail(item + " has two reasons");
    }
  }

  void CheckShape() const {
    const ScriptFilter& filter = question_.filter;
    if (answer_.examined > filter.items.size()) Fail("more examined than asked");
    if (answer_.seen + answer_.excluded + answer_.duplicates + answer_.unseen.size() !=
        answer_.examined) {
      Fail("seen + excluded + duplicates + unseen is not examined");
    }
    if (std::adjacent_find(answer_.unseen.begin(), answer_.unseen.end(), std::greater_equal<>()) !=
            answer_.unseen.end() ||
        (!answer_.unseen.empty() && answer_.unseen.back() >= answer_.examined)) {
      Fail("positions out of order");
    }
    if (filter.limit != 0 && answer_.unseen.size() > filter.limit) Fail("beyond the limit");
    if (answer_.examined < filter.items.size() &&
        (filter.limit == 0 || answer_.unseen.size() != filter.limit ||
         answer_.unseen.back() + 1 != answer_.examined)) {
      Fail("stopped early");
    }
    if (answer_.reasons.size() != (filter.explain ? answer_.examined : 0)) Fail("reasons");
    if (answer_.degraded == answer_.missing.empty()) Fail("degraded, but nothing is missing");
  }

  bool Missing(const std::string& what) const {
    return std::find(answer_.missing.begin(), answer_.missing.end(), what) !=
               answer_.missing.end() ||
           std::find(answer_.missing.begin(), answer_.missing.end(), "deadline") !=
               answer_.missing.end();
  }

  void CheckForgotten(const std::string& item) const {
    const auto sure = expected_.played_sure.find(item);
    const bool served = expected_.served_sure.contains(item);
    if (served && !Missing("impressions")) Fail(item + " was served and is called unseen");
    if (marked_sure_.contains(item) && !Missing("own") && !Missing("shard")) {
      Fail(item + " is of a marked group and is called unseen");
    }
    const bool exposed = expected_.exposed_sure.contains(item);
    if (exposed && !Missing("exposed")) Fail(item + " was on screen and is called unseen");
    if (sure == expected_.played_sure.end()) return;
    for (const int64_t bucket : sure->second) {
      if (Missing(NameOf(policy_, bucket)) && (excused_ || question_.filter.late)) continue;
      if (SaysDropped(model_, question_, answer_, item, bucket)) continue;
      if (BeyondCeiling(model_, question_.collection, question_.user, bucket, engine_)) {
        ++tally_->forgotten;
        continue;
      }
      Fail(item + " was played in" + Names(policy_, sure->second) + " and is called unseen");
    }
  }

  void CheckReason(const std::string& item, const Reason& reason) const {
    const auto played = expected_.played_maybe.find(item);
    const bool may_be_played = played != expected_.played_maybe.end();
    ++tally_->explained;
    if (expected_.excluded.contains(item) != (reason.kind == ReasonKind::kExcluded)) {
      Fail(item + ": excluded or not");
    }
    switch (reason.kind) {
      case ReasonKind::kUnseen:
        Fail(item + " is not returned, and the reason is that it is");
      case ReasonKind::kRefuted:
      case ReasonKind::kRefutedImpression:
        Fail(item + " is not returned, and the reason is that history refutes it");
      case ReasonKind::kOldStore:
        Fail(item + " is said to be in an old store, which there is not");
      case ReasonKind::kJudged:
      case ReasonKind::kTooMany:
        Fail(item + " is said to be dropped by a judge, which there is not");
      case ReasonKind::kSame:
        Fail(item + " is said to be seen by a group, and has none");
      case ReasonKind::kCapped:
        Fail(item + " is dropped by a cap, and none was asked for");
      case ReasonKind::kInSet:
        Fail(item + " is said to be in a set, of which none was named");
      case ReasonKind::kExcluded:
        return;
      case ReasonKind::kImpression:
        if (!expected_.served_maybe.contains(item)) Fail(item + " was not served");
        return;
      case ReasonKind::kMarked:
        if (!marked_maybe_.contains(item)) Fail(item + " is of no marked group");
        ++tally_->marked;
        return;
      case ReasonKind::kExposed:
        if (!expected_.exposed_maybe.contains(item)) Fail(item + " was not on screen");
        ++tally_->shown;
        break;
      case ReasonKind::kRing:
        if (!may_be_played) Fail(item + " was not played, and is said to be in the ring");
        break;
      case ReasonKind::kPlay:
        if (!plays_) Fail(item + ": plays were not asked for");
        if (reason.bucket_index < model_.OldestRead(question_.collection)) {
          Fail(item + ": a bucket before the window is named");
        }
        if (may_be_played && played->second.contains(reason.bucket_index)) break;
        ++tally_->misnamed;
        if (policy_.representation == Representation::kExact) {
          Fail(item + " is exact and was not played in " + NameOf(policy_, reason.bucket_index));
        }
        break;
    }
    if (expected_.served_sure.contains(item) && !Missing("impressions")) {
      Fail(item + " was served; another reason is given");
    }
    if (reason.kind != ReasonKind::kExposed && expected_.exposed_sure.contains(item) &&
        !Missing("exposed")) {
      Fail(item + " was on screen; another reason is given");
    }
  }

  void CheckItem(const std::string& item, bool unseen, const Reason* reason) {
    const bool excluded = expected_.excluded.contains(item);
    const bool possible = excluded || expected_.served_maybe.contains(item) ||
                          expected_.exposed_maybe.contains(item) || marked_maybe_.contains(item) ||
                          expected_.played_maybe.contains(item);
    if (unseen) {
      if (excluded) Fail(item + " is excluded and was returned");
      if (reason != nullptr && reason->kind != ReasonKind::kUnseen &&
          reason->kind != ReasonKind::kRefuted) {
        Fail(item + ": reason");
      }
      CheckForgotten(item);
    } else {
      if (!possible && expected_.lifted.contains(item)) {
        Fail(item + " was deleted, may be recommended again and is called seen");
      }
      if (!possible && policy_.representation == Representation::kExact) {
        Fail(item + " is called seen in an exact collection");
      }
      if (!possible && !plays_) Fail(item + " is called seen by impressions alone");
      if (reason != nullptr) CheckReason(item, *reason);
    }
    if (possible || !plays_ || policy_.representation == Representation::kExact) return;
    if (question_.filter.verify) return;  // the budget is the filters' alone
    if (item[0] == 'f') {
      ++tally_->fresh;
      if (!unseen) ++tally_->wrong;
      tally_->allowed += policy_.fpr;
      tally_->variance += policy_.fpr * (1 - policy_.fpr);
    } else if (model_.WasSent(question_.user, item)) {
      ++tally_->past;
      if (!unseen) ++tally_->past_wrong;
      tally_->past_allowed += policy_.fpr;
    }
  }

  const Model& model_;
  const Question& question_;
  const FilterResponse& answer_;
  Engine* const engine_;
  const bool excused_;
  Tally* const tally_;
  const Policy& policy_;
  Expected expected_;
  std::set<std::string> marked_sure_, marked_maybe_;
  const bool plays_, impressions_;
};

void CheckImpressions(const Model& model, const std::string& user,
                      const ImpressionsReport& report) {
  if (!report.readable) return;
  const auto expected = model.ServedTimes(report.collection, user);
  if (!expected) return;
  const Policy& policy = model.PolicyOf(report.collection);
  const int64_t oldest_ms = FirstMsOf(policy, model.OldestRead(report.collection));
  const ItemHash hash({.version = 2, .key = HashKeyOf(*test::FixedOptions().item_hash_key)});
  std::vector<int64_t> times;
  for (const ImpressionReport& entry : report.entries) {
    if (!entry.item.empty() && hash.Of(IdRef(entry.item)) != entry.fingerprint) {
      throw Violation("inspect " + user + ": " + entry.item + " is not the item that was served");
    }
    if (entry.at_ms >= oldest_ms) times.push_back(entry.at_ms);
  }
  if (times != *expected) {
    throw Violation("inspect " + user + ": " + std::to_string(times.size()) + " impressions in " +
                    report.collection + ", expected " + std::to_string(expected->size()) +
                    ", or other times");
  }
}

}  // namespace

void CheckAnswer(const Model& model, const Question& question, const FilterResponse& answer,
                 Engine* engine, bool excused, Tally* tally) {
  ++tally->answers;
  tally->candidates += answer.examined;
  Examination(model, question, answer, engine, excused, tally).Run();
}

bool BeyondCeiling(const Model& model, const std::string& collection, const std::string& user,
                   int64_t bucket, Engine* engine) {
  const uint64_t items = model.ItemsIn(collection, user, bucket);
  // Nowhere near it: at most 64 bytes of a layer go for 3 items, if the budget is a tiny one.
  if (items * 24 < model.LowestCeiling(collection) / 2) return false;
  const Result<UserReport> report = engine->Inspect(IdRef(user), collection);
  if (!report.ok()) return false;
  const std::string name = NameOf(model.PolicyOf(collection), bucket);
  return std::any_of(report->buckets.begin(), report->buckets.end(),
                     [&](const auto& row) { return row.bucket == name && row.dropped_layers > 0; });
}

void CheckServedAt(const Model& model, const Question& question, const FilterResponse& answer) {
  if (!answer.recorded || answer.degraded) return;
  int64_t least_ms = model.now_ms;
  const auto times = model.ServedTimes(question.collection, question.user);
  if (times && !times->empty()) least_ms = std::max(least_ms, times->front());
  for (const auto& gone_ms :
       {model.ErasedAt(question.user), model.ForgottenAt(question.collection, question.user)}) {
    if (gone_ms) least_ms = std::max(least_ms, *gone_ms + 1);
  }
  if (answer.recorded_at_ms >= least_ms) return;
  throw Violation("recorded at " + std::to_string(answer.recorded_at_ms) + ", which counts from " +
                  std::to_string(least_ms));
}

bool IsRefused(const RecordResult& recorded, size_t index) {
  return std::any_of(recorded.refusals.begin(), recorded.refusals.end(),
                     [&](const Refusal& refusal) { return refusal.index == index; });
}

void CheckReport(const Model& model, const UserReport& report) {
  const bool gone = !report.erased_at_ms && model.MayBeWithoutErasure(report.user);
  if (!gone && report.erased_at_ms != model.ErasedAt(report.user)) {
    throw Violation("inspect " + report.user + ": erased at another time or not");
  }
  const std::map<std::string, int64_t> forgotten(report.forgotten_at_ms.begin(),
                                                 report.forgotten_at_ms.end());
  for (const auto& [collection, policy] : model.policies()) {
    const auto at = forgotten.find(collection);
    const auto known = at == forgotten.end() ? std::nullopt : std::optional(at->second);
    if (known != model.ForgottenAt(collection, report.user)) {
      throw Violation("inspect " + report.user + ": " + collection +
                      " forgotten at another time or not");
    }
  }
  for (const ImpressionsReport& row : report.impressions) {
    CheckImpressions(model, report.user, row);
  }
  for (const BucketReport& row : report.buckets) {
    if (!row.readable || row.dropped_layers > 0) continue;
    const Policy& policy = model.PolicyOf(row.collection);
    if (row.bytes * 2 > model.LowestCeiling(row.collection)) continue;  // items may be there twice
    const int64_t current = BucketAt(policy, model.now_ms);
    for (int64_t bucket = current + 12; bucket > current - 12; --bucket) {
      if (NameOf(policy, bucket) != row.bucket) continue;
      const uint64_t items = model.ItemsIn(row.collection, report.user, bucket);
      if (row.items > items) {
        throw Violation("inspect " + report.user + ": " + std::to_string(row.items) + " items in " +
                        row.collection + "/" + row.bucket + ", played " + std::to_string(items));
      }
      break;
    }
  }
}

}  // namespace seendb::simulation
