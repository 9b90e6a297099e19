#include "seendb/policy.h"

#include <cmath>
#include <vector>

namespace seendb {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr uint32_t kMaxRetention = 128;
constexpr uint32_t kMaxImpressions = 10'000;
constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kMaxFutureMs = 366 * kDayMs;
constexpr int32_t kMaxOffsetMinutes = 14 * 60;
constexpr uint32_t kMaxHistoryDays = 3'660;
constexpr uint32_t kMaxHistoryEntries = 1'000'000;

Status OutOfRange(const char* field, const char* rule) {
  return Status::InvalidArgument(std::string(field).append(" ").append(rule),
                                 std::string("/").append(field));
}

Status ValidateBucket(const BucketSpec& bucket) {
  if (bucket.kind == BucketKind::kMonth && bucket.days == 0) return Status::Ok();
  if (bucket.kind == BucketKind::kDays && bucket.days >= 1 && bucket.days <= 366) {
    return Status::Ok();
  }
  return OutOfRange("bucket", "must be \"month\" or \"days:N\" with N from 1 to 366");
}

Status ValidateHistory(const HistoryPolicy& history) {
  if (history.days < 1 || history.days > kMaxHistoryDays) {
    return OutOfRange("history/days", "must be from 1 to 3660");
  }
  if (history.max_entries < 1 || history.max_entries > kMaxHistoryEntries) {
    return OutOfRange("history/max_entries", "must be from 1 to 1000000");
  }
  if (history.deleted_items != DeletedItems::kStayFiltered &&
      history.deleted_items != DeletedItems::kRecommendAgain) {
    return OutOfRange("history/deleted_items", "must be \"stay_filtered\" or \"recommend_again\"");
  }
  if (history.when_paused != WhenPaused::kFilterLearns &&
      history.when_paused != WhenPaused::kFilterIgnores) {
    return OutOfRange("history/when_paused", "must be \"filter_learns\" or \"filter_ignores\"");
  }
  return Status::Ok();
}

template <typename T>
void Put(const std::optional<T>& from, T* to) {
  if (from) *to = *from;
}

template <typename T>
void NoteChange(const char* field, const T& current, const std::optional<T>& patch,
                std::vector<const char*>* changed) {
  if (patch && !(*patch == current)) changed->push_back(field);
}

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
  if (Status s = ValidateBucket(policy.bucket); !s.ok()) return s;
  if (policy.window < 1 || policy.window > kMaxRetention) {
    return OutOfRange("window", "must be from 1 to 128");
  }
  if (policy.retention < 1 || policy.retention > kMaxRetention) {
    return OutOfRange("retention", "must be from 1 to 128");
  }
  if (policy.window > policy.retention) {
    return OutOfRange("window", "must not be above retention");
  }
  if (!(policy.fpr >= 1e-6 && policy.fpr <= 0.5)) {
    return OutOfRange("fpr", "must be from 0.000001 to 0.5");
  }
  if (policy.impressions > kMaxImpressions) {
    return OutOfRange("impressions", "must be from 0 to 10000");
  }
  if (policy.representation != Representation::kBloom &&
      policy.representation != Representation::kExact) {
    return OutOfRange("representation", "must be \"bloom\" or \"exact\"");
  }
  if (policy.max_filter_bytes != 0 &&
      (policy.max_filter_bytes < kMinFilterBytes || policy.max_filter_bytes > kMaxFilterBytes)) {
    return OutOfRange("max_filter_bytes", "must be 0 or from 512 to 268435456");
  }
  if (policy.durability != Durability::kSync && policy.durability != Durability::kInterval &&
      policy.durability != Durability::kNone) {
    return OutOfRange("durability", "must be \"sync\", \"interval\" or \"none\"");
  }
  if (policy.max_future_ms < 0 || policy.max_future_ms > kMaxFutureMs) {
    return OutOfRange("max_future", "must be from 0 to 366 days");
  }
  if (policy.utc_offset_minutes < -kMaxOffsetMinutes ||
      policy.utc_offset_minutes > kMaxOffsetMinutes) {
    return OutOfRange("utc_offset", "must be from -14:00 to +14:00");
  }
  return ValidateHistory(policy.history);
}

Policy ApplyPatch(const Policy& base, const PolicyPatch& patch) {
  Policy policy = base;
  Put(patch.bucket, &policy.bucket);
  Put(patch.window, &policy.window);
  Put(patch.retention, &policy.retention);
  Put(patch.fpr, &policy.fpr);
  Put(patch.impressions, &policy.impressions);
  Put(patch.served_is_seen, &policy.served_is_seen);
  Put(patch.representation, &policy.representation);
  Put(patch.max_filter_bytes, &policy.max_filter_bytes);
  Put(patch.durability, &policy.durability);
  Put(patch.max_future_ms, &policy.max_future_ms);
  Put(patch.utc_offset_minutes, &policy.utc_offset_minutes);
  Put(patch.history.enabled, &policy.history.enabled);
  Put(patch.history.ids_only, &policy.history.ids_only);
  Put(patch.history.days, &policy.history.days);
  Put(patch.history.max_entries, &policy.history.max_entries);
  Put(patch.history.deleted_items, &policy.history.deleted_items);
  Put(patch.history.when_paused, &policy.history.when_paused);
  Put(patch.first_of_day, &policy.first_of_day);
  return policy;
}

Status CheckFixedFields(const Policy& current, const PolicyPatch& patch) {
  std::vector<const char*> changed;
  NoteChange("bucket", current.bucket, patch.bucket, &changed);
  NoteChange("utc_offset", current.utc_offset_minutes, patch.utc_offset_minutes, &changed);
  NoteChange("window", current.window, patch.window, &changed);
  NoteChange("fpr", current.fpr, patch.fpr, &changed);
  NoteChange("representation", current.representation, patch.representation, &changed);
  if (changed.empty()) return Status::Ok();
  std::string message = "fixed once the collection exists: ";
  for (size_t i = 0; i < changed.size(); ++i) {
    if (i > 0) message.append(", ");
    message.append(changed[i]);
  }
  return Status::Incompatible(std::move(message), std::string("/").append(changed.front()));
}

int64_t OldestHistoryBucket(const Policy& policy, int64_t now_ms) {
  return BucketIndexOf(policy, now_ms - int64_t{policy.history.days} * kDayMs);
}

}  // namespace seendb
