// store/meta_keys.h: the keys of the family `default` (format.md, "Names").

#pragma once

#include <string>
#include <string_view>

namespace seendb {

inline constexpr char kIdentityKey[] = "identity";
inline constexpr char kRingKey[] = "ring";
inline constexpr char kCollectionPrefix[] = "collection/";
inline constexpr char kSealedPrefix[] = "sealed/";
inline constexpr char kDamagedPrefix[] = "damaged/";
inline constexpr char kLostPrefix[] = "lost/";
inline constexpr char kLostImpressions[] = "impressions";

/// Marks a bucket as sealed.
inline std::string SealedKey(std::string_view collection, std::string_view bucket) {
  return std::string(kSealedPrefix).append(collection).append("/").append(bucket);
}

/// What a bucket, or with kLostImpressions the impressions, of a collection have lost; without a
/// bucket, what the log has.
inline std::string LostKey(std::string_view collection, std::string_view bucket = {}) {
  std::string key = std::string(kLostPrefix).append(collection);
  return bucket.empty() ? key : key.append("/").append(bucket);
}

}  // namespace seendb
