// shard/history_whole.h: where a user's history can be trusted to be all that the filters were
// told, so that what it lacks was not played.
//
// It is less than that before it was switched on and up to the latest time that plays of before may
// have; while served items count as plays; where entries went: beyond `days`, cleared, evicted; and
// where plays in a pause taught the filters alone.

#pragma once

#include <cstdint>

#include "format/user_codec.h"
#include "tables/table_set.h"

namespace seendb {

/// Whether all that plays told the filter of a user's bucket is in the user's history, as an entry
/// or a deletion, there or in a newer bucket. `settings` may be null. What they say must have been
/// read after the history.
bool HistoryIsWhole(const CollectionFamilies& family, const UserRecord* settings, int64_t bucket,
                    int64_t now_ms);

/// The latest time of a play that history may lack for a change of policy at `now_ms`; kNeverMs
/// where it lacks none for it. `newest_ms`: no play recorded so far has a later time.
int64_t HistoryIncompleteUpToMs(const Policy& before, const Policy& after, int64_t now_ms,
                                int64_t newest_ms);

/// The same where what was before is not known any more.
int64_t HistoryIncompleteUpToMs(int64_t now_ms);

}  // namespace seendb
