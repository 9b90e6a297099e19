// History, and erasures: what is asked is checked, and the user's shard reads or changes it.

#include <algorithm>
#include <map>

#include "base/facts.h"
#include "base/return_if_failed.h"
#include "call_time.h"
#include "engine_impl.h"

namespace seendb {
namespace {

Status NoHistory(std::string_view name, std::string field) {
  return Status::NotFound("collection \"" + std::string(name) + "\" keeps no history",
                          std::move(field));
}

/// kInvalidArgument for too many items, or the first ill-formed one ("/items/3").
Status CheckHistoryItems(std::span<const IdRef> items) {
  if (items.size() > kMaxHistoryItems) {
    return Status::InvalidArgument("at most " + std::to_string(kMaxHistoryItems) + " items",
                                   "/items");
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Status valid = items[i].Validate();
    if (!valid.ok()) {
      return Status(valid.code(), std::string(valid.message()), "/items/" + std::to_string(i));
    }
  }
  return {};
}

Result<CollectionPtr> FindHistory(const Catalog& catalog, std::string_view name) {
  Result<CollectionPtr> found = catalog.Find(name);
  if (found.ok() && !(*found)->policy.history.enabled) return NoHistory(name, "/collection");
  return found;
}

/// The same for a call about items of a user, which are checked first.
Result<CollectionPtr> FindHistoryOf(const Catalog& catalog, IdRef user,
                                    std::span<const IdRef> items, std::string_view name) {
  RETURN_IF_FAILED(CheckUser(user));
  RETURN_IF_FAILED(CheckHistoryItems(items));
  return FindHistory(catalog, name);
}

/// What becomes of collections that keep no history: refused where they are named, and not among
/// all; among all; taken.
enum class Without : uint8_t { kRefused, kAmongAll, kTaken };

// Those named, each once, by name; or, where none is, all.
Result<std::vector<CollectionPtr>> HistoryCollections(const Catalog& catalog,
                                                      std::span<const std::string_view> names,
                                                      Without without) {
  CollectionMap wanted;
  for (size_t i = 0; i < names.size(); ++i) {
    Result<CollectionPtr> found =
        without == Without::kTaken ? catalog.Find(names[i]) : FindHistory(catalog, names[i]);
    if (!found.ok()) {
      return Status(found.status().code(), std::string(found.status().message()),
                    "/collections/" + std::to_string(i));
    }
    wanted.emplace(std::string(names[i]), std::move(found).value());
  }
  if (names.empty()) {
    const std::shared_ptr<const CollectionMap> all = catalog.All();
    for (const auto& [name, collection] : *all) {
      const bool keeps = collection->policy.history.enabled;
      if (keeps || without != Without::kRefused) wanted.emplace(name, collection);
    }
  }
  std::vector<CollectionPtr> list;
  list.reserve(wanted.size());
  for (auto& [name, collection] : wanted) list.push_back(std::move(collection));
  return list;
}

// The beginning of the longest retention, before which no play is accepted any more; and as much
// earlier as plays may be later than they come, so that what is kept of a pause tells of each
// bucket whether it lacks plays that came meanwhile.
// A clock in doubt makes nothing be forgotten.
int64_t OldestAccepted(const Catalog& catalog, Present now) {
  if (now.in_doubt) return kNeverMs;
  int64_t oldest_ms = now.ms;
  const std::shared_ptr<const CollectionMap> all = catalog.All();
  for (const auto& [name, collection] : *all) {
    const Policy& policy = collection->policy;
    const int64_t oldest = OldestBucket(policy, now.ms);
    oldest_ms = std::min(oldest_ms, BucketBeginMs(policy, oldest) - policy.max_future_ms);
  }
  return oldest_ms;
}

}  // namespace

Status EngineImpl::ReadHistory(const HistoryRequest& request, HistoryPage* page) {
  *page = {};
  RETURN_IF_FAILED(CheckOpen());
  RETURN_IF_FAILED(CheckUser(request.user));
  if (request.limit < 1 || request.limit > kMaxHistoryLimit) {
    return Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxHistoryLimit),
                                   "/limit");
  }
  HistoryCursor cursor;
  const bool continued = !request.cursor.empty();
  if (continued && !cursor.FromText(request.cursor)) {
    return Status::InvalidArgument("is no cursor of a page of history", "/cursor");
  }
  const Result<std::vector<CollectionPtr>> wanted = HistoryCollections(
      catalog_, request.collections, request.switched_off ? Without::kAmongAll : Without::kRefused);
  if (!wanted.ok()) return wanted.status();
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(request.user);
  if (!shard.ok()) return shard.status();
  return (*shard)->ReadHistory(request, *wanted, continued ? &cursor : nullptr, page);
}

