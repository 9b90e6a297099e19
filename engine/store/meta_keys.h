// store/meta_keys.h: the keys of the family `default` (format.md, "Names").

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace seendb {

inline constexpr char kIdentityKey[] = "identity";
inline constexpr char kRingKey[] = "ring";
inline constexpr char kCollectionPrefix[] = "collection/";
inline constexpr char kUnwatchedPrefix[] = "unwatched/";
inline constexpr char kSealedPrefix[] = "sealed/";
inline constexpr char kDamagedPrefix[] = "damaged/";
inline constexpr char kLostPrefix[] = "lost/";
inline constexpr char kSourcePrefix[] = "source/";

/// The value of kRingKey, and what it says; nothing where the text is damaged.
std::string RingState(uint64_t epoch);
std::optional<uint64_t> ParseRingState(std::string_view json);

/// Up to when a collection's history may lack plays: a time in ms, as decimal text.
inline std::string UnwatchedKey(std::string_view collection) {
  return std::string(kUnwatchedPrefix).append(collection);
}

/// How far a partition of a topic has been applied.
inline std::string SourceKey(std::string_view topic, uint32_t partition) {
  return std::string(kSourcePrefix).append(topic).append("/").append(std::to_string(partition));
}

/// Marks a bucket as sealed.
inline std::string SealedKey(std::string_view collection, std::string_view bucket) {
  return std::string(kSealedPrefix).append(collection).append("/").append(bucket);
}

/// What of the log a collection has lost.
inline std::string LostKey(std::string_view collection) {
  return std::string(kLostPrefix).append(collection);
}

/// In place of a bucket's label: the impressions.
inline constexpr char kImpressionsLabel[] = "impressions";

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
