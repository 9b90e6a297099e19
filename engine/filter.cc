// Filter requests: what is asked is checked, the user's shard answers, and what is served is
// recorded where that is asked for.

#include <algorithm>
#include <chrono>

#include "base/counted_kinds.h"
#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "engine_impl.h"
#include "filter_union.h"
#include "policy_caps.h"
#include "query/capped.h"
#include "query/excluded.h"
#include "query/marked.h"
#include "query/question.h"
#include "query/repeats.h"
#include "query/same_as.h"
#include "seendb/judge.h"

namespace seendb {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

bool HasGoodLength(const IdRef& id) {
  const bool fits = id.text().size() - 1 < kMaxIdBytes;  // 1 to kMaxIdBytes
  return (int{id.is_number()} | int{fits}) != 0;         // without a branch
}

Status CheckLengths(std::span<const IdRef> ids, const char* list) {
  bool good = true;
  for (const IdRef& id : ids) good &= HasGoodLength(id);
  if (good) return {};
  const auto bad = std::find_if_not(ids.begin(), ids.end(), HasGoodLength);
  return Status::InvalidArgument(
      bad->text().empty() ? "an id must not be empty"
                          : "an id is at most " + std::to_string(kMaxIdBytes) + " bytes",
      std::string("/").append(list).append("/").append(std::to_string(bad - ids.begin())));
}

Status CheckRequest(const FilterRequest& request, const Options& options) {
  RETURN_IF_FAILED(CheckUser(request.user));
  const auto too_many = [&](std::string_view what) {
    return Status::InvalidArgument("at most " + std::to_string(options.max_candidates) + " ids",
                                   std::string(what));
  };
  if (request.items.size() > options.max_candidates) return too_many("/items");
  if (request.exclude.size() > options.max_candidates) return too_many("/exclude");
  if ((request.facts & kFactsAll) == 0 || (request.facts & ~kFactsAll) != 0) {
    return Status::InvalidArgument("facts must name plays, impressions or both", "/facts");
  }
  const Status items = CheckLengths(request.items, "items");
  return items.ok() ? CheckLengths(request.exclude, "exclude") : items;
}

Status CheckAsked(const FilterRequest& request, const Policy& policy, const Options& options) {
  if (request.question == nullptr) return {};
  RETURN_IF_FAILED(CheckQuestion(*request.question, policy));
  const auto& when_short = request.question->when_short;
  const Status repeats =
      when_short ? CheckWhenShort(*when_short, options.max_candidates) : Status();
  if (!repeats.ok()) return repeats;
  RETURN_IF_FAILED(CheckCandidateGroups(request));
  const Status caps = CheckCaps(request.question->caps, policy);
  return caps.ok() ? CheckExcludedSets(request) : caps;
}

// Whether history may be read for the answer.
bool MayReadHistory(const FilterRequest& request, const Policy& policy) {
  if (request.verify || request.question == nullptr) return request.verify;
  const std::span<const NotEntry> no = request.question->no;
  const bool spans = std::any_of(no.begin(), no.end(), [](const NotEntry& entry) {
    return entry.fact == Fact::kPlayed && entry.within_ms;
  });
  return policy.history.enabled && (spans || request.question->when_short);
}

// Whether what it returns is counted, by its groups or by itself.
bool CountsReturned(const FilterRequest& request, const Policy& policy) {
  if (request.record && ItemsCountedFor(policy.counts) > 0) return true;
  return request.record && request.count_groups && AsksForMarks(request);
}

// Whether returned candidates are recorded with their groups, of `of` or of `same_as`.
bool RecordsGroups(const FilterRequest& request) {
  return request.record && request.count_groups &&
         (AsksForMarks(request) || AsksForSameAs(request));
}

SteadyTime DeadlineOf(const FilterRequest& request) {
  if (request.deadline_us <= 0) return SteadyTime::max();
  return std::chrono::steady_clock::now() + std::chrono::microseconds(request.deadline_us);
}

// The impressions' time is not before what the shard says: where the clock went back they would be
// the oldest of the user's, or not after the user's erasure, and forgotten at once. A failing disk
// or a full ring does not take the finished answer away. An id that can't be recorded is the
// caller's error.
Status RecordReturned(const FilterRequest& request, const Status& writable,
                      const Recorder& recorder, int64_t now_ms, Counters* counters,
                      FilterResponse* response) {
  const int64_t at_ms = std::max(response->recorded_at_ms, now_ms);
  response->recorded_at_ms = at_ms;
  std::vector<Impression> served;
  served.reserve(response->unseen.size() + response->repeats.size());
  const bool grouped = RecordsGroups(request);
  for (const std::vector<uint32_t>* returned : {&response->unseen, &response->repeats}) {
    for (const uint32_t position : *returned) {
      served.push_back({request.user, request.items[position], at_ms});
      if (!grouped) continue;
      served.back().of = request.question->groups[position].of;
      served.back().same_as = request.question->groups[position].same_as;
    }
  }
  const Result<RecordResult> recorded =
      writable.ok() ? recorder.RecordServed(served, {.collection = request.collection}, at_ms)
                    : writable;
  response->recorded = recorded.ok();
  if (recorded.ok()) {
    response->beyond_cap = recorded->beyond_cap;
    return {};
  }
  if (recorded.status().code() == StatusCode::kInvalidArgument) return recorded.status();
  counters->record_failures.fetch_add(1, std::memory_order_relaxed);
  return {};
}

}  // namespace

