#include "shard/own_sets.h"

#include <algorithm>
#include <utility>

#include "base/return_if_failed.h"
#include "base/time_text.h"
#include "format/own_set_codec.h"
#include "shard/events.h"
#include "store/own_set_rows.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

// A deletion is kept for as long as a set that was said before it might last.
constexpr int64_t kDeletionLastsMs = kMaxUserSetLastsMs;

/// Members in memory, for a request.
class OwnItems final : public ItemSet {
 public:
  /// False where the bytes are damaged.
  bool Read(rocksdb::PinnableSlice value) {
    value_ = std::move(value);
    return set_.Parse(value_.ToStringView());
  }
  const StoredOwnSet& set() const { return set_; }

  void Find(std::span<const IdRef> items, uint8_t* hits) const override {
    std::string decimal;
    for (size_t i = 0; i < items.size(); ++i) {
      std::string_view text = items[i].text();
      if (items[i].is_number()) {
        decimal.clear();
        items[i].AppendTo(&decimal);
        text = decimal;
      }
      hits[i] = std::binary_search(set_.items.begin(), set_.items.end(), text) ? 1 : 0;
    }
  }
  bool damaged() const override { return !set_.damage.empty(); }

 private:
  rocksdb::PinnableSlice value_;
  StoredOwnSet set_;
};

/// Stands in for a set that can't be read.
class LostItems final : public ItemSet {
 public:
  explicit LostItems(const ItemSet* other) : other_(other) {}

  void Find(std::span<const IdRef> items, uint8_t* hits) const override {
    if (other_ != nullptr) return other_->Find(items, hits);
    std::fill_n(hits, items.size(), uint8_t{0});
  }
  bool damaged() const override { return true; }

 private:
  const ItemSet* const other_;  // of the caller's
};

void Lose(size_t index, NamedSets* named) {
  named->held.push_back(std::make_shared<LostItems>(named->sets[index].items));
  named->sets[index].items = named->held.back().get();
}

UserSetInfo InfoOf(std::string_view name, const StoredOwnSet& set) {
  return {std::string(name), set.items.size(), set.said_ms, set.ends_ms()};
}

// Whether the user has as many sets as may be, beside that of the name.
Result<bool> IsFull(const ShardParts& shard, rocksdb::ColumnFamilyHandle* family,
                    const std::string& user, std::string_view name, int64_t now_ms) {
  size_t others = 0;
  const std::string own = OwnSetKey(user, name);
  const rocksdb::Status read = ForEachOwnSet(
      user, shard.store->db(), family, [&](std::string_view key, std::string_view value) {
        StoredOwnSet set;
        const bool counts = key != own && set.Parse(value) && set.CountsAt(now_ms);
        others += counts ? 1 : 0;
        return rocksdb::Status();
      });
  if (!read.ok()) return FromRocks(read, "read sets");
  return others >= kMaxUserSets;
}

Status WriteSet(ShardParts& shard, rocksdb::ColumnFamilyHandle* family, const std::string& key,
                const StoredOwnSet& set) REQUIRES_SHARED(shard.apply_lock) {
  shard.apply_lock.AssertHeldShared();
  std::string value;
  set.Encode(&value);
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Merge(family, key, value);
  if (status.ok()) status = shard.store->db()->Write(NotSynced(), &batch);
  return FromRocks(status, "write a set");
}

// Runs `change(family, erased_at, former)` with what is known of a set, as the only change of a
// user's own rows. `former` says nothing where no set is known, or it can't be read.
template <typename Change>
Status ChangeSet(ShardParts& shard, const std::string& user, const std::string& key,
                 const Change& change) REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock) {
  shard.use.AssertHeldShared();
  return WithRecordsOf<SharedLock::Shared>(
      OneUser(user), shard.users, shard.apply_lock, [&](const LoadedRecords& known) -> Status {
        shard.apply_lock.AssertHeldShared();
        const MutexLock one(shard.marks_mutex);
        RETURN_IF_FAILED(shard.store->CheckWritable());
        const std::shared_ptr<const FamilySet> families = shard.store->families();
        if (families->own == nullptr) {
          return Status::Unavailable("the shard was opened anew meanwhile");
        }
        rocksdb::PinnableSlice value;
        const rocksdb::Status got = shard.store->db()->Get({}, families->own->get(), key, &value);
        if (!got.ok() && !got.IsNotFound()) return FromRocks(got, "read a set");
        StoredOwnSet former;
        if (got.ok() && !former.Parse(value.ToStringView())) former = {};
        const UserRecord* const record = known.Find(user);
        const bool erased = record != nullptr && record->erased_seq != 0;
        return change(families->own->get(), erased ? &record->erased_at_ms : nullptr, former);
      });
}

