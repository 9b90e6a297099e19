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

struct ErasedUser {
  std::string name;
  UserRecord record;
};

// Impressions have stamps, by which those that came later are told.
Status ForgetServed(const ErasedUser& user, rocksdb::ColumnFamilyHandle* family,
                    RebuiltShard* shard) {
  std::string value;
  ImpressionList list;
  if (!shard->db()->Get({}, family, user.name, &value).ok()) return {};
  rocksdb::Status status = shard->batch()->Delete(family, user.name);
  if (!status.ok() || !list.Parse(value)) return FromRocks(status, "repair");
  std::erase_if(list.entries, [&](const ImpressionEntry& entry) {
    return entry.stamp <= user.record.erased_seq;
  });
  list.Encode(&value);
  if (!list.entries.empty()) status = shard->batch()->Merge(family, user.name, value);
  return FromRocks(status, "repair");
}

Status ForgetBucket(const ErasedUser& user, const FamilyName& name, const Policy& policy,
                    rocksdb::ColumnFamilyHandle* family, RebuiltShard* shard,
                    RepairLosses* losses) {
  const Result<int64_t> index = BucketIndexOfLabel(policy, name.bucket);
  if (!index.ok()) return index.status();
  const int64_t erased_at_ms = user.record.erased_at_ms;
  if (BucketBeginMs(policy, *index) > erased_at_ms + policy.max_future_ms) return {};
  rocksdb::WriteBatch* const batch = shard->batch();
  const auto before = batch->Count();
  rocksdb::Status gone;
  if (name.kind != FamilyName::kSeen) {
    gone = DeleteHistoryOf(user.name, shard->db(), family, batch);
  } else {
    std::string value;
    if (!shard->db()->Get({}, family, user.name, &value).ok()) return {};
    gone = batch->Delete(family, user.name);
  }
  if (batch->Count() > before && BucketBeginMs(policy, *index + 1) > erased_at_ms) {
    losses->LoseUser(name, user.name, "a user was erased in its time");
  }
  return FromRocks(gone, "repair");
}

}  // namespace

Status ForgetErased(const std::map<std::string, Policy>& policies,
                    const std::set<std::string>& replayed, RebuiltShard* shard,
                    RepairLosses* losses) {
  const std::unique_ptr<rocksdb::Iterator> it(
      shard->db()->NewIterator({}, shard->families().at(kUsersFamilyName)));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    ErasedUser user{it->key().ToString(), {}};
    if (!user.record.Parse(it->value().ToStringView()) || user.record.erased_seq == 0) continue;
    if (replayed.contains(user.name)) continue;
    for (const auto& [name, family] : shard->families()) {
      const FamilyName of = ParseFamilyName(name);
      Status status;
      if (of.kind == FamilyName::kImpressions) {
        status = ForgetServed(user, family, shard);
      } else if (of.kind == FamilyName::kSeen || of.kind == FamilyName::kHistory ||
                 of.kind == FamilyName::kTimeline) {
        status = ForgetBucket(user, of, policies.at(of.collection), family, shard, losses);
      }
      if (!status.ok()) return status;
    }
  }
  return shard->Flush();
}

}  // namespace seendb
