// shard/history_whole.h: decides for which buckets a user's history is complete. Only there does
// the absence of an item prove that it was not played.
//
// History is incomplete:
// 1. for times before it was enabled, and for `max_future` after that: the filters may have plays
//    that came before and lie ahead of the clock;
// 2. while served items count as plays (`served_is_seen`), and for `max_future` after that;
// 3. for times that are older than `days`, or were cleared, evicted or dropped;
// 4. during a pause in which the filters still learned, and for `max_future` after it.

#pragma once

#include <cstdint>

#include "format/user_codec.h"
#include "tables/table_set.h"

namespace seendb {

/// Whether history is complete for a bucket: whether it has each of the user's plays that the
/// filter of the bucket may have, as an entry or a deletion, in that bucket or a newer one.
/// `settings`: the user's record; null: there is none. Precondition: `family` and `settings` were
/// read after the history.
bool HistoryIsWhole(const CollectionFamilies& family, const UserRecord* settings, int64_t bucket,
                    int64_t now_ms);

/// The latest time of a play that history may lack because of a change of policy at `now_ms`;
/// kNeverMs: it lacks none because of that. `newest_ms`: what NewestAheadMs (history_edit.h) says
/// of plays ahead of the clock.
int64_t HistoryIncompleteUpToMs(const Policy& before, const Policy& after, int64_t now_ms,
                                int64_t newest_ms);

/// The same where the earlier policy is not known any more: the longest `max_future` counts.
int64_t HistoryIncompleteUpToMs(int64_t now_ms);

}  // namespace seendb
