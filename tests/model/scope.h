// tests/model/scope.h: how large a world the model explores. All bounds are here and in the table
// of scopes (scope.cc), nowhere else.
//
// One world with everything in it is too large to be explored whole. A scope is a small world with
// the actions that concern each other; every action is in one scope at least.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace seendb::model {

inline constexpr int kCollections = 2;  ///< number 0 keeps history, number 1 does not
inline constexpr int kUsers = 2;
inline constexpr int kItems = 2;
inline constexpr int kBuckets = 3;  ///< of a day each
inline constexpr int kSlots = 3;
inline constexpr int kShards = 2;
/// A filter request reads this many buckets and all newer ones; so many are kept.
inline constexpr int kWindow = 1, kRetention = 2;

/// See the head of this file.
struct Scope {
  std::string_view name;
  std::string_view what;
  /// Which actions there are, by kind: bit `1 << Kind`.
  uint64_t actions = 0;
  int collections = 1, users = 1, items = 1, buckets = 1, slots = 2;
  int shards = 1;    ///< with two, user number 1 lives in shard number 1
  int unsynced = 1;  ///< writes of a shard since its last sync, at most
  int makings = 1;   ///< how often a collection is made, at most
  int messages = 0;  ///< of the log that is ingested
};

/// Users and items are alike: states that differ in their names alone are one state. Messages of a
/// log have fixed users and items, which are not alike then.
constexpr bool HasSymmetry(const Scope& scope) { return scope.messages == 0; }

std::span<const Scope> Scopes();
/// Null: no scope has that name.
const Scope* FindScope(std::string_view name);

}  // namespace seendb::model
