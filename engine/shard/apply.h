// shard/apply.h: one shard's part of a call is written: verdict, journal, the other writes and how
// far a log was read in one batch; then it is staged.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "seendb/ingest.h"
#include "shard/batch.h"
#include "shard/events.h"
#include "shard/parts.h"

namespace seendb {

/// How far a write takes its sources; stored in the same batch.
struct LogPart {
  const IngestBatch& batch;
  std::span<const Refusal> refused;  ///< of the shard's users: their times are refused
  uint32_t shards = 1;               ///< of the database
};

/// One shard's part of a call.
struct ShardWrite {
  const Collection& collection;
  const GivenEvents& given;
  std::span<const ShardEvent> events;
  const LogPart* log = nullptr;  ///< null: not out of a log
};

/// Whether the shard would take a batch of a log: it is sound, and has stored no less of each
/// source than the batch goes on from. kIncompatible names the source. Offsets go only while the
/// shard is opened anew.
Status CheckLog(ShardParts& shard, const IngestBatch& batch) REQUIRES_SHARED(shard.use);

/// Looks up the records of the events' users, so that a write finds them in memory. kIncomplete:
/// the tier does not tell.
Status LoadUsers(const ShardParts& shard, std::span<const ShardEvent> events, RecordTier tier)
    REQUIRES_SHARED(shard.use);

/// Writes it. On return it is visible to every read, and on disk as the policy's durability says.
/// `firsts`: who may play first today, claimed; null: the policy asks for no first plays. `pin`:
/// room for what is staged, null where nothing is. Adds to `*result`; of a log, an event that the
/// shard has had is in none of its numbers. kIOError: the outcome is open.
Status Apply(ShardParts& shard, const ShardWrite& write, FirstPlays* firsts, const SlotPin* pin,
             RecordResult* result) REQUIRES_SHARED(shard.use) EXCLUDES(shard.apply_lock);

}  // namespace seendb
