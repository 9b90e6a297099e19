// seendb/redis_ages.h: whether a collection's window holds what an old store has, looked at before
// the first key is imported: members that are older are recorded, and no filter counts them.

#pragma once

#include <cstdint>

#include "key_source.h"
#include "redis/client.h"
#include "redis/keys.h"
#include "seendb/policy.h"
#include "seendb/status.h"

namespace seendb::tool {

/// The times that a collection keeps and no filter reads, [begin_ms, end_ms).
struct Unread {
  int64_t begin_ms = 0;
  int64_t end_ms = 0;
};
Unread UnreadBy(const Policy& policy, int64_t now_ms);

/// kInvalidArgument, with numbers and the way out, where sorted sets among the first thousands of
/// `keys` have members in `unread`. Nothing is read of them but how many that are (ZCOUNT).
/// kUnavailable: Redis does not answer.
Status CheckAges(redis::Client& client, KeySource& keys, const redis::KeyTemplate& users,
                 redis::ScoreUnit unit, const Unread& unread);

}  // namespace seendb::tool
