// seendb/user_sets.h: sets of items of one user, which end by themselves: for a session's long list
// of what is not to be served.
//
//   const IdRef ids[] = {IdRef("v1"), IdRef(uint64_t{42})};
//   auto put = engine->PutUserSet({.user = user, .name = "session", .items = ids,
//                                  .lasts_ms = 3'600'000});
//   const ExcludedSet sets[] = {{"session"}};  // no set of others: the user's own
//   const Question question{.exclude_sets = sets};
//
// A set is exact, and is replaced whole: the one said last counts, in whatever order they come. A
// request finds a user's own set before the set of the same name that the caller brings. Sets are
// of no collection: an erasure takes them, a clear and a deletion from history do not.
//
// Borrowed views: they must outlive the call they are passed to. Threads: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/history.h"
#include "seendb/id.h"
#include "seendb/item_set.h"
#include "seendb/status.h"

namespace seendb {

/// Most ids of a user's own set, and of one page of it.
inline constexpr size_t kMaxUserSetItems = 10'000;
/// Most sets of a user that have not ended.
inline constexpr size_t kMaxUserSets = 16;
/// Longest time until a set ends: 30 days.
inline constexpr int64_t kMaxUserSetLastsMs = int64_t{30} * 24 * 3'600'000;

/// A set as it is put.
struct UserSet {
  IdRef user = {};
  std::string_view name = {};         ///< 1-kMaxSetNameBytes bytes of UTF-8
  std::span<const IdRef> items = {};  ///< at most kMaxUserSetItems; repeats count once
  int64_t lasts_ms = 0;               ///< it ends so long after it was said; to kMaxUserSetLastsMs
  CallTime at_ms = {};                ///< when it is said; absent: now, and after the former one
  /// When it arrived in the log that it comes out of, which stands for the clock's time.
  std::optional<int64_t> arrived_ms = {};
};

/// A set that has not ended.
struct UserSetInfo {
  std::string name;
  uint64_t count = 0;   ///< distinct ids
  int64_t at_ms = 0;    ///< when it was said
  int64_t ends_ms = 0;  ///< it is gone from then on
};

/// A user's sets.
struct UserSetList {
  std::vector<UserSetInfo> sets;  ///< by name
  bool degraded = false;          ///< something could not be read; sets may be missing
};

/// Some ids of a set.
struct UserSetPage {
  UserSetInfo info;
  std::vector<std::string> items;  ///< canonical texts, in the order of their bytes
  std::string after;               ///< for the next page; empty: this was the last
};

/// The part of an engine that keeps sets of users. Threads: any, at once.
class UserSets {
 public:
  /// Makes these ids the user's set of that name; gives the one that counts now. It lasts as plays
  /// of the collection that syncs soonest. kInvalidArgument: "/user", "/name", "/items",
  /// "/items/<index>", "/expires_ms", "/at". kIncompatible: kMaxUserSets others are there.
  virtual Result<UserSetInfo> PutUserSet(const UserSet& set) = 0;
  /// Deletes a set, synced; whether it was there. Repeated with its time it changes nothing.
  virtual Result<bool> DeleteUserSet(IdRef user, std::string_view name, CallTime at_ms = {}) = 0;
  /// Reads which sets there are into `*list` (cleared first).
  virtual Status ListUserSets(IdRef user, UserSetList* list) = 0;
  /// Reads `limit` (1-kMaxUserSetItems) ids behind `after` into `*page` (cleared first). kNotFound:
  /// no such set. kCorruption: it can't be read.
  virtual Status ReadUserSet(IdRef user, std::string_view name, std::string_view after,
                             size_t limit, UserSetPage* page) = 0;

 protected:
  ~UserSets() = default;
};

}  // namespace seendb
