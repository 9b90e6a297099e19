#include "shard/reserve.h"

#include <memory>
#include <unordered_set>

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
void JudgeByCaps(const ShardParts& shard, const ReserveRequest& request, const CountList& counts,
                 int64_t at_ms, int64_t now_ms, Candidates* page) {
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
  const Counted counted(counts);
  PageCaps(asked, counted, now_ms).Drop(kRefused, 0, count, page);
}

// The counts of the promises; empty: there are none.
std::string Promises(const ReserveRequest& request, const Candidates& page, int64_t at_ms,
                     Reserved* reserved) {
  CountList promised;
  for (uint32_t i = 0; i < request.items.size(); ++i) {
    if (page.repeats[i] != 0) continue;
    if (page.verdicts[i] == kRefused) {
      reserved->refused.push_back(i);
      continue;
    }
    reserved->reserved.push_back(i);
    if (request.groups.empty()) continue;
    for (const std::string_view group : request.groups[i].of) {
      promised.entries.push_back({.key = group,
                                  .at_ms = at_ms,
                                  .fact = CountedFact::kReserved,
                                  .item = page.fingerprints[i],
                                  .for_ms = request.expires_ms});
    }
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
  JudgeByCaps(shard, request, counts, at_ms, shard.clock->NowMs(), &page);
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
  const Status writable = shard.store->CheckWritable();
  if (!writable.ok()) return writable;
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
