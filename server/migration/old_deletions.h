// server/migration/old_deletions.h: what was deleted of a user, for the old stores that collections
// move in from.

#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "migration/migration.h"
#include "seendb/engine.h"
#include "wire/history_json.h"

namespace seendb::migration {

/// Items that may be shown again leave the old store, too. `migrations` may be null, here and
/// below; `place`: in a cluster's log.
inline void ForgetItemsInOldStore(const Migrations* migrations, const Policy& policy, IdRef user,
                                  const wire::ItemsCall& deleted,
                                  const std::optional<LogPlace>& place = {}) {
  if (policy.history.deleted_items != DeletedItems::kRecommendAgain) return;
  Migration* const migration =
      migrations == nullptr ? nullptr : migrations->Find(deleted.collection);
  if (migration != nullptr) migration->ForgetItems(user, deleted.items, place);
}

/// Nothing of a filter that was cleared is to come back out of the old store. No collections: all.
inline Status ForgetInOldStore(Migrations* migrations, IdRef user,
                               std::span<const std::string_view> collections,
                               const std::optional<LogPlace>& place = {}) {
  if (migrations == nullptr) return Status::Ok();
  return migrations->ForEach({}, [&](Migration& one) {
    const bool named = collections.empty() ||
                       std::find(collections.begin(), collections.end(), one.config().collection) !=
                           collections.end();
    return named ? one.Forget(user, place) : Status::Ok();
  });
}

}  // namespace seendb::migration
