// seendb/policy.h: what a collection remembers, for how long, and how precisely.
//
// A collection is a business with its own policy ("video", "article"). Time is cut into buckets;
// a filter request reads the newest `window` buckets, `retention` buckets are kept, and each
// older bucket is dropped whole.
//
//   seendb::PolicyPatch patch;
//   patch.bucket = seendb::BucketSpec{seendb::BucketKind::kDays, 10};
//   patch.window = 4; patch.retention = 4;
//   seendb::Status s = engine->PutCollection("article", patch);
//
// Threads: plain values.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/facts.h"
#include "seendb/status.h"

namespace seendb {

/// How event time is cut.
enum class BucketKind : uint8_t {
  kMonth = 0,  ///< calendar months
  kDays = 1,   ///< runs of `days` days counted from 1970-01-01
};

/// The length of a bucket. Fixed once a collection exists.
struct BucketSpec {
  BucketKind kind = BucketKind::kMonth;  ///< months, or runs of days
  uint16_t days = 0;                     ///< 1-366 for kDays, 0 for kMonth
  /// Same length.
  friend bool operator==(const BucketSpec&, const BucketSpec&) = default;
};

/// What a sealed bucket keeps for a user.
enum class Representation : uint8_t {
  kBloom = 0,  ///< lists, then Bloom layers: 1.7-2.4 bytes an item, false positives within fpr
  kExact = 1,  ///< lists for ever: 6 bytes an item, false positives below 1e-9
};

/// What an acknowledged play survives besides a killed process (which it always survives).
enum class Durability : uint8_t {
  kSync = 0,      ///< power loss: the log is synced before the acknowledgement
  kInterval = 1,  ///< power loss, but for the last Options::sync_interval_ms
  kNone = 2,      ///< power loss keeps a prefix of what was acknowledged
};

/// What a deletion from history says of the item's future.
enum class DeletedItems : uint8_t {
  kStayFiltered = 0,    ///< it stays seen
  kRecommendAgain = 1,  ///< it is unseen again until it is played anew
};

/// What a play within a pause of the history does to the filter.
enum class WhenPaused : uint8_t {
  kFilterLearns = 0,   ///< the item is seen all the same
  kFilterIgnores = 1,  ///< nothing is recorded
};

/// Whether and how a collection keeps exact history; see history.h. Every field may change.
struct HistoryPolicy {
  bool enabled = false;
  bool ids_only = false;          ///< ids and times only: no progress, device, fields
  uint32_t days = 90;             ///< kept, beside the bucket they end in; 1-3,660
  uint32_t max_entries = 10'000;  ///< a user; the oldest leave; 1-1,000,000
  DeletedItems deleted_items = DeletedItems::kStayFiltered;
  WhenPaused when_paused = WhenPaused::kFilterLearns;
  /// Equal in every field.
  friend bool operator==(const HistoryPolicy&, const HistoryPolicy&) = default;
};

/// Which exposures a collection keeps of a user. Every field may change.
struct ExposurePolicy {
  uint32_t recent = 1'000;  ///< the newest so many, 1-10,000
  uint32_t days = 30;       ///< those that are not older, 1-3,660
  /// Equal in every field.
  friend bool operator==(const ExposurePolicy&, const ExposurePolicy&) = default;
};

/// Whether a loaded server still verifies where a filter request asks for it.
enum class VerifyOnLoad : uint8_t {
  kKeep,  ///< it does
  kDrop,  ///< it may leave that out
};

/// What a loaded server may leave out of the answers to filter requests, before it refuses some. By
/// default nothing. The engine does nothing with it: whoever asks it does. Every field may change.
struct LoadPolicy {
  /// Least share of the candidates, the first ones, that is examined, 0.1..1. Below 1, the least
  /// important requests may be answered from memory alone as well.
  double min_share = 1;
  VerifyOnLoad verify = VerifyOnLoad::kKeep;
  /// Equal in every field.
  friend bool operator==(const LoadPolicy&, const LoadPolicy&) = default;
};

/// How long events are counted by the groups of one kind (seendb/counts.h).
struct CountedKind {
  /// "author" is of the groups `author` and `author:*`, "item" of the item itself besides. Without
  /// ':', 1-kMaxGroupBytes bytes.
  std::string kind;
  int64_t for_ms = kCountedForMs;  ///< kMinCapMs to kCountedForMs
  /// Equal in every field.
  friend bool operator==(const CountedKind&, const CountedKind&) = default;
};
/// Most kinds that a policy names.
inline constexpr size_t kMaxCountedKinds = 16;

/// A Cap that holds for every request of a collection.
struct PolicyCap {
  std::string of;             ///< see Cap
  Fact fact = Fact::kServed;  ///< see Cap
  uint32_t n = 1;             ///< see Cap
  int64_t within_ms = 0;      ///< see Cap; not longer than its kind is counted
  /// Equal in every field.
  friend bool operator==(const PolicyCap&, const PolicyCap&) = default;
};

/// Bounds of Policy::max_filter_bytes.
inline constexpr uint64_t kMinFilterBytes = 512;
inline constexpr uint64_t kMaxFilterBytes = 256ULL << 20;

/// A collection's policy, all fields set. Defaults are the short-video policy.
struct Policy {
  BucketSpec bucket;            ///< fixed (as the others: while the collection holds anything)
  uint32_t window = 4;          ///< buckets a filter request reads, the current one included; fixed
  uint32_t retention = 6;       ///< buckets kept; 1 <= window <= retention <= 128
  double fpr = 0.01;            ///< false-positive budget of the whole window, 1e-6..0.5; fixed
  uint32_t impressions = 100;   ///< newest served items kept a user, 0-10,000
  bool served_is_seen = false;  ///< an impression also counts as a play
  Representation representation = Representation::kBloom;  ///< fixed
  /// Ceiling a user and bucket, kMinFilterBytes..kMaxFilterBytes; 0: room for 130,000 items.
  uint64_t max_filter_bytes = 0;
  Durability durability = Durability::kInterval;  ///< against power loss
  int64_t max_future_ms = 24 * 3'600'000LL;  ///< plays later than now + this are refused; 0..366 d
  int32_t utc_offset_minutes = 0;  ///< shifts bucket edges and the maintenance window; fixed
  HistoryPolicy history{};         ///< the exact side: off by default
  bool first_of_day = false;       ///< tell a user's first play of a day, see RecordResult
  bool impression_ids = false;     ///< impressions keep their items' ids, for people to read
  /// What load may cost its answers: nothing by default.
  LoadPolicy on_load{};
  ExposurePolicy exposures{};    ///< what is kept of items that were on screen
  bool exposed_is_seen = false;  ///< they count where a question does not say what counts
  /// Each kind once. One that is not named is counted for kCountedForMs, `item` not at all. A
  /// longer time brings nothing back.
  std::vector<CountedKind> counts{};
  std::vector<PolicyCap> caps{};  ///< besides those of a request, at most kMaxCaps
  /// Equal in every field.
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// A change to a HistoryPolicy, as PolicyPatch.
struct HistoryPatch {
  std::optional<bool> enabled;                ///< see HistoryPolicy
  std::optional<bool> ids_only;               ///< see HistoryPolicy
  std::optional<uint32_t> days;               ///< see HistoryPolicy
  std::optional<uint32_t> max_entries;        ///< see HistoryPolicy
  std::optional<DeletedItems> deleted_items;  ///< see HistoryPolicy
  std::optional<WhenPaused> when_paused;      ///< see HistoryPolicy
};

/// Changes to a LoadPolicy; unset fields stay as they are.
struct LoadPatch {
  std::optional<double> min_share;     ///< see LoadPolicy
  std::optional<VerifyOnLoad> verify;  ///< see LoadPolicy
};

/// Changes to an ExposurePolicy; unset fields stay as they are.
struct ExposurePatch {
  std::optional<uint32_t> recent;  ///< see ExposurePolicy
  std::optional<uint32_t> days;    ///< see ExposurePolicy
};

/// A change to a policy: an absent field takes the default when the collection is created and
/// stays as it is afterwards.
struct PolicyPatch {
  std::optional<BucketSpec> bucket;              ///< see Policy
  std::optional<uint32_t> window;                ///< see Policy
  std::optional<uint32_t> retention;             ///< see Policy
  std::optional<double> fpr;                     ///< see Policy
  std::optional<uint32_t> impressions;           ///< see Policy
  std::optional<bool> served_is_seen;            ///< see Policy
  std::optional<Representation> representation;  ///< see Policy
  std::optional<uint64_t> max_filter_bytes;      ///< see Policy
  std::optional<Durability> durability;          ///< see Policy
  std::optional<int64_t> max_future_ms;          ///< see Policy
  std::optional<int32_t> utc_offset_minutes;     ///< see Policy
  HistoryPatch history{};                        ///< see Policy
  std::optional<bool> first_of_day;              ///< see Policy
  std::optional<bool> impression_ids;            ///< see Policy
  LoadPatch on_load{};                           ///< see Policy
  ExposurePatch exposures{};                     ///< see Policy
  std::optional<bool> exposed_is_seen;           ///< see Policy
  /// All of them: kinds that it does not name lose what was said of them.
  std::optional<std::vector<CountedKind>> counts;
  std::optional<std::vector<PolicyCap>> caps;  ///< all of them, too
};

/// Checks a collection's name: `[a-z0-9][a-z0-9_-]{0,63}`.
Status ValidateCollectionName(std::string_view name);

/// Checks every limit above; `field` names the first violated one ("/window", "/caps/0/n").
Status ValidatePolicy(const Policy& policy);

/// `base` with the fields of `patch` put over it.
Policy ApplyPatch(const Policy& base, const PolicyPatch& patch);

/// kIncompatible, naming every fixed field that `patch` would change.
Status CheckFixedFields(const Policy& current, const PolicyPatch& patch);
/// Whether two policies are the same in all fixed fields.
bool SameFixedFields(const Policy& one, const Policy& other);

/// The bytes a user and bucket may take: max_filter_bytes, or its default worked out.
uint64_t EffectiveMaxFilterBytes(const Policy& policy);

/// The policy as a JSON object: `{"bucket":"days:10","window":4,"retention":6,"fpr":0.01,
/// "impressions":100,"served_is_seen":false,"representation":"bloom","max_filter_bytes":N,
/// "durability":"interval","max_future":"24h","utc_offset":"+08:00","history":{"enabled":true,
/// "ids_only":false,"days":90,"max_entries":10000,"deleted_items":"stay_filtered",
/// "when_paused":"filter_learns"},"first_of_day":true,"on_load":{"min_share":0.5,
/// "verify":"drop"},"exposures":{"recent":1000,"days":7},"exposed_is_seen":true,
/// "counts":{"author":"7d","item":"30d"},"caps":[{"of":"author","fact":"served","n":2,
/// "within":"24h"}]}`; `history`, `on_load` and `exposures` are left out where they are all
/// defaults, `first_of_day`, `impression_ids` and `exposed_is_seen` where they are off, `counts`
/// and `caps` where they name none.
std::string PolicyToJson(const Policy& policy);

/// Reads the same object, each field optional; null is as if absent. Unknown and repeated fields,
/// wrong types and values out of range are refused with kInvalidArgument naming the field.
Result<PolicyPatch> PolicyPatchFromJson(std::string_view json);

/// The times a bucket's label can name: those of the years 1 to 9998, in any time zone. No other
/// play is accepted, no other clock believed.
inline constexpr int64_t kFirstTimeMs = -62'135'596'800'000;
inline constexpr int64_t kLastTimeMs = 253'370'764'799'999;
/// The bucket index of a time: months since year 0, or days since 1970 divided by `days`.
int64_t BucketIndexOf(const Policy& policy, int64_t at_ms) noexcept;
/// The oldest bucket that is still kept by Policy::retention.
int64_t OldestBucket(const Policy& policy, int64_t now_ms) noexcept;
/// The oldest bucket whose history is still kept: that of the time Policy::history.days ago.
int64_t OldestHistoryBucket(const Policy& policy, int64_t now_ms);
/// The day of a time, since 1970-01-01, in the policy's time zone.
int64_t DayOf(const Policy& policy, int64_t at_ms) noexcept;
/// A day as text: "2026-11-20".
std::string DayText(int64_t day);
Result<int64_t> DayOfText(std::string_view text);  ///< and back; kInvalidArgument: it is none
/// First millisecond of a bucket, and of the one after it.
int64_t BucketBeginMs(const Policy& policy, int64_t bucket_index) noexcept;
/// The bucket's label: "2026-11" for months, the first day "2026-11-20" for days.
std::string BucketLabel(const Policy& policy, int64_t bucket_index);
/// The index of a label; kInvalidArgument where it is none of this policy's.
Result<int64_t> BucketIndexOfLabel(const Policy& policy, std::string_view label);

}  // namespace seendb
