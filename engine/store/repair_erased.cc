#include "store/repair_erased.h"

#include <memory>
#include <vector>

#include "format/impressions_codec.h"
#include "format/user_codec.h"
#include "store/families.h"
#include "store/history_rows.h"
#include "store/status.h"

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
  switch (of.kind) {
    case FamilyName::kSeen:
    case FamilyName::kImpressions:
      return record.ForgottenIn(of.collection);
    case FamilyName::kHistory:
    case FamilyName::kTimeline:
      // Those that were cleared don't count by their time, which the record says.
      return record.erased_seq == 0 ? Forgotten()
                                    : Forgotten{record.erased_seq, record.erased_at_ms};
    default:
      return {};
  }
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
      const Status status = of.kind == FamilyName::kImpressions
                                ? EraseServed(user, gone, family)
                                : EraseBucket(user, gone, of, family);
      if (!status.ok()) return status;
    }
    return {};
  }

 private:
  // Impressions have stamps, by which those that came later are told.
  Status EraseServed(const std::string& user, const Forgotten& gone,
                     rocksdb::ColumnFamilyHandle* family) {
    std::string value;
    ImpressionList list;
    if (!shard_->db()->Get({}, family, user, &value).ok()) return {};
    rocksdb::Status status = shard_->batch()->Delete(family, user);
    if (!status.ok() || !list.Parse(value)) return FromRocks(status, "repair");
    std::erase_if(list.entries,
                  [&](const ImpressionEntry& entry) { return entry.stamp <= gone.seq; });
    list.Encode(&value);
    if (!list.entries.empty()) status = shard_->batch()->Merge(family, user, value);
    return FromRocks(status, "repair");
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
    if (name.kind != FamilyName::kSeen) {
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
  if (erasures != UserRecord()) records_[std::string(user)].Absorb(erasures);
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
    const Status status = eraser.Erase(user, erasures, replayed.Find(user));
    if (!status.ok()) return status;
  }
  return shard->Flush();
}

}  // namespace seendb
