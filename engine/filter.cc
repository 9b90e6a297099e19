// Filter requests: what is asked is checked, the user's shard answers, and what is served is
// recorded where that is asked for.

#include <algorithm>
#include <chrono>

#include "base/pause_point.h"
#include "engine_impl.h"

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
  const Status user = CheckUser(request.user);
  if (!user.ok()) return user;
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

SteadyTime DeadlineOf(const FilterRequest& request) {
  if (request.deadline_us <= 0) return SteadyTime::max();
  return std::chrono::steady_clock::now() + std::chrono::microseconds(request.deadline_us);
}

}  // namespace

Status EngineImpl::Filter(const FilterRequest& request, FilterResponse* response) {
  response->unseen.clear();
  response->missing.clear();
  response->reasons.clear();
  response->seen = response->excluded = response->duplicates = 0;
  response->examined = response->refuted = 0;
  response->beyond_cap = 0;
  response->recorded_at_ms = 0;
  response->degraded = response->recorded = response->needs_disk = false;
  const Status open = CheckOpen();
  if (!open.ok()) return open;
  const Status checked = CheckRequest(request, options_);
  if (!checked.ok()) return checked;
  const Result<CollectionPtr> collection = catalog_.Find(request.collection);
  if (!collection.ok()) return collection.status();
  const auto defer = [&] {
    counters_->filters_deferred.fetch_add(1, std::memory_order_relaxed);
    response->needs_disk = true;
    return Status(StatusCode::kIncomplete, "memory alone can't tell");
  };
  if (request.memory_only && request.verify) return defer();
  const SteadyTime deadline = DeadlineOf(request);
  const std::string user = request.user.ToString();
  const Result<std::shared_ptr<Shard>> found = shards_.Of(request.user);
  if (!found.ok()) return found.status();
  Shard& shard = **found;
  FilterTurn turn = request.turn == nullptr ? nullptr : *request.turn;
  if (request.record && turn == nullptr) {
    const Status taken = shard.TakeTurn(user, deadline, request.on_turn, &turn);
    if (!taken.ok() && taken.code() != StatusCode::kUnavailable) return taken;
  }
  const bool too_late = request.record && turn == nullptr;
  SEENDB_PAUSE_POINT("filter: turn taken");
  if (!shard.Filter({request, **collection, user, deadline, too_late}, response)) return defer();

  counters_->filters.fetch_add(1, std::memory_order_relaxed);
  counters_->candidates.fetch_add(response->examined, std::memory_order_relaxed);
  counters_->candidates_seen.fetch_add(response->seen, std::memory_order_relaxed);
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
  return RecordReturned(request, response);
}

// The impressions' time is not before what the shard says: where the clock went back they would be
// the oldest of the user's, or not after the user's erasure, and forgotten at once. A failing disk
// or a full ring does not take the finished answer away. An id that can't be recorded is the
// caller's error.
Status EngineImpl::RecordReturned(const FilterRequest& request, FilterResponse* response) const {
  const int64_t at_ms = std::max(response->recorded_at_ms, clock_->NowMs());
  response->recorded_at_ms = at_ms;
  std::vector<Impression> served(response->unseen.size());
  for (size_t i = 0; i < served.size(); ++i) {
    served[i] = {request.user, request.items[response->unseen[i]], at_ms};
  }
  const Status writable = CheckWritable();
  const Result<RecordResult> recorded =
      writable.ok() ? recorder_.RecordServed(served, {.collection = request.collection}, at_ms)
                    : writable;
  response->recorded = recorded.ok();
  if (recorded.ok()) {
    response->beyond_cap = recorded->beyond_cap;
    return {};
  }
  if (recorded.status().code() == StatusCode::kInvalidArgument) return recorded.status();
  counters_->record_failures.fetch_add(1, std::memory_order_relaxed);
  return {};
}

}  // namespace seendb
