#include "seendb/policy.h"

#include <algorithm>

#include "base/counted_kinds.h"
#include "base/durations.h"
#include "base/policy_fields.h"

namespace seendb {
namespace {

constexpr size_t kMaxNameBytes = 64;

std::string PointerOf(std::string_view field) { return std::string("/").append(field); }

}  // namespace

Status ValidateCollectionName(std::string_view name) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  bool good = !name.empty() && name.size() <= kMaxNameBytes && is_alphanumeric(name[0]);
  for (const char c : name) good = good && (is_alphanumeric(c) || c == '_' || c == '-');
  if (good) return Status::Ok();
  return Status::InvalidArgument("collection names match [a-z0-9][a-z0-9_-]{0,63}");
}

Status ValidatePolicy(const Policy& policy) {
  for (const PolicyField& field : PolicyFields()) {
    if (field.valid(policy)) continue;
    if (field.check_parts != nullptr) return field.Refusal(field.check_parts(policy));
    return Status::InvalidArgument(std::string(field.name).append(" ").append(field.rule()),
                                   PointerOf(field.name));
  }
  if (policy.window > policy.retention) {
    return Status::InvalidArgument(
        "window must not be above retention, which is " + std::to_string(policy.retention),
        "/window");
  }
  for (size_t i = 0; i < policy.caps.size(); ++i) {
    const PolicyCap& cap = policy.caps[i];
    const Status counted =
        CheckCapIsCounted({cap.of, cap.fact, cap.n, cap.within_ms}, policy.counts);
    if (counted.ok()) continue;
    const std::string field = "caps/" + std::to_string(i) + std::string(counted.field());
    return Status::InvalidArgument(field + " " + std::string(counted.message()), "/" + field);
  }
  return Status::Ok();
}

Policy ApplyPatch(const Policy& base, const PolicyPatch& patch) {
  Policy policy = base;
  for (const PolicyField& field : PolicyFields()) field.apply(patch, &policy);
  return policy;
}

Status CheckFixedFields(const Policy& current, const PolicyPatch& patch) {
  std::string names;
  std::string first;
  for (const PolicyField& field : PolicyFields()) {
    if (!field.fixed || !field.changes(patch, current)) continue;
    names.append(names.empty() ? "" : ", ").append(field.name);
    if (first.empty()) first = PointerOf(field.name);
  }
  if (names.empty()) return Status::Ok();
  return Status::Incompatible(
      "fixed while the collection holds a play, an impression, an exposure or history: " + names,
      std::move(first));
}

bool SameFixedFields(const Policy& one, const Policy& other) {
  const Result<PolicyPatch> patch = PolicyPatchFromJson(PolicyToJson(other));
  return patch.ok() && CheckFixedFields(one, *patch).ok();
}

int64_t OldestBucket(const Policy& policy, int64_t now_ms) noexcept {
  return BucketIndexOf(policy, now_ms) - static_cast<int64_t>(policy.retention) + 1;
}

int64_t OldestHistoryBucket(const Policy& policy, int64_t now_ms) {
  return BucketIndexOf(policy, now_ms - int64_t{policy.history.days} * kMsPerDay);
}

}  // namespace seendb
