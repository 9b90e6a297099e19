#include "shard/reserve.h"

#include <deque>
#include <memory>
#include <unordered_set>

#include "base/counted_kinds.h"
#include "base/return_if_failed.h"
#include "format/counts_codec.h"
#include "query/capped.h"
#include "query/counted.h"
#include "query/probe.h"
#include "shard/verdict.h"
#include "store/status.h"

namespace seendb {
namespace {

// Verdicts on items: of one that is refused, of one that was promised before.
constexpr uint32_t kRefused = 1, kPromised = 2;

// Candidates of a page, judged by the caps alone.
void JudgeByCaps(const ShardParts& shard, const Policy& policy, const ReserveRequest& request,
                 const CountList& counts, int64_t at_ms, int64_t now_ms, Candidates* page) {
  const size_t count = request.items.size();
  page->fingerprints.resize(count);
  page->verdicts.assign(count, 0);
  page->repeats.resize(count);
  page->distinct.Begin(count);
  shard.hash.OfMany(request.items, page->fingerprints.data());
  MarkRepeats(request.items, 0, count, page);
  std::unordered_set<Fingerprint> promised;
  for (const CountEntry& entry : counts.entries) {
    if (entry.fact == CountedFact::kReserved && entry.at_ms == at_ms) promised.insert(entry.item);
  }
  for (size_t i = 0; i < count; ++i) {
    if (promised.contains(page->fingerprints[i])) page->verdicts[i] = kPromised;
  }
  const Question question{.groups = request.groups, .caps = request.caps};
  const FilterRequest asked{.items = request.items, .question = &question};
  const Counted counted(counts, policy.counts);
  PageCaps(asked, counted, now_ms).Drop(kRefused, 0, count, page);
}

// The counts of the promises; empty: there are none.
std::string Promises(const ReserveRequest& request, const Candidates& page, int64_t at_ms,
                     Reserved* reserved) {
  CountList promised;
  std::deque<std::string> item_keys;
  for (uint32_t i = 0; i < request.items.size(); ++i) {
    if (page.repeats[i] != 0) continue;
    if (page.verdicts[i] == kRefused) {
      reserved->refused.push_back(i);
      continue;
    }
    reserved->reserved.push_back(i);
    const auto promise = [&](std::string_view key) {
      promised.entries.push_back({.key = key,
                                  .at_ms = at_ms,
                                  .fact = CountedFact::kReserved,
                                  .item = page.fingerprints[i],
                                  .for_ms = request.expires_ms});
    };
    if (reserved->counts_items) promise(item_keys.emplace_back(ItemKey(request.items[i])));
    if (request.groups.empty()) continue;
    for (const std::string_view group : request.groups[i].of) promise(group);
  }
  std::string value;
  if (promised.entries.empty()) return value;
  promised.Normalize();
  promised.Encode(&value);
  return value;
}

Status ReadAndWrite(ShardParts& shard, const Collection& collection, const std::string& user,
                    const ReserveRequest& request, int64_t at_ms, Reserved* reserved)
    REQUIRES_SHARED(shard.apply_lock) {
  shard.apply_lock.AssertHeldShared();
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const of = families->Find(collection.name);
  if (shard.stopped.contains(collection.name)) {
    return Status::Busy("the collection is being changed");
  }
  if (of == nullptr || of->making != collection.making || of->counts == nullptr) {
    return Status::Unavailable("the collection is being made");
  }
  rocksdb::DB* const db = shard.store->db();
  rocksdb::PinnableSlice value;
  CountList counts;
  const rocksdb::Status got = db->Get({}, of->counts->get(), user, &value);
  if (!got.ok() && !got.IsNotFound()) return FromRocks(got, "read counts");
  if (got.ok() && !counts.Parse(value.ToStringView())) {
    return Status::Corruption("the user's counts can't be read");
  }
  Candidates page;
  JudgeByCaps(shard, collection.policy, request, counts, at_ms, shard.clock->NowMs(), &page);
  reserved->counts_items = ItemsCountedFor(collection.policy.counts) > 0;
  const std::string promises = Promises(request, page, at_ms, reserved);
  if (promises.empty()) return {};
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Merge(of->counts->get(), user, promises);
  const bool sync = collection.policy.durability == Durability::kSync;
  if (status.ok()) status = db->Write(sync ? Synced() : NotSynced(), &batch);
  return FromRocks(status, "reserve");
}

}  // namespace

Status Reserve(ShardParts& shard, const Collection& collection, const std::string& user,
               const ReserveRequest& request, int64_t at_ms, Reserved* reserved) {
  shard.use.AssertHeldShared();
  RETURN_IF_FAILED(shard.store->CheckWritable());
  return WithRecordsOf<SharedLock::Shared>(
      OneUser(user), shard.users, shard.apply_lock, [&](const LoadedRecords& known) -> Status {
        shard.apply_lock.AssertHeldShared();
        const UserRecord* const record = known.Find(user);
        const Verdict verdict = Judge(record, at_ms, collection.name, collection.policy, false);
        if (verdict == Verdict::kRefused) return RefusalOf(*record, collection.name, at_ms);
        return ReadAndWrite(shard, collection, user, request, at_ms, reserved);
      });
}

}  // namespace seendb
