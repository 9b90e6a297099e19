// seendb/item_set.h: named sets of items that a filter request excludes, whoever asks.
//
//   const ExcludedSet excluded[] = {{"blocked", set.get()}};  // of SetStore::Find, or one's own
//   const Question question{.exclude_sets = excluded};
//   const FilterRequest request{.user = user, .items = items, .question = &question};
//
// The engine keeps sets of users alone (seendb/user_sets.h): others seendb/set_store.h does, or
// whoever asks. A user's own set of a name comes before the other. A member is excluded as if it
// was listed in FilterRequest::exclude, which comes first where both have it.
//
// Borrowed views: they must outlive the call they are passed to.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "seendb/cxx20.h"
#include "seendb/id.h"

namespace seendb {

/// Longest name of a set, in bytes of UTF-8.
inline constexpr size_t kMaxSetNameBytes = 64;
/// Most sets that one request names.
inline constexpr size_t kMaxExcludedSets = 8;

/// A set of items that does not change. Threads: any call on any thread.
class ItemSet {
 public:
  /// Nothing is known of its members afterwards.
  virtual ~ItemSet() = default;
  /// Makes `hits[i]` 1 where the set has `items[i]`, else 0. Waits for nothing; called on the hot
  /// path.
  virtual void Find(std::span<const IdRef> items, uint8_t* hits) const = 0;
  /// Members may be missing: answers that name the set are degraded, missing "set:NAME".
  virtual bool damaged() const = 0;
};

/// A set as a request names it.
struct ExcludedSet {
  std::string_view name = {};  ///< for Reason::group, and for `missing`
  /// Null: the user's own set of that name (seendb/user_sets.h), which comes before others.
  const ItemSet* items = nullptr;
};

}  // namespace seendb