// Whether a set that has not ended may have been lost: by the months of a policy's default.
bool MayBeLost(const DataLossSet& losses, std::string_view user, std::string_view key,
               int64_t now_ms) {
  const Policy policy;
  const int64_t oldest = BucketIndexOf(policy, now_ms - kMaxUserSetLastsMs);
  return losses.CoversOwn(user, policy, oldest) || losses.CoversOwn(key, policy, oldest);
}

// When something is said of a set: later than all that is known of it, where no time is given.
int64_t SaidAt(const CallTime& at_ms, int64_t now_ms, const int64_t* erased_at_ms,
               const StoredOwnSet& former) {
  if (at_ms.ms) return *at_ms.ms;
  if (former.said) now_ms = std::max(now_ms, former.said_ms + 1);
  return erased_at_ms == nullptr ? now_ms : std::max(now_ms, *erased_at_ms + 1);
}

}  // namespace

Status PutOwnSet(ShardParts& shard, const std::string& user, const UserSet& set,
                 std::vector<std::string_view> items, int64_t now_ms, bool sync,
                 UserSetInfo* info) {
  if (shard.store->families()->own == nullptr) {
    RETURN_IF_FAILED(shard.store->tables().EnsureOwn());
  }
  const std::string key = OwnSetKey(user, set.name);
  const auto change = [&](rocksdb::ColumnFamilyHandle* family, const int64_t* erased_at_ms,
                          const StoredOwnSet& former) -> Status {
    shard.apply_lock.AssertHeldShared();
    StoredOwnSet put;
    put.said = true;
    put.said_ms = SaidAt(set.at_ms, now_ms, erased_at_ms, former);
    put.lasts_ms = set.lasts_ms;
    put.items = std::move(items);
    if (erased_at_ms != nullptr && put.said_ms <= *erased_at_ms) {
      return Status::InvalidArgument("at " + TimeText(put.said_ms) +
                                         " is not after the user's erasure at " +
                                         TimeText(*erased_at_ms),
                                     "/at");
    }
    if (!former.CountsAt(now_ms)) {
      const Result<bool> full = IsFull(shard, family, user, set.name, now_ms);
      if (!full.ok()) return full.status();
      if (*full) {
        return Status::Incompatible(
            "a user has at most " + std::to_string(kMaxUserSets) + " sets; delete one first",
            "/name");
      }
    }
    RETURN_IF_FAILED(WriteSet(shard, family, key, put));
    OwnSetUnion all;
    std::string bytes, value, other;
    put.Encode(&value);
    all.Add(value);
    if (former.said) {
      StoredOwnSet known = former;
      known.damage = {};
      known.Encode(&other);
      all.Add(other);
    }
    all.Encode(&bytes);
    StoredOwnSet counts;
    if (!counts.Parse(bytes)) return Status::Corruption("the set can't be read");
    *info = InfoOf(set.name, counts);
    return {};
  };
  const Status written = ChangeSet(shard, user, key, change);
  return written.ok() && sync ? shard.store->SyncWal() : written;
}

Status DeleteOwnSet(ShardParts& shard, const std::string& user, std::string_view name,
                    const CallTime& at_ms, int64_t now_ms, bool* deleted) {
  *deleted = false;
  if (shard.store->families()->own == nullptr) return {};
  const std::string key = OwnSetKey(user, name);
  const auto change = [&](rocksdb::ColumnFamilyHandle* family, const int64_t* erased_at_ms,
                          const StoredOwnSet& former) -> Status {
    shard.apply_lock.AssertHeldShared();
    *deleted = former.CountsAt(now_ms);
    if (!former.said && !at_ms.ms) return {};
    if (former.deleted && at_ms.ms && *at_ms.ms <= former.said_ms) return {};
    StoredOwnSet gone;
    gone.said = gone.deleted = true;
    gone.said_ms = SaidAt(at_ms, now_ms, erased_at_ms, former);
    // A deletion is later than what it deletes.
    if (former.said) gone.said_ms = std::max(gone.said_ms, former.said_ms + 1);
    gone.lasts_ms = kDeletionLastsMs;
    return WriteSet(shard, family, key, gone);
  };
  const Status written = ChangeSet(shard, user, key, change);
  return written.ok() ? shard.store->SyncWal() : written;
}

