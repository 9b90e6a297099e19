// A lost part of the log may have had the deletes of an erasure, or of a clear of filters, whose
// record the family `users` still has: they are repeated.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <rocksdb/utilities/debug.h>

#include "format/counts_codec.h"
#include "format/day_key.h"
#include "format/filter_codec.h"
#include "format/history_codec.h"
#include "format/impressions_codec.h"
#include "format/marks_codec.h"
#include "format/user_codec.h"
#include "store/own_set_rows.h"
#include "store/shard_store.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kMostVersions = 10'000;  // of one user's filter of a bucket

// RocksDB's kinds of a version of a key, as its format has them.
enum VersionType : int { kDeletion = 0, kValue = 1, kMerge = 2, kSingleDeletion = 7 };

/// Adds to a batch what has to go of one user.
class Repeater {
 public:
  Repeater(const ShardStore& store, const FamilySet& families, rocksdb::WriteBatch* batch)
      : store_(store), families_(families), batch_(batch) {}

  rocksdb::Status Repeat(const std::string& user, const UserRecord& record) {
    rocksdb::Status status;
    for (const auto& [name, collection] : families_.collections) {
      const Forgotten gone = record.ForgottenIn(name);
      if (gone.seq == 0) continue;
      if (collection.impressions) status = ForgetListed(user, gone, *collection.impressions);
      if (status.ok() && collection.exposures) {
        status = ForgetListed(user, gone, *collection.exposures);
      }
      if (status.ok() && collection.counts) {
        status = ForgetCounted(user, gone.at_ms, *collection.counts);
      }
      for (const auto& [index, bucket] : collection.buckets) {
        if (status.ok()) status = ForgetSeen(user, gone, collection, *bucket);
      }
      if (!status.ok()) return status;
    }
    if (record.erased_seq == 0) return status;
    status = ForgetDays(user, record.erased_at_ms);
    if (status.ok() && families_.own) status = ForgetOwn(user, record.erased_at_ms);
    if (status.ok() && families_.own) {
      status =
          DeleteOwnSetsUpTo(record.erased_at_ms, user, store_.db(), families_.own->get(), batch_);
    }
    return status.ok() ? ForgetHistory(user, record.erased_at_ms) : status;
  }

 private:
  // Impressions and exposures have stamps, by which those that came later are told.
  rocksdb::Status ForgetListed(const std::string& user, const Forgotten& gone,
                               const Family& family) {
    std::string value;
    ImpressionList list;
    const rocksdb::Status got = store_.db()->Get({}, family.get(), user, &value);
    if (!got.ok() || !list.Parse(value)) return {};  // answers say so
    if (list.ForgetUpTo(gone.seq) == 0) return {};
    return Replace(family, user, list);
  }
  // Counted events have times.
  rocksdb::Status ForgetCounted(const std::string& user, int64_t at_ms, const Family& family) {
    std::string value;
    CountList list;
    const rocksdb::Status got = store_.db()->Get({}, family.get(), user, &value);
    if (!got.ok() || !list.Parse(value)) return {};  // answers say so
    const size_t before = list.entries.size();
    list.DropBefore(at_ms + 1);
    return list.entries.size() == before ? rocksdb::Status() : Replace(family, user, list);
  }
  // Marks have times, by which those that came later are told.
  rocksdb::Status ForgetOwn(const std::string& user, int64_t at_ms) {
    rocksdb::ColumnFamilyHandle* const family = families_.own->get();
    std::string value;
    MarkList list;
    const rocksdb::Status got = store_.db()->Get({}, family, user, &value);
    if (!got.ok() || !list.Parse(value)) return {};  // answers say so
    const size_t before = list.marks.size() + list.deletions.size();
    list.ForgetUpTo(at_ms);
    if (list.marks.size() + list.deletions.size() == before) return {};
    const rocksdb::Status status = batch_->Delete(family, user);
    if (!status.ok() || list.empty()) return status;
    std::string later;
    list.Encode(&later);
    return batch_->Merge(family, user, later);
  }
  template <typename List>
  rocksdb::Status Replace(const Family& family, const std::string& user, const List& list) {
    std::string value;
    rocksdb::Status status = batch_->Delete(family.get(), user);
    if (!status.ok() || list.entries.empty()) return status;
    list.Encode(&value);
    return batch_->Merge(family.get(), user, value);
  }

