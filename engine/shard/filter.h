// shard/filter.h: the answer to one filter request: the sources of its user are read, the
// candidates probed against them, hits checked by history where that is asked for.

#pragma once

#include <chrono>
#include <string_view>

#include "query/elsewhere.h"
#include "seendb/events.h"
#include "shard/parts.h"

namespace seendb {

/// A request that is valid and has its turn.
struct FilterRead {
  const FilterRequest& request;
  const Collection& collection;
  std::string_view user;
  std::chrono::steady_clock::time_point deadline;  ///< max(): none
  bool late = false;                               ///< it has passed: only what memory has is asked
  const SeenElsewhere* elsewhere = nullptr;        ///< what other collections say; null: none asked
  bool for_union = false;  ///< what it finds seen is for a union: no candidate hides another
};

/// Fills in `*response`, which is empty: what can't be read is named as missing. False, and nothing
/// filled in, where the request asks memory alone and that can't tell.
/// AnswerFromMemory: of a shard that can't be entered, from its ring, short-term store and user
/// records alone.
bool AnswerFilter(const ShardParts& shard, const FilterRead& read, FilterResponse* response)
    REQUIRES_SHARED(shard.use);
void AnswerFromMemory(const ShardParts& shard, const FilterRead& read, FilterResponse* response);

}  // namespace seendb
