// engine/collection_truth.h: which collection has a name, where the file COLLECTIONS and the shards
// say different things.
//
// They do after a crash between the writes of a change, where a shard was absent meanwhile, where a
// shard was repaired, and where older software, which knows neither the file nor revisions, had the
// database open.

#pragma once

#include <span>

#include "shard/policies.h"
#include "store/collections_file.h"

namespace seendb {

/// What holds. `filed`: the file's word; null: it has none. `claims`: what each shard says that
/// says anything, lowest shard first.
///
/// The highest making wins: shards are told of a deletion, or a collection that begins anew, before
/// the file. Of one making, a policy that older software changed wins, then the highest revision,
/// then the file, then the lowest shard. Where all of that making say that it is gone, it is.
CollectionRecord SettleCollection(const CollectionRecord* filed,
                                  std::span<const CollectionClaim> claims);

/// kIncompatible where a shard knows a later collection than the records, or another policy of one,
/// by a later change.
Status CheckNoneLater(const CollectionRecords& records, const CollectionClaims& claims);

}  // namespace seendb