  // A bucket that had ended by then has nothing of the user that may stay; one that begins later
  // has nothing that must go. In one between, a filter has no times: but each delta has the time
  // when its slot was closed, and an erasure takes the user out of the slots.
  rocksdb::Status ForgetSeen(const std::string& user, const Forgotten& gone,
                             const CollectionFamilies& collection, const Bucket& bucket) {
    rocksdb::ColumnFamilyHandle* const family = bucket.family->get();
    if (bucket.begin_ms > gone.at_ms + collection.policy.max_future_ms) return {};
    if (bucket.end_ms <= gone.at_ms) {
      std::string value;
      const bool there = !store_.db()->Get({}, family, user, &value).IsNotFound();
      return there ? batch_->Delete(family, user) : rocksdb::Status();
    }
    std::vector<rocksdb::KeyVersion> versions;
    const rocksdb::Status listed =
        rocksdb::GetAllKeyVersions(store_.db(), family, user, user, kMostVersions, &versions);
    if (!listed.ok() || versions.size() == kMostVersions) return {};  // nothing is told apart
    std::vector<std::string> stay;
    bool stale = false;
    for (rocksdb::KeyVersion& version : versions) {  // newest first
      if (version.type != kMerge && version.type != kValue) break;
      FilterView filter;
      const bool goes =
          filter.Parse(version.value) && filter.as_of_ms != 0 && filter.as_of_ms <= gone.at_ms;
      stale = stale || goes;
      if (!goes) stay.push_back(std::move(version.value));
      if (version.type == kValue) break;
    }
    if (!stale) return {};
    rocksdb::Status status = batch_->Delete(family, user);
    for (auto value = stay.rbegin(); value != stay.rend(); ++value) {
      if (status.ok()) status = batch_->Merge(family, user, *value);
    }
    return status;
  }

  // Days of before the erasure, and that of the erasure itself: a play may follow on it.
  rocksdb::Status ForgetDays(const std::string& user, int64_t at_ms) {
    rocksdb::Status status;
    for (const auto& [name, collection] : families_.collections) {
      const std::string key = DayKey(user, name);
      std::string value;
      UserRecord day;
      if (!status.ok() || !store_.db()->Get({}, store_.users(), key, &value).ok()) continue;
      if (day.Parse(value) && day.last_day > DayOf(collection.policy, at_ms)) continue;
      status = batch_->Delete(store_.users(), key);
    }
    return status;
  }

  // Rows of history have times, by which readers leave them out. They are deleted as after an
  // erasure that was interrupted.
  rocksdb::Status ForgetHistory(const std::string& user, int64_t at_ms) {
    for (const auto& [name, collection] : families_.collections) {
      for (const auto& [index, bucket] : collection.history) {
        if (bucket->begin_ms > at_ms || !HasRowUpTo(user, at_ms, *bucket)) continue;
        return batch_->Put(store_.meta(), ErasingKey(user), ErasingState(at_ms));
      }
    }
    return {};
  }
  // The timeline has the latest rows first.
  bool HasRowUpTo(const std::string& user, int64_t at_ms, const HistoryBucket& bucket) const {
    const std::string end = HistoryPrefixEnd(user);
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> it(
        store_.db()->NewIterator(options, bucket.timeline->get()));
    it->Seek(TimelineKey(user, at_ms, {}));
    return it->Valid();
  }

  const ShardStore& store_;
  const FamilySet& families_;
  rocksdb::WriteBatch* const batch_;
};

bool TellsOfErasures(const UserRecord& record) {
  return record.erased_seq != 0 ||
         std::any_of(record.marks.begin(), record.marks.end(),
                     [](const auto& marks) { return marks.second.forgotten.seq != 0; });
}

}  // namespace

// Memory: one user's record, and a filter's versions, at a time.
Status ShardStore::RepeatErasures(uint64_t* users) {
  *users = 0;
  const std::shared_ptr<const FamilySet> set = families();
  rocksdb::WriteBatch batch;
  Repeater repeater(*this, *set, &batch);
  const rocksdb::Slice end(&kDayKeys, 1);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(db()->NewIterator(options, this->users()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    UserRecord record;
    if (!record.Parse(it->value().ToStringView()) || !TellsOfErasures(record)) continue;
    const auto before = batch.Count();
    rocksdb::Status status = repeater.Repeat(it->key().ToString(), record);
    *users += batch.Count() > before ? 1 : 0;
    if (status.ok() && batch.GetDataSize() > kBatchBytes) {
      status = db()->Write({}, &batch);
      batch.Clear();
    }
    if (!status.ok()) return FromRocks(status, "repeat an erasure");
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the user records");
  return FromRocks(db()->Write(Synced(), &batch), "repeat the erasures");
}

}  // namespace seendb
