#include "recovery/losses.h"

#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

constexpr char kUsersForgotten[] =
    ": erasures, clears, pauses, active days may be forgotten, and what they took come back";

}  // namespace

void RepairLosses::LoseRows(const std::string& family, const std::string& table,
                            const std::vector<UserRange>& ranges) {
  const FamilyName name = ParseFamilyName(family);
  const std::string reason = table + " was damaged";
  if (name.kind == nullptr) return;
  switch (name.kind->loss) {
    case Table::Loss::kUsersOfBucket:
    case Table::Loss::kUsersOfShard:
      by_key_[LossKeyOf(name)].Join({now_ms_, reason, ranges});
      break;
    case Table::Loss::kAllOfBucket:
      by_key_[LossKeyOf(name)].Join({now_ms_, reason, {}});
      break;
    case Table::Loss::kLog:
      LosePlays(reason + ", with staged plays");
      break;
    case Table::Loss::kUserRecords:
      forget_whole_ = true;
      notes_.push_back(reason + kUsersForgotten);
      break;
    case Table::Loss::kNames:
      forget_whole_ = true;
      if (repaired_before_) LosePlays(reason + ", with what an earlier repair noted as lost");
      break;
  }
}

void RepairLosses::LoseUser(const FamilyName& family, const std::string& user,
                            const std::string& reason) {
  by_key_[LossKeyOf(family)].Join({now_ms_, reason, {{user, user + '\0'}}});
}

Status RepairLosses::Write(const std::map<std::string, Policy>& policies, RebuiltShard* shard,
                           std::vector<std::string>* texts) {
  if (log_lost_) log_.reason += kForgottenWithLog;
  if (!log_.reason.empty()) {
    for (const auto& [name, policy] : policies) by_key_[LostKey(name)].Join(log_);
  }
  Status put;
  for (auto& [key, losses] : by_key_) {
    texts->push_back(key.substr(sizeof(kLostPrefix) - 1) + ": " + losses.reason);
    std::string stored;
    if (shard->db()->Get({}, shard->meta(), key, &stored).ok()) {
      if (const auto before = DataLoss::FromJson(stored)) losses.Join(*before);
    }
    if (put.ok()) put = shard->PutMeta(key, losses.ToJson());
  }
  for (const auto& [name, policy] : policies) {
    if (!forget_whole_ || !put.ok()) continue;
    put = shard->DeleteMeta(UnwatchedKey(name));
  }
  return put;
}

}  // namespace seendb