Status EngineImpl::Filter(const FilterRequest& request, FilterResponse* response) {
  response->unseen.clear();
  response->repeats.clear();
  response->missing.clear();
  response->reasons.clear();
  response->seen = response->excluded = response->duplicates = 0;
  response->examined = response->refuted = response->undated = 0;
  response->beyond_cap = 0;
  response->recorded_at_ms = 0;
  response->degraded = response->recorded = response->needs_disk = false;
  response->coarse = response->beyond = 0;
  RETURN_IF_FAILED(CheckOpen());
  RETURN_IF_FAILED(CheckRequest(request, options_));
  const Result<CollectionPtr> collection = catalog_.Find(request.collection);
  if (!collection.ok()) return collection.status();
  FilterUnion united;
  Status asked = united.Find(request, catalog_);
  if (asked.ok()) asked = CheckAsked(united.own(), (*collection)->policy, options_);
  CappedRequest capped;
  const FilterRequest& own = capped.Over(united.own(), (*collection)->policy);
  bool may_read_history = MayReadHistory(own, (*collection)->policy);
  for (const auto& [position, other] : united.others()) {
    if (asked.ok() && request.question != nullptr) {
      asked = CheckQuestion(*request.question, other->policy);
    }
    may_read_history = may_read_history || MayReadHistory(request, other->policy);
  }
  if (!asked.ok()) return asked;
  const auto defer = [&] {
    counters_->filters_deferred.fetch_add(1, std::memory_order_relaxed);
    response->needs_disk = true;
    return Status(StatusCode::kIncomplete, "memory alone can't tell");
  };
  if (request.memory_only && may_read_history) return defer();
  const SteadyTime deadline = DeadlineOf(request);
  const std::string user = request.user.ToString();
  const Result<std::shared_ptr<Shard>> found = shards_.Of(request.user);
  if (!found.ok()) return found.status();
  Shard& shard = **found;
  if (CountsReturned(request, (*collection)->policy)) {
    const GivenEvents counted{
        .fact = Fact::kServed, .groups = {.of = true}, .memory_only = request.memory_only};
    const Status prepared = shard.Prepare(request.collection, counted);
    if (prepared.code() == StatusCode::kIncomplete) return defer();
  }
  FilterTurn turn = request.turn == nullptr ? nullptr : *request.turn;
  if (request.record && turn == nullptr) {
    const Status taken = shard.TakeTurn(user, deadline, request.on_turn, &turn);
    if (!taken.ok() && taken.code() != StatusCode::kUnavailable) return taken;
  }
  const bool too_late = request.record && turn == nullptr;
  SEENDB_PAUSE_POINT("filter: turn taken");
  FilterRequest with_sets;
  Question question_with_sets;
  NamedSets named;
  if (const std::span<const ExcludedSet> sets = ExcludedSetsOf(own); !sets.empty()) {
    named.sets.assign(sets.begin(), sets.end());
    if (too_late || own.short_term_alone) {  // no time to read
      LoseOwnSets(&named);
    } else if (!shard.FindOwnSets(user, request.memory_only, &named)) {
      return defer();
    }
    RETURN_IF_FAILED(CheckSetsFound(named.sets));
    question_with_sets = *own.question;
    question_with_sets.exclude_sets = named.sets;
    with_sets = own;
    with_sets.question = &question_with_sets;
  }
  const FilterRequest& asked_of = named.sets.empty() ? own : with_sets;
  const FilterRead read{asked_of, **collection, user, deadline, too_late, united.seen()};
  if (!united.AskOthers(read, &shard, response) || !shard.Filter(read, response)) {
    response->missing.clear();
    response->degraded = false;
    return defer();
  }
  united.Tell(response);
  if (request.judge != nullptr) {
    RETURN_IF_FAILED(request.judge->status());
  }

  counters_->filters.fetch_add(1, std::memory_order_relaxed);
  counters_->candidates.fetch_add(response->examined, std::memory_order_relaxed);
  counters_->candidates_seen.fetch_add(response->seen, std::memory_order_relaxed);
  counters_->candidates_repeated.fetch_add(response->repeats.size(), std::memory_order_relaxed);
  if (response->degraded) {
    counters_->filters_degraded.fetch_add(1, std::memory_order_relaxed);
    if (request.on_error == OnError::kFail) {
      std::string what;
      for (const std::string& label : response->missing) what += " " + label;
      return Status::Unavailable("could not be read:" + what);
    }
  }
  SEENDB_PAUSE_POINT("filter: answered");
  if (!request.record || too_late) return {};
  return RecordReturned(request, CheckWritable(), recorder_, clock_->NowMs(), counters_.get(),
                        response);
}

}  // namespace seendb
