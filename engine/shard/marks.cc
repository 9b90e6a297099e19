#include "shard/marks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/return_if_failed.h"
#include "base/time_text.h"
#include "shard/events.h"
#include "store/status.h"

namespace seendb {
namespace {

// The changes of one call to a user's marks.
class MarksChange {
 public:
  explicit MarksChange(const MarkList& known) : known_(known), groups_(known.groups()) {}

  /// False where the user would have too many groups.
  bool Add(const StoredMark& mark) {
    const MarkDeletion* const deletion = known_.FindDeletion(mark.group);
    if (deletion != nullptr && mark.said_ms <= deletion->at_ms) return true;
    const StoredMark* const former = known_.Find(mark.group);
    const auto [at, first] =
        changed_.try_emplace(mark.group, former == nullptr ? mark : Joined(*former, mark));
    if (!first) at->second = Joined(at->second, mark);
    if (first && former == nullptr) ++groups_;
    return groups_ <= kMaxMarkedGroups;
  }

  /// The operand to be written; empty: nothing changes.
  std::string Encode() const {
    MarkList list;
    for (const auto& [group, mark] : changed_) {
      const StoredMark* const former = known_.Find(group);
      if (former == nullptr || *former != mark) list.marks.push_back(mark);
    }
    std::string value;
    if (!list.marks.empty()) list.Encode(&value);
    return value;
  }

 private:
  static StoredMark Joined(const StoredMark& one, const StoredMark& other) {
    return {one.group, std::max(one.said_ms, other.said_ms),
            std::max(one.until_ms, other.until_ms)};
  }

  const MarkList& known_;
  std::map<std::string_view, StoredMark> changed_;
  size_t groups_;
};

StoredMark StoredOf(const Mark& mark, int64_t now_ms) {
  return {mark.group, mark.at_ms.ms.value_or(now_ms), mark.until_ms.value_or(kMarkedAlways)};
}

// A damaged row counts as empty: the merge unites the new mark with whatever can be read of it.
Status LoadToChange(const ShardParts& shard, const std::string& user, rocksdb::PinnableSlice* value,
                    MarkList* list) {
  RETURN_IF_FAILED(shard.store->CheckWritable());
  Status loaded = LoadMarks(shard, user, value, list);
  if (loaded.code() != StatusCode::kCorruption || value->empty()) return loaded;
  *list = {};
  return {};
}

Status Write(ShardParts& shard, const std::string& user, const std::string& value)
    REQUIRES_SHARED(shard.apply_lock) {
  shard.apply_lock.AssertHeldShared();
  if (value.empty()) return {};
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  if (families->own == nullptr) return Status::Unavailable("the shard was opened anew meanwhile");
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Merge(families->own->get(), user, value);
  if (status.ok()) status = shard.store->db()->Write(NotSynced(), &batch);
  return FromRocks(status, "write marks");
}

// Runs `change(known, list)`, which gives what is to be written of the user, and writes it.
template <typename Change>
Status ChangeMarks(ShardParts& shard, const std::string& user, const Change& change)
    REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock) {
  shard.use.AssertHeldShared();
  if (shard.store->families()->own == nullptr) {
    RETURN_IF_FAILED(shard.store->tables().EnsureOwn());
  }
  return WithRecordsOf<SharedLock::Shared>(
      OneUser(user), shard.users, shard.apply_lock, [&](const LoadedRecords& known) -> Status {
        shard.apply_lock.AssertHeldShared();
        const MutexLock one(shard.marks_mutex);
        rocksdb::PinnableSlice value;
        MarkList list;
        RETURN_IF_FAILED(LoadToChange(shard, user, &value, &list));
        const Result<std::string> change_of = change(known.Find(user), list);
        return change_of.ok() ? Write(shard, user, *change_of) : change_of.status();
      });
}

Status TooMany(size_t index) {
  return Status::Incompatible(
      "a user has at most " + std::to_string(kMaxMarkedGroups) + " marked groups; delete one first",
      "/" + std::to_string(index) + "/group");
}

Status NotAfterErasure(const UserRecord& record, int64_t at_ms) {
  return Status::InvalidArgument("at " + TimeText(at_ms) + " is not after the user's erasure at " +
                                     TimeText(record.erased_at_ms),
                                 "/at");
}

}  // namespace

