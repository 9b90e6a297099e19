#include "store/repair_losses.h"

#include "store/meta_keys.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr char kUsersForgotten[] =
    ": erasures, clears, pauses, active days may be forgotten, and what they took come back";

// Of the marker of a family seen/..., impressions/..., history/... or timeline/...
std::string KeyOf(const FamilyName& family) {
  if (family.kind == FamilyName::kImpressions) return LostKey(family.collection, kImpressionsLabel);
  return family.kind == FamilyName::kSeen ? LostKey(family.collection, family.bucket)
                                          : LostHistoryKey(family.collection, family.bucket);
}

}  // namespace

void RepairLosses::LoseRows(const std::string& family, const std::string& table,
                            const std::vector<UserRange>& ranges) {
  const FamilyName name = ParseFamilyName(family);
  const std::string reason = table + " was damaged";
  switch (name.kind) {
    case FamilyName::kSeen:
    case FamilyName::kImpressions:
      by_key_[KeyOf(name)].Absorb({now_ms_, reason, ranges});
      break;
    case FamilyName::kHistory:
    case FamilyName::kTimeline:  // keys of both begin with a size: nobody's in particular
      by_key_[KeyOf(name)].Absorb({now_ms_, reason, {}});
      break;
    case FamilyName::kRing:
      LoseLog(reason + ", with staged plays");
      break;
    case FamilyName::kUsers:
      forget_whole_ = true;
      notes_.push_back(reason + kUsersForgotten);
      break;
    case FamilyName::kDefault:
      forget_whole_ = true;
      if (repaired_before_) LoseLog(reason + ", with what an earlier repair noted as lost");
      break;
    case FamilyName::kUnknown:
      break;
  }
}

void RepairLosses::LoseUser(const FamilyName& family, const std::string& user,
                            const std::string& reason) {
  by_key_[KeyOf(family)].Absorb({now_ms_, reason, {{user, user + '\0'}}});
}

Status RepairLosses::Write(const std::map<std::string, Policy>& policies, RebuiltShard* shard,
                           std::vector<std::string>* texts) {
  if (!log_.reason.empty()) {
    for (const auto& [name, policy] : policies) by_key_[LostKey(name)].Absorb(log_);
  }
  Status put;
  for (auto& [key, losses] : by_key_) {
    texts->push_back(key.substr(sizeof(kLostPrefix) - 1) + ": " + losses.reason);
    std::string stored;
    if (shard->db()->Get({}, shard->meta(), key, &stored).ok()) {
      if (const auto before = Losses::FromJson(stored)) losses.Absorb(*before);
    }
    if (put.ok()) put = shard->PutMeta(key, losses.ToJson());
  }
  for (const auto& [name, policy] : policies) {
    if (!forget_whole_ || !put.ok()) continue;
    put = shard->Delete(rocksdb::kDefaultColumnFamilyName, UnwatchedKey(name));
  }
  return put;
}

}  // namespace seendb