Status EngineImpl::LookupHistory(IdRef user, std::string_view collection,
                                 std::span<const IdRef> items, HistoryLookup* found) {
  *found = {};
  RETURN_IF_FAILED(CheckOpen());
  const Result<CollectionPtr> of = FindHistoryOf(catalog_, user, items, collection);
  if (!of.ok()) return of.status();
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(user);
  if (!shard.ok()) return shard.status();
  return (*shard)->LookupHistory(**of, user.ToString(), items, found);
}

Status EngineImpl::DeleteHistory(IdRef user, std::string_view collection,
                                 std::span<const IdRef> items, CallTime at_ms,
                                 EventGroups same_as) {
  RETURN_IF_FAILED(CheckWritable());
  RETURN_IF_FAILED(CheckTime(at_ms, clock_->NowMs()));
  RETURN_IF_FAILED(CheckGroups({}, same_as));
  const Result<CollectionPtr> of = FindHistoryOf(catalog_, user, items, collection);
  if (!of.ok()) return of.status();
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(user);
  if (!shard.ok()) return shard.status();
  return (*shard)->DeleteItems(**of, user.ToString(), {items, same_as}, at_ms.ms,
                               OldestAccepted(catalog_, clock_->Look()));
}

Status EngineImpl::ClearHistory(IdRef user, const HistoryClear& clear) {
  RETURN_IF_FAILED(CheckWritable());
  RETURN_IF_FAILED(CheckUser(user));
  RETURN_IF_FAILED(CheckTime(clear.at_ms, clock_->NowMs()));
  const Result<std::vector<CollectionPtr>> wanted = HistoryCollections(
      catalog_, clear.collections, clear.filter ? Without::kTaken : Without::kAmongAll);
  if (!wanted.ok()) return wanted.status();
  if (wanted->empty()) return {};
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(user);
  if (!shard.ok()) return shard.status();
  return (*shard)->Clear(user.ToString(), *wanted, clear.filter, clear.at_ms.ms);
}

Status EngineImpl::SetRecording(IdRef user, bool paused, CallTime at_ms) {
  RETURN_IF_FAILED(CheckWritable());
  RETURN_IF_FAILED(CheckUser(user));
  RETURN_IF_FAILED(CheckTime(at_ms, clock_->NowMs()));
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(user);
  if (!shard.ok()) return shard.status();
  return (*shard)->SetRecording(user.ToString(), paused, at_ms.ms, *catalog_.All(),
                                OldestAccepted(catalog_, clock_->Look()));
}

Result<Recording> EngineImpl::GetRecording(IdRef user) {
  RETURN_IF_FAILED(CheckOpen());
  RETURN_IF_FAILED(CheckUser(user));
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(user);
  if (!shard.ok()) return shard.status();
  return (*shard)->GetRecording(user.ToString());
}

Status EngineImpl::EraseUser(IdRef user, const EraseOptions& options, Erasure* erasure) {
  RETURN_IF_FAILED(CheckWritable());
  RETURN_IF_FAILED(CheckUser(user));
  RETURN_IF_FAILED(CheckTime(options.at_ms, clock_->NowMs()));
  const Result<std::shared_ptr<Shard>> shard = shards_.Of(user);
  if (!shard.ok()) return shard.status();
  return (*shard)->Erase(user.ToString(), *catalog_.All(), options, erasure);
}

}  // namespace seendb