Status LoadMarks(const ShardParts& shard, std::string_view user, rocksdb::PinnableSlice* value,
                 MarkList* list) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  *list = {};
  if (families->own == nullptr) return {};
  const rocksdb::Status got =
      shard.store->db()->Get({}, families->own->get(), {user.data(), user.size()}, value);
  if (got.IsNotFound()) return {};
  if (!got.ok()) return FromRocks(got, "read marks");
  if (list->Parse(value->ToStringView())) return {};
  *list = {};
  return Status::Corruption("the user's marks can't be read");
}

Status PutMarks(ShardParts& shard, const std::string& user, std::span<const Mark> marks,
                int64_t now_ms, bool sync, RecordResult* result) {
  const auto change = [&](const UserRecord* record, const MarkList& list) -> Result<std::string> {
    MarksChange changed(list);
    const bool erased = record != nullptr && record->erased_seq != 0;
    for (uint32_t i = 0; i < marks.size(); ++i) {
      const StoredMark mark = StoredOf(marks[i], now_ms);
      if (erased && mark.said_ms <= record->erased_at_ms) {
        Refuse(result, i, NotAfterErasure(*record, mark.said_ms), RefusalReason::kErased);
        continue;
      }
      if (!changed.Add(mark)) return TooMany(i);
      ++result->accepted;
    }
    return changed.Encode();
  };
  const Status written = ChangeMarks(shard, user, change);
  // A write that was not needed may have been made unnecessary by one that is not synced yet.
  return written.ok() && sync ? shard.store->SyncWal() : written;
}

Status DeleteMark(ShardParts& shard, const std::string& user, std::string_view group, int64_t at_ms,
                  bool* deleted) {
  const auto change = [&](const UserRecord*, const MarkList& list) -> Result<std::string> {
    const StoredMark* const counts = list.Find(group);
    const MarkDeletion* const former = list.FindDeletion(group);
    *deleted = counts != nullptr;
    int64_t until_ms = at_ms;
    for (const StoredMark& mark : list.marks) {
      if (mark.group == group) until_ms = std::max(until_ms, mark.said_ms);
    }
    if (former != nullptr && former->at_ms >= until_ms) return std::string();
    MarkList list_of_one;
    list_of_one.deletions.push_back({group, until_ms});
    std::string value;
    list_of_one.Encode(&value);
    return value;
  };
  const Status written = ChangeMarks(shard, user, change);
  return written.ok() ? shard.store->SyncWal() : written;
}

Status ReadMarks(const ShardParts& shard, const std::string& user, const MarksRequest& request,
                 MarksPage* page) {
  shard.use.AssertHeldShared();
  if (!shard.store->readable()) return Status::Unavailable("the shard can't be read");
  rocksdb::PinnableSlice value;
  MarkList list;
  RETURN_IF_FAILED(LoadMarks(shard, user, &value, &list));
  page->degraded = !list.damage.empty() || !shard.store->families()->own_losses.empty();
  // The first mark of a group reaches furthest.
  const std::string_view* last = nullptr;
  for (const StoredMark& mark : list.marks) {
    if (mark.group <= request.after || (last != nullptr && mark.group == *last)) continue;
    if (page->marks.size() == request.limit) {
      page->after = page->marks.back().group;
      break;
    }
    last = &mark.group;
    MarkEntry& entry = page->marks.emplace_back();
    entry.group = mark.group;
    if (mark.until_ms != kMarkedAlways) entry.until_ms = mark.until_ms;
    entry.said_ms = mark.said_ms;
  }
  return {};
}

}  // namespace seendb
