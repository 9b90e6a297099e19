// The cap on a user's entries, made real: what lies beyond it is evicted, and its rows go.

#include <algorithm>
#include <memory>

#include "engine_impl.h"
#include "history_reader.h"
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

// Keys order users by size first, as their size is written in front.
bool ComesBefore(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
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
    if (store.giving_up()) return Status::Unavailable("the shard is being closed");
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

}  // namespace

// The newest entry beyond the cap and all not after it leave: the word of it is synced first.
// Entries of the very time of the last within the cap stay with it: what leaves is told by its time
// alone.
Status EngineImpl::TrimUser(Shard& shard, const Collection& of, const std::string& user) {
  UserRecord record;
  uint64_t evicted = 0;
  {
    const Gate::Scope in_ring(shard.ring->gate());
    Lacks lacks;
    HistoryReader reader(shard, of, user, clock_->NowMs(), &lacks);
    HistoryWalk walk(&reader, {}, kAhead);
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
    if (evicted == 0 || lacks.degraded) return {};
    const Status noted = shard.ring->ChangeSettings(
        in_ring, user, [&](const UserRecord*) { return std::optional<UserRecord>(record); });
    if (!noted.ok()) return noted;
  }
  counters_.history_evicted.fetch_add(evicted, std::memory_order_relaxed);
  return DeleteHistoryRows(shard, of.name, user, record.marks[of.name].evicted_at_ms);
}

Status EngineImpl::TrimHistory(const std::function<bool(const Collection&)>& wanted) {
  return InEachFamily(
      [&](const Collection& of, Shard& shard, const CollectionFamilies& family) -> Status {
        if (!of.policy.history.enabled || family.history.empty() || !wanted(of)) return {};
        const Status writable = shard.store->CheckWritable();
        if (!writable.ok()) return writable;
        const Result<std::vector<std::string>> crowded =
            CrowdedUsers(*shard.store, family, of.policy.history.max_entries);
        if (!crowded.ok()) return crowded.status();
        for (const std::string& user : *crowded) {
          const Status trimmed = TrimUser(shard, of, user);
          if (!trimmed.ok()) return trimmed;
        }
        return {};
      });
}

}  // namespace seendb
