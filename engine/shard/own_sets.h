// shard/own_sets.h: the sets of a user (seendb/user_sets.h): rows of the family `own`, a set each.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/item_set.h"
#include "seendb/user_sets.h"
#include "shard/parts.h"

namespace seendb {

/// Engine::PutUserSet. Precondition: the set is valid, `items` are ascending, each once. `sync`: on
/// disk before it answers.
Status PutOwnSet(ShardParts& shard, const std::string& user, const UserSet& set,
                 std::vector<std::string_view> items, int64_t now_ms, bool sync, UserSetInfo* info)
    REQUIRES_SHARED(shard.use);
/// Engine::DeleteUserSet.
Status DeleteOwnSet(ShardParts& shard, const std::string& user, std::string_view name,
                    const CallTime& at_ms, int64_t now_ms, bool* deleted)
    REQUIRES_SHARED(shard.use);
/// Engine::ListUserSets.
Status ListOwnSets(const ShardParts& shard, const std::string& user, UserSetList* list)
    REQUIRES_SHARED(shard.use);
/// Engine::ReadUserSet.
Status ReadOwnSet(const ShardParts& shard, const std::string& user, std::string_view name,
                  std::string_view after, size_t limit, UserSetPage* page)
    REQUIRES_SHARED(shard.use);

/// The newest time, to `reach_ms` at most, that something was said of a set of the user; kNeverMs:
/// of none that can be read.
int64_t NewestSetMs(const ShardParts& shard, const std::string& user, int64_t reach_ms);

/// Sets that a filter request names, as they are for one user.
struct NamedSets {
  std::vector<ExcludedSet> sets;                     ///< null where nobody has one of the name
  std::vector<std::shared_ptr<const ItemSet>> held;  ///< what `sets` points to, of the user's own
};
/// Puts the user's own sets in place of others of their names. One that can't be read leaves the
/// other, as a damaged one. False, and nothing changed, where memory alone is asked and can't tell.
/// Cost: a read a set where anybody of the shard has marks or sets.
bool FindOwnSets(const ShardParts& shard, std::string_view user, bool memory_only, NamedSets* named)
    REQUIRES_SHARED(shard.use);
/// The same of a shard that can't be entered: nothing is known of its users' sets.
void LoseOwnSets(NamedSets* named);

}  // namespace seendb
