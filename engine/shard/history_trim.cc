#include "shard/history_trim.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/return_if_failed.h"
#include "shard/history_clear.h"
#include "shard/history_reader.h"
#include "store/status.h"

namespace seendb {
namespace {

// Entries looked up at a time.
constexpr size_t kAhead = 256;

// One bucket's timeline, read user by user.
class UserRows {
 public:
  UserRows(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    it_.reset(db->NewIterator(options, family));
    it_->SeekToFirst();
    SkipDamaged();
  }
  bool Valid() const { return it_->Valid(); }
  Status status() const { return FromRocks(it_->status(), "read a timeline"); }
  const std::string& user() const { return user_; }
  /// Goes on to the next user; how many rows this one has.
  uint64_t TakeUser() {
    const std::string user = user_;
    uint64_t rows = 0;
    for (; it_->Valid() && user_ == user; SkipDamaged()) {
      ++rows;
      it_->Next();
    }
    return rows;
  }

 private:
  // Sets user_ to that of the row it stands at.
  void SkipDamaged() {
    std::string_view user, item;
    int64_t at_ms = 0;
    while (it_->Valid() && !ParseTimelineKey(it_->key().ToStringView(), &user, &at_ms, &item)) {
      it_->Next();
    }
    if (it_->Valid()) user_ = user;
  }

  std::unique_ptr<rocksdb::Iterator> it_;
  std::string user_;
};

// How many rows a user has in these buckets, counted no further than beyond `most`.
class RowCounter {
 public:
  RowCounter(const ShardStore& store, const CollectionFamilies& family) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    for (const auto& [index, bucket] : family.history) {
      buckets_.emplace_back(store.db()->NewIterator(options, bucket->timeline->get()));
    }
  }
  Result<uint64_t> Count(const std::string& user, uint64_t most) {
    const std::string prefix = HistoryPrefix(user);
    uint64_t rows = 0;
    for (const std::unique_ptr<rocksdb::Iterator>& it : buckets_) {
      for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
        if (++rows > most) return rows;
      }
      if (!it->status().ok()) return FromRocks(it->status(), "read a timeline");
    }
    return rows;
  }

 private:
  std::vector<std::unique_ptr<rocksdb::Iterator>> buckets_;
};

// Keys order users by size first, as their size is written in front.
bool ComesBefore(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// Of `users` those with more rows than `most` in these buckets.
Result<std::vector<std::string>> CrowdedAmong(std::vector<std::string> users,
                                              const ShardStore& store,
                                              const CollectionFamilies& family, uint64_t most) {
  std::sort(users.begin(), users.end(), ComesBefore);
  RowCounter rows(store, family);
  std::vector<std::string> crowded;
  for (std::string& user : users) {
    if (store.database().giving_up()) return Status::Unavailable("the shard is being closed");
    const Result<uint64_t> count = rows.Count(user, most);
    if (!count.ok()) return count.status();
    if (*count > most) crowded.push_back(std::move(user));
  }
  return crowded;
}

// Users with more rows than `most` in these buckets. A row is an entry, or was one.
Result<std::vector<std::string>> CrowdedUsers(const ShardStore& store,
                                              const CollectionFamilies& family, uint64_t most) {
  std::vector<UserRows> buckets;
  for (const auto& [index, bucket] : family.history) {
    buckets.emplace_back(store.db(), bucket->timeline->get());
  }
  std::vector<std::string> crowded;
  while (true) {
    if (store.database().giving_up()) return Status::Unavailable("the shard is being closed");
    const UserRows* first = nullptr;
    for (const UserRows& one : buckets) {
      if (!one.status().ok()) return one.status();
      if (!one.Valid()) continue;
      if (first == nullptr || ComesBefore(one.user(), first->user())) first = &one;
    }
    if (first == nullptr) return crowded;
    const std::string user = first->user();
    uint64_t rows = 0;
    for (UserRows& one : buckets) {
      if (one.Valid() && one.user() == user) rows += one.TakeUser();
    }
    if (rows > most) crowded.push_back(user);
  }
}

// The newest entry beyond the cap and all not after it leave: the word of it is synced first.
// Entries of the very time of the last within the cap stay with it: what leaves is told by its time
// alone.
Status TrimUser(ShardParts& shard, const Collection& of, const std::string& user)
    EXCLUDES(shard.apply_lock) {
  UserRecord record;
  uint64_t evicted = 0;
  const auto evict = [&](const LoadedRecords& known) -> Status {
    ReadGaps gaps;
    HistoryReader reader(shard, of, user, shard.clock->NowMs(), &gaps, &known);
    HistoryWalk walk(&reader, {}, kAhead, Sought::kNewest);
    uint64_t met = 0;
    int64_t kept_ms = 0;
    int64_t& evicted_at_ms = record.marks[of.name].evicted_at_ms;
    for (; const WalkedEntry* entry = walk.Peek(); walk.Pop()) {
      const int64_t at_ms = entry->state.at_ms;
      if (++met <= of.policy.history.max_entries) kept_ms = at_ms;
      if (at_ms == kept_ms) continue;
      if (evicted++ == 0) evicted_at_ms = at_ms;
    }
    // What can't be read might count: nothing is evicted for lack of it.
    if (gaps.degraded) shard.written_users.Add(of.name, user);  // looked at again
    if (gaps.degraded) evicted = 0;
    return evicted == 0 ? Status() : shard.users.Unite(user, record);
  };
  const Status noted =
      WithRecordsOf<SharedLock::Shared>(OneUser(user), shard.users, shard.apply_lock, evict);
  if (!noted.ok() || evicted == 0) return noted;
  RETURN_IF_FAILED(shard.store->SyncWal());
  shard.counters->history_evicted.fetch_add(evicted, std::memory_order_relaxed);
  return DeleteHistoryRows(shard, {of.name, user, record.marks[of.name].evicted_at_ms});
}

}  // namespace

Status TrimHistory(ShardParts& shard, const Collection& of) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const family = families->Find(of.name);
  if (family == nullptr || !of.policy.history.enabled || family->history.empty()) return {};
  RETURN_IF_FAILED(shard.store->CheckWritable());
  const uint64_t most = of.policy.history.max_entries;
  std::optional<std::vector<std::string>> written = shard.written_users.Take(of.name, most);
  const Result<std::vector<std::string>> crowded =
      written ? CrowdedAmong(*std::move(written), *shard.store, *family, most)
              : CrowdedUsers(*shard.store, *family, most);
  Status trimmed = crowded.status();
  for (size_t i = 0; trimmed.ok() && i < crowded->size(); ++i) {
    trimmed = TrimUser(shard, of, (*crowded)[i]);
  }
  if (!trimmed.ok()) shard.written_users.TakeFailed(of.name);
  return trimmed;
}

}  // namespace seendb
