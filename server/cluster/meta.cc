#include "cluster/meta.h"

#include <algorithm>

namespace seendb::cluster {
namespace {

constexpr char kDefaultCollection[] = "default";

Status DoesNotCount(std::string why) { return Status::InvalidArgument(std::move(why)); }

/// The policy with a patch over it.
Result<Policy> PatchedPolicy(const Policy& base, const std::string& patch) {
  const Result<PolicyPatch> read = PolicyPatchFromJson(patch);
  if (!read.ok()) return read.status();
  Policy policy = ApplyPatch(base, *read);
  if (Status valid = ValidatePolicy(policy); !valid.ok()) return valid;
  return policy;
}

}  // namespace

Status Meta::Apply(int64_t offset, std::string_view record) {
  if (offset < next_offset_) return {};
  const Result<MetaRecord> decoded = DecodeMeta(record);
  if (decoded.status().code() == StatusCode::kIncompatible) return decoded.status();
  next_offset_ = offset + 1;
  if (!decoded.ok()) return decoded.status();
  if (!init_ && !std::holds_alternative<InitRecord>(*decoded)) {
    return DoesNotCount("the cluster was not made yet");
  }
  return std::visit([&](const auto& one) { return Take(one, offset); }, *decoded);
}

bool Meta::Holds(std::string_view node) const {
  return std::any_of(placement_.assign.begin(), placement_.assign.end(), [&](const auto& list) {
    return std::find(list.begin(), list.end(), node) != list.end();
  });
}

Status Meta::Take(const InitRecord& record, int64_t) {
  if (init_) return DoesNotCount("the cluster was made before");
  const Result<Policy> policy = PatchedPolicy({}, record.default_policy);
  if (!policy.ok()) return DoesNotCount(std::string(policy.status().message()));
  init_ = record;
  log_version_ = record.log_version;
  collections_[kDefaultCollection] = {*policy, record.at_ms, 0};
  return {};
}

Status Meta::Take(const MemberRecord& record, int64_t) {
  const auto known = members_.find(record.node);
  if (known == members_.end() && members_.size() >= kMembersMost) {
    return DoesNotCount("there are " + std::to_string(kMembersMost) + " members");
  }
  const bool leaving = known != members_.end() && known->second.leaving && !record.rejoin;
  members_[record.node] = {record.url,   record.zone, record.weight,
                           record.build, leaving,     record.log_version};
  return {};
}

Status Meta::Take(const PlacementRecord& record, int64_t offset) {
  if (record.base != placement_.offset) {
    return DoesNotCount("the placement in force is that of offset " +
                        std::to_string(placement_.offset) + ", not " + std::to_string(record.base));
  }
  if (record.assign.size() != init_->partitions) {
    return DoesNotCount("a placement of " + std::to_string(record.assign.size()) + " partitions");
  }
  for (const auto& list : record.assign) {
    for (const std::string& node : list) {
      if (!members_.contains(node)) return DoesNotCount(node + " is no member");
    }
  }
  placement_ = {offset, record.assign};
  NoteNamed();
  return {};
}

void Meta::NoteNamed() {
  ever_named_.resize(placement_.assign.size());
  for (size_t p = 0; p < ever_named_.size(); ++p) {
    std::set<std::string>& named = ever_named_[p];
    for (const std::string& node : placement_.assign[p]) {
      if (named.size() < kNamedMost || named.contains(node)) {
        named.insert(node);
      } else {
        named.emplace(kOtherNodes);
      }
    }
  }
}

const std::set<std::string>& Meta::EverNamed(uint32_t partition) const {
  static const std::set<std::string> none;
  return partition < ever_named_.size() ? ever_named_[partition] : none;
}

Status Meta::Take(const CollectionRecord& record, int64_t offset) {
  const auto known = collections_.find(record.name);
  if (known == collections_.end()) {
    if (collections_.size() >= kCollectionsMost) {
      return DoesNotCount("there are " + std::to_string(kCollectionsMost) + " collections");
    }
    const Result<Policy> made = PatchedPolicy({}, record.patch);
    if (!made.ok()) return DoesNotCount(std::string(made.status().message()));
    collections_[record.name] = {*made, record.at_ms, offset};
    return {};
  }
  const Policy& current = known->second.policy;
  const Result<Policy> changed = PatchedPolicy(current, record.patch);
  if (!changed.ok()) return DoesNotCount(std::string(changed.status().message()));
  if (!SameFixedFields(current, *changed)) {
    return DoesNotCount("a field of " + record.name + " that is fixed would change");
  }
  known->second.policy = *changed;
  return {};
}

Status Meta::Take(const CollectionGoneRecord& record, int64_t) {
  if (collections_.erase(record.name) == 0) {
    return DoesNotCount("there is no collection " + record.name);
  }
  return {};
}

Status Meta::Take(const LeaveRecord& record, int64_t) {
  const auto known = members_.find(record.node);
  if (known == members_.end()) return DoesNotCount(record.node + " is no member");
  if (known->second.leaving && !Holds(record.node)) {
    members_.erase(known);
  } else {
    known->second.leaving = true;
  }
  return {};
}

Status Meta::Take(const LogVersionRecord& record, int64_t) {
  if (record.version <= log_version_) {
    return DoesNotCount("log records of version " + std::to_string(log_version_) +
                        " may be written already");
  }
  for (const auto& [node, member] : members_) {
    if (member.log_version < record.version) {
      return DoesNotCount(node + " reads log records up to version " +
                          std::to_string(member.log_version) + " only");
    }
  }
  log_version_ = record.version;
  return {};
}

}  // namespace seendb::cluster
