// tables/meta_keys.h: the keys of the family `default` (format.md, "Names").

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace seendb {

inline constexpr char kIdentityKey[] = "identity";
inline constexpr char kRingKey[] = "ring";
inline constexpr char kCollectionPrefix[] = "collection/";
inline constexpr char kPolicyPrefix[] = "policy/";
inline constexpr char kMadePrefix[] = "made/";
inline constexpr char kUnwatchedPrefix[] = "unwatched/";
inline constexpr char kDroppedPrefix[] = "dropped/";
inline constexpr char kClockKey[] = "clock";
inline constexpr char kSealedPrefix[] = "sealed/";
inline constexpr char kDamagedPrefix[] = "damaged/";
inline constexpr char kLostPrefix[] = "lost/";
inline constexpr char kLostOwnKey[] = "lost_own";
inline constexpr char kFormerLostKey[] = "former_lost";
inline constexpr char kSourcePrefix[] = "source/";
inline constexpr char kTopicPrefix[] = "topic/";
inline constexpr char kLatePrefix[] = "late/";
inline constexpr char kErasingPrefix[] = "erasing/";
inline constexpr char kPurgedKey[] = "purged";
inline constexpr char kOutboxPrefix[] = "outbox/";

/// What becomes of a record when its shard is made anew of its tables and logs (rebuilt_meta.h).
/// An old version of a record may be read there although it was deleted later.
enum class MetaRebuild : uint8_t {
  kAnew,     ///< the repair writes its own
  kNewest,   ///< the newest version is kept
  kJoined,   ///< a marker of a loss: all versions are kept, as one
  kDropped,  ///< holds for the old shard's tables and logs alone
};

/// A kind of records of the family `default`.
struct MetaKey {
  std::string_view key;  ///< ends with '/': a prefix
  MetaRebuild rebuild;
  bool lost_with_log;  ///< deleted when a part of the log is lost
};
inline constexpr MetaKey kMetaKeys[] = {
    {kIdentityKey, MetaRebuild::kAnew, false},
    {kRingKey, MetaRebuild::kAnew, false},
    {kCollectionPrefix, MetaRebuild::kNewest, false},
    {kMadePrefix, MetaRebuild::kNewest, false},
    {kUnwatchedPrefix, MetaRebuild::kNewest, false},
    {kDroppedPrefix, MetaRebuild::kNewest, false},
    {kClockKey, MetaRebuild::kNewest, false},
    {kErasingPrefix, MetaRebuild::kNewest, false},
    {kSealedPrefix, MetaRebuild::kDropped, false},
    {kLatePrefix, MetaRebuild::kDropped, false},
    {kDamagedPrefix, MetaRebuild::kDropped, false},
    {kLostPrefix, MetaRebuild::kJoined, false},
    {kLostOwnKey, MetaRebuild::kJoined, false},
    {kFormerLostKey, MetaRebuild::kNewest, false},
    {kSourcePrefix, MetaRebuild::kDropped, true},
    {kTopicPrefix, MetaRebuild::kDropped, true},
    {kOutboxPrefix, MetaRebuild::kNewest, false},  // what was told may be told again
    {kPurgedKey, MetaRebuild::kDropped, false},
    {kPolicyPrefix, MetaRebuild::kDropped, false},  // the file COLLECTIONS is believed then
};
/// What becomes of this record; a kind that is not in the table is kept.
MetaRebuild RebuildOf(std::string_view key);

/// The value of kRingKey, and what it says; nothing where the text is damaged.
std::string RingState(uint64_t epoch);
std::optional<uint64_t> ParseRingState(std::string_view json);

/// Which revision of a collection's policy the shard's copy is. Software that does not know of it
/// changes the copy alone.
inline std::string PolicyKey(std::string_view collection) {
  return std::string(kPolicyPrefix).append(collection);
}
/// Its value.
struct PolicyMark {
  uint64_t revision = 0;  ///< CollectionRecord::revision
  uint64_t sum = 0;       ///< HashBytes of the copy, as it is stored

  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<PolicyMark> FromJson(std::string_view json);
};

/// Which collection of a name this is, where one before it was deleted or began anew.
inline std::string MadeKey(std::string_view collection) {
  return std::string(kMadePrefix).append(collection);
}
/// Its value.
struct Making {
  uint64_t number = 0;    ///< of those that had the name before, those that hold nothing more
  uint64_t sequence = 0;  ///< of the shard: journal records at or below it are of those before
  bool deleting = false;  ///< the one before is still being deleted

  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<Making> FromJson(std::string_view json);
  friend bool operator==(const Making&, const Making&) = default;
};

/// Up to when a collection's history may lack plays: a time in ms, as decimal text.
inline std::string UnwatchedKey(std::string_view collection) {
  return std::string(kUnwatchedPrefix).append(collection);
}

/// The newest bucket of a collection whose filters are gone.
inline std::string DroppedKey(std::string_view collection) {
  return std::string(kDroppedPrefix).append(collection);
}
/// Its value, and the bucket's label in it; nothing where the text is damaged.
std::string DroppedValue(std::string_view label);
std::optional<std::string> ParseDropped(std::string_view json);

/// The value of kClockKey.
struct ClockNote {
  uint64_t epoch = 0;               ///< of the opening that wrote it
  std::optional<int64_t> noted_ms;  ///< the newest time noted; nothing where none was

  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<ClockNote> FromJson(std::string_view json);
};

/// The value of kPurgedKey: up to which erasure the shard's disk was freed of what erasures left.
struct PurgeNote {
  uint64_t sequence = 0;  ///< of the shard
  int64_t at_ms = 0;      ///< when that was

  std::string ToJson() const;
  /// Nothing where the text is damaged.
  static std::optional<PurgeNote> FromJson(std::string_view json);
};

/// How far a partition of a topic has been applied.
inline std::string SourceKey(std::string_view topic, uint32_t partition) {
  return std::string(kSourcePrefix).append(topic).append("/").append(std::to_string(partition));
}

/// Which log it is whose partition was applied.
inline std::string TopicKey(std::string_view topic, uint32_t partition) {
  return std::string(kTopicPrefix).append(topic).append("/").append(std::to_string(partition));
}
/// Its value where the partition's offset was lost, and whether a value says that.
std::string ForgottenTopicState();
bool SaysForgotten(std::string_view json);

/// There while rows of an erased user's history are being deleted; and its value, with the time up
/// to which they go.
inline std::string ErasingKey(std::string_view user) {
  return std::string(kErasingPrefix).append(user);
}
std::string ErasingState(int64_t at_ms);
std::optional<int64_t> ParseErasingState(std::string_view json);

/// Marks a bucket as sealed.
inline std::string SealedKey(std::string_view collection, std::string_view bucket) {
  return std::string(kSealedPrefix).append(collection).append("/").append(bucket);
}
/// Its value, and what it says: LateKey's count when the seal began; nothing where it does not say.
std::string SealedState(uint64_t late_total);
std::optional<uint64_t> ParseSealedState(std::string_view json);

/// How many items were merged into a bucket after it was sealed, in decimal. Seals do not reset it.
inline std::string LateKey(std::string_view collection, std::string_view bucket) {
  return std::string(kLatePrefix).append(collection).append("/").append(bucket);
}

/// What of the log a collection has lost.
inline std::string LostKey(std::string_view collection) {
  return std::string(kLostPrefix).append(collection);
}

/// In place of a bucket's label: the impressions.
inline constexpr char kImpressionsLabel[] = "impressions";
/// The same: the exposures.
inline constexpr char kExposuresLabel[] = "exposures";
/// The same: the counts.
inline constexpr char kCountsLabel[] = "counts";
/// The same, in the DataLossSet of a shard: the family `own`.
inline constexpr char kOwnLabel[] = "own";

/// What a bucket, or the impressions, have lost.
inline std::string LostKey(std::string_view collection, std::string_view bucket) {
  return LostKey(collection).append("/").append(bucket);
}

/// The same of a bucket's history.
inline constexpr char kHistoryLabelPrefix[] = "history/";
inline std::string LostHistoryKey(std::string_view collection, std::string_view bucket) {
  return LostKey(collection, kHistoryLabelPrefix).append(bucket);
}

}  // namespace seendb
