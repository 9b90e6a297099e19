// Counts and reservations: what is asked is checked, and the user's shard answers it.

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/counted_kinds.h"
#include "base/facts.h"
#include "base/return_if_failed.h"
#include "engine_impl.h"
#include "policy_caps.h"
#include "query/capped.h"
#include "shard/verdict.h"

namespace seendb {
namespace {

Status CheckItems(const ReserveRequest& request, const Options& options) {
  if (request.items.size() > options.max_candidates) {
    return Status::InvalidArgument("at most " + std::to_string(options.max_candidates) + " ids",
                                   "/items");
  }
  if (!request.groups.empty() && request.groups.size() < request.items.size()) {
    return Status::InvalidArgument("fewer than items", "/groups");
  }
  for (size_t i = 0; i < request.items.size(); ++i) {
    Status good = request.items[i].Validate();
    if (good.ok() && !request.groups.empty()) {
      good = CheckGroups(request.groups[i].of, request.groups[i].same_as);
    }
    if (!good.ok()) return good.WithFieldPrefix("/items/" + std::to_string(i));
  }
  return {};
}

Status CheckReserve(const ReserveRequest& request, const Options& options) {
  Status valid = CheckUser(request.user);
  if (valid.ok()) valid = CheckItems(request, options);
  if (valid.ok() && (request.expires_ms < 1 || request.expires_ms > kCountedForMs)) {
    valid = Status::InvalidArgument("must be from 1 ms to 30 days", "/expires");
  }
  return valid;
}

// A reservation is forgotten when events of its kind are: it must not last longer.
Status CheckExpires(const ReserveRequest& request, const Policy& policy) {
  int64_t most_ms = kCountedForMs;
  for (const CandidateGroups& groups : request.groups) {
    for (const std::string_view group : groups.of) {
      most_ms = std::min(most_ms, CountedFor(group, policy.counts));
    }
  }
  if (const int64_t items_ms = ItemsCountedFor(policy.counts); items_ms > 0) {
    most_ms = std::min(most_ms, items_ms);
  }
  if (request.expires_ms <= most_ms) return {};
  return Status::InvalidArgument("must not be above " + std::to_string(most_ms) +
                                     " ms, for which the policy counts by what the items have",
                                 "/expires");
}

}  // namespace

Status EngineImpl::Reserve(const ReserveRequest& request, Reserved* reserved) {
  *reserved = {};
  RETURN_IF_FAILED(CheckWritable());
  RETURN_IF_FAILED(CheckReserve(request, options_));
  const Result<CollectionPtr> collection = catalog_.Find(request.collection);
  if (!collection.ok()) return collection.status();
  const Policy& policy = (*collection)->policy;
  std::vector<Cap> caps;
  ReserveRequest capped = request;
  if (!request.decided) {
    RETURN_IF_FAILED(CheckCaps(request.caps, policy));
    RETURN_IF_FAILED(CheckExpires(request, policy));
    caps = AllCaps(request.caps, policy);
  }
  capped.caps = caps;
  const Result<int64_t> at_ms = TimeCheck(policy, clock_->NowMs()).Check(request.at_ms);
  if (!at_ms.ok()) return at_ms.status();
  const Result<std::shared_ptr<Shard>> found = shards_.Of(request.user);
  if (!found.ok()) return found.status();
  Shard& shard = **found;
  const GivenEvents counted{.fact = Fact::kServed, .groups = {.of = true}};
  RETURN_IF_FAILED(shard.Prepare(request.collection, counted));
  const std::string user = request.user.ToString();
  FilterTurn turn = request.turn == nullptr ? nullptr : *request.turn;
  if (turn == nullptr) {
    const Status taken =
        shard.TakeTurn(user, std::chrono::steady_clock::time_point::max(), request.on_turn, &turn);
    if (!taken.ok()) return taken;
  }
  return shard.Reserve(**collection, user, capped, *at_ms, reserved);
}

Status EngineImpl::ReadCounts(const CountsRequest& request, CountsPage* page) {
  *page = {};
  Status valid = CheckOpen();
  if (valid.ok()) valid = CheckUser(request.user);
  if (valid.ok() && !request.kind.empty()) {
    valid = CheckGroup(request.kind).WithFieldPrefix("/kind");
  }
  if (valid.ok() && (request.limit < 1 || request.limit > kMaxCountedGroups)) {
    valid =
        Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxCountedGroups), "/limit");
  }
  if (!valid.ok()) return valid;
  const Result<CollectionPtr> collection = catalog_.Find(request.collection);
  if (!collection.ok()) return collection.status();
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(request.user);
  if (!shard.ok()) return shard.status();
  return (*shard)->ReadCounts(**collection, request, page);
}

}  // namespace seendb