Status ListOwnSets(const ShardParts& shard, const std::string& user, UserSetList* list) {
  shard.use.AssertHeldShared();
  if (!shard.store->readable()) return Status::Unavailable("the shard can't be read");
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  list->degraded = !families->own_losses.empty();
  if (families->own == nullptr) return {};
  const int64_t now_ms = shard.clock->NowMs();
  const rocksdb::Status read =
      ForEachOwnSet(user, shard.store->db(), families->own->get(),
                    [&](std::string_view key, std::string_view value) {
                      StoredOwnSet set;
                      std::string_view whose, name;
                      const bool readable = ParseOwnSetKey(key, &whose, &name) && set.Parse(value);
                      if (!readable || !set.damage.empty()) list->degraded = true;
                      if (readable && set.CountsAt(now_ms)) list->sets.push_back(InfoOf(name, set));
                      return rocksdb::Status();
                    });
  return FromRocks(read, "read sets");
}

Status ReadOwnSet(const ShardParts& shard, const std::string& user, std::string_view name,
                  std::string_view after, size_t limit, UserSetPage* page) {
  shard.use.AssertHeldShared();
  if (!shard.store->readable()) return Status::Unavailable("the shard can't be read");
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  rocksdb::PinnableSlice value;
  StoredOwnSet set;
  if (families->own != nullptr) {
    const rocksdb::Status got =
        shard.store->db()->Get({}, families->own->get(), OwnSetKey(user, name), &value);
    if (!got.ok() && !got.IsNotFound()) return FromRocks(got, "read a set");
    if (got.ok() && (!set.Parse(value.ToStringView()) || !set.damage.empty())) {
      return Status::Corruption("the user's set can't be read; put it anew");
    }
  }
  if (!set.CountsAt(shard.clock->NowMs())) {
    return Status::NotFound("the user has no set \"" + std::string(name) + "\"");
  }
  page->info = InfoOf(name, set);
  auto at = std::upper_bound(set.items.begin(), set.items.end(), after);
  for (; at != set.items.end() && page->items.size() < limit; ++at) page->items.emplace_back(*at);
  if (at != set.items.end()) page->after = page->items.back();
  return {};
}

int64_t NewestSetMs(const ShardParts& shard, const std::string& user, int64_t reach_ms) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  int64_t newest_ms = kNeverMs;
  if (families->own == nullptr) return newest_ms;
  const rocksdb::Status read = ForEachOwnSet(user, shard.store->db(), families->own->get(),
                                             [&](std::string_view, std::string_view value) {
                                               StoredOwnSet set;
                                               if (set.Parse(value) && set.said)
                                                 newest_ms = std::max(newest_ms, set.said_ms);
                                               return rocksdb::Status();
                                             });
  static_cast<void>(read);  // what can't be read goes with the rest
  return std::min(newest_ms, reach_ms);
}

bool FindOwnSets(const ShardParts& shard, std::string_view user, bool memory_only,
                 NamedSets* named) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  if (!shard.store->readable()) {
    LoseOwnSets(named);
    return true;
  }
  if (families->own == nullptr) return true;
  const Present now = shard.clock->Look();
  rocksdb::ReadOptions options;
  if (memory_only) options.read_tier = rocksdb::kBlockCacheTier;
  NamedSets found = *named;
  for (size_t i = 0; i < found.sets.size(); ++i) {
    const std::string key = OwnSetKey(user, found.sets[i].name);
    rocksdb::PinnableSlice value;
    const rocksdb::Status got = shard.store->db()->Get(options, families->own->get(), key, &value);
    // Memory says OK of a table that is not open, and has no bytes: no value of ours is empty.
    if (memory_only && (got.IsIncomplete() || (got.ok() && value.empty()))) return false;
    const bool may_be_lost = MayBeLost(families->own_losses, user, key, now.ms);
    if (got.IsNotFound() && !may_be_lost) continue;
    auto items = std::make_shared<OwnItems>();
    const bool readable = got.ok() && items->Read(std::move(value));
    if (readable && items->set().CountsAt(now.ms)) {
      found.sets[i].items = items.get();
      found.held.push_back(std::move(items));
    } else if (!readable || may_be_lost || !items->set().damage.empty()) {
      Lose(i, &found);
    }
  }
  *named = std::move(found);
  return true;
}

void LoseOwnSets(NamedSets* named) {
  for (size_t i = 0; i < named->sets.size(); ++i) Lose(i, named);
}

}  // namespace seendb
