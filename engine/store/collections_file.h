// store/collections_file.h: the file COLLECTIONS in a database's root: which collections there are,
// and their policies. A shard that is not there when one changes learns of it here. Shards keep
// copies (`collection/NAME`), so that a shard's folder can be carried elsewhere, and so that older
// software opens the database.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <rocksdb/env.h>

#include "seendb/policy.h"
#include "seendb/status.h"

namespace seendb {

/// What is known of a name that a collection has, or had.
struct CollectionRecord {
  uint64_t making = 0;           ///< Making::number: collections that had the name before
  uint64_t revision = 0;         ///< grows with every change of the policy
  std::optional<Policy> policy;  ///< nothing: it was deleted, and the next one is `making`

  friend bool operator==(const CollectionRecord&, const CollectionRecord&) = default;
};
using CollectionRecords = std::map<std::string, CollectionRecord, std::less<>>;

inline constexpr char kCollectionsName[] = "COLLECTIONS";

/// Reads `<root>/COLLECTIONS`; nothing where there is none. `changing` (may be null): as written.
/// kCorruption: it is damaged.
Result<std::optional<CollectionRecords>> ReadCollections(rocksdb::Env* env, const std::string& root,
                                                         bool* changing = nullptr);
/// Replaces `<root>/COLLECTIONS` atomically, synced. `changing`: some shard may know more than the
/// file.
Status WriteCollections(rocksdb::Env* env, const std::string& root,
                        const CollectionRecords& records, bool changing = false);

}  // namespace seendb
