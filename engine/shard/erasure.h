// shard/erasure.h: the batch that makes a user be forgotten, wholly or in collections' filters:
// their record, their plays and impressions in the database, what is staged, the short-term store.
// Rows of history and of the outbox follow later (erase.h, history_clear.h).

#pragma once

#include <cstdint>
#include <string_view>

#include "seendb/events.h"
#include "shard/parts.h"

namespace seendb {

/// Forgets a user, synced. Of history the rows up to `at_ms` stay, and do not count: the caller
/// deletes them, as the key erasing/<user> says. That key is written where there are tables of
/// history, in the batch of the erasure. Of a user of whom nothing is held nothing is written,
/// unless `always`. Sets all of `*done` but its time.
Status CommitErase(ShardParts& shard, std::string_view user, int64_t at_ms, bool always,
                   Erasure* done) EXCLUDES(shard.apply_lock);

/// Forgets the user's plays and impressions in the collections that `*record` has marks of, as an
/// erasure at `at_ms` would; notes so there, and unites the user's record with it. All or nothing;
/// the caller syncs the log once it has released the apply lock.
Status CommitForget(ShardParts& shard, std::string_view user, int64_t at_ms, UserRecord* record)
    REQUIRES(shard.apply_lock);

}  // namespace seendb
