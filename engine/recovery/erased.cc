#include "recovery/erased.h"

#include <memory>
#include <vector>

#include "base/return_if_failed.h"
#include "format/day_key.h"
#include "format/user_codec.h"
#include "store/history_rows.h"
#include "store/own_set_rows.h"
#include "store/status.h"
#include "tables/table_set.h"

namespace seendb {
namespace {

// Of a user's record what it says of erasures and cleared filters; empty where there was none.
UserRecord ErasuresOf(const UserRecord& record) {
  UserRecord erasures;
  erasures.erased_seq = record.erased_seq;
  erasures.erased_at_ms = record.erased_at_ms;
  for (const auto& [collection, marks] : record.marks) {
    if (marks.forgotten.seq != 0) erasures.marks[collection].forgotten = marks.forgotten;
  }
  return erasures;
}

// What of a family's rows an erasure or a cleared filter covers.
Forgotten GoneOf(const UserRecord& record, const FamilyName& of) {
  if (of.kind->erase == Table::Erase::kKeep) return {};
  if (of.kind->clear == Table::Clear::kFilter) return record.ForgottenIn(of.collection);
  // Rows of history that were cleared don't count by their time, which the record says.
  return record.erased_seq == 0 ? Forgotten() : Forgotten{record.erased_seq, record.erased_at_ms};
}

// Adds to `*batch` the deletion of every key of the user in a family history/... or timeline/...
rocksdb::Status DeleteHistoryOf(std::string_view user, rocksdb::DB* db,
                                rocksdb::ColumnFamilyHandle* family, rocksdb::WriteBatch* batch) {
  return ForEachHistoryRow(user, db, family, [&](std::string_view key, std::string_view) {
    return batch->Delete(family, {key.data(), key.size()});
  });
}

class Eraser {
 public:
  Eraser(const std::map<std::string, Policy>& policies, RebuiltShard* shard, RepairLosses* losses)
      : policies_(policies), shard_(shard), losses_(losses) {}

  Status Erase(const std::string& user, const UserRecord& record, const UserRecord* replayed) {
    for (const auto& [name, family] : shard_->families()) {
      const FamilyName of = ParseFamilyName(name);
      const Forgotten gone = GoneOf(record, of);
      if (gone.seq == 0) continue;
      if (replayed != nullptr && gone.seq <= GoneOf(*replayed, of).seq) continue;
      RETURN_IF_FAILED(of.kind->written_after != nullptr || of.kind->said_after != nullptr
                           ? EraseEarlier(user, gone, *of.kind, family)
                       : of.kind->erase == Table::Erase::kRecord
                           ? EraseDays(user, gone, family)
                           : EraseBucket(user, gone, of, family));
      if (!of.Is(kOwnTable)) continue;
      const rocksdb::Status sets =
          DeleteOwnSetsUpTo(gone.at_ms, user, shard_->db(), family, shard_->batch());
      if (!sets.ok()) return FromRocks(sets, "repair");
    }
    return {};
  }

 private:
  // The value itself tells what came later, as impressions do by their stamps, marks by their
  // times.
  Status EraseEarlier(const std::string& user, const Forgotten& gone, const Table& kind,
                      rocksdb::ColumnFamilyHandle* family) {
    std::string value;
    if (!shard_->db()->Get({}, family, user, &value).ok()) return {};
    rocksdb::Status status = shard_->batch()->Delete(family, user);
    const std::string later = kind.said_after != nullptr ? kind.said_after(value, gone.at_ms)
                                                         : kind.written_after(value, gone.seq);
    if (status.ok() && !later.empty()) status = shard_->batch()->Merge(family, user, later);
    return FromRocks(status, "repair");
  }

  // Days of before the erasure, and that of the erasure itself: a play may follow on it.
  Status EraseDays(const std::string& user, const Forgotten& gone,
                   rocksdb::ColumnFamilyHandle* family) {
    const std::string end = DayKeyEnd(user);
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> it(shard_->db()->NewIterator(options, family));
    for (it->Seek(DayKeyPrefix(user)); it->Valid(); it->Next()) {
      std::string_view whose, collection;
      UserRecord day;
      const bool known = ParseDayKey(it->key().ToStringView(), &whose, &collection) &&
                         day.Parse(it->value().ToStringView()) && day.last_day != kNoDay;
      const auto policy = policies_.find(std::string(collection));
      if (known && policy != policies_.end() && day.last_day > DayOf(policy->second, gone.at_ms)) {
        continue;
      }
      const rocksdb::Status deleted = shard_->batch()->Delete(family, it->key());
      if (!deleted.ok()) return FromRocks(deleted, "repair");
    }
    return FromRocks(it->status(), "read active days");
  }

  Status EraseBucket(const std::string& user, const Forgotten& gone, const FamilyName& name,
                     rocksdb::ColumnFamilyHandle* family) {
    const Policy& policy = policies_.at(name.collection);
    const Result<int64_t> index = BucketIndexOfLabel(policy, name.bucket);
    if (!index.ok()) return index.status();
    if (BucketBeginMs(policy, *index) > gone.at_ms + policy.max_future_ms) return {};
    rocksdb::WriteBatch* const batch = shard_->batch();
    const auto before = batch->Count();
    rocksdb::Status deleted;
    if (name.kind->erase == Table::Erase::kRows) {
      deleted = DeleteHistoryOf(user, shard_->db(), family, batch);
    } else {
      std::string value;
      if (!shard_->db()->Get({}, family, user, &value).ok()) return {};
      deleted = batch->Delete(family, user);
    }
    if (batch->Count() > before && BucketBeginMs(policy, *index + 1) > gone.at_ms) {
      losses_->LoseUser(name, user, "a user was erased or cleared in its time");
    }
    return FromRocks(deleted, "repair");
  }

  const std::map<std::string, Policy>& policies_;
  RebuiltShard* const shard_;
  RepairLosses* const losses_;
};

}  // namespace

void ReplayedErasures::Note(std::string_view user, std::string_view value) {
  UserRecord record;
  if (!record.Parse(value)) return;
  const UserRecord erasures = ErasuresOf(record);
  if (erasures != UserRecord()) records_[std::string(user)].Join(erasures);
}

const UserRecord* ReplayedErasures::Find(std::string_view user) const {
  const auto at = records_.find(user);
  return at == records_.end() ? nullptr : &at->second;
}

Status ForgetErased(const std::map<std::string, Policy>& policies, const ReplayedErasures& replayed,
                    RebuiltShard* shard, RepairLosses* losses) {
  Eraser eraser(policies, shard, losses);
  const std::unique_ptr<rocksdb::Iterator> it(
      shard->db()->NewIterator({}, shard->families().at(kUsersFamilyName)));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    UserRecord record;
    if (!record.Parse(it->value().ToStringView())) continue;
    const UserRecord erasures = ErasuresOf(record);
    if (erasures == UserRecord()) continue;  // nearly all: pauses, active days
    const std::string user = it->key().ToString();
    RETURN_IF_FAILED(eraser.Erase(user, erasures, replayed.Find(user)));
  }
  return shard->Flush();
}

}  // namespace seendb
