// server/api/old_deletions.h: what was deleted of a user, for the old stores that collections move
// in from.

#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "api/history_json.h"
#include "migration/migration.h"
#include "seendb/engine.h"

namespace seendb::api {

/// Items that may be shown again leave the old store, too. `migrations` may be null, here and
/// below; `place`: in a cluster's log.
inline void ForgetItemsInOldStore(const migration::Migrations* migrations, const Policy& policy,
                                  IdRef user, const ItemsCall& deleted,
                                  const std::optional<migration::LogPlace>& place = {}) {
  if (policy.history.deleted_items != DeletedItems::kRecommendAgain) return;
  migration::Migration* const migration =
      migrations == nullptr ? nullptr : migrations->Find(deleted.collection);
  if (migration != nullptr) migration->ForgetItems(user, deleted.items, place);
}

/// Of a filter that was cleared nothing is to come back out of the old store. No collections: all.
inline Status ForgetInOldStore(migration::Migrations* migrations, IdRef user,
                               std::span<const std::string_view> collections,
                               const std::optional<migration::LogPlace>& place = {}) {
  if (migrations == nullptr) return Status::Ok();
  return migrations->ForEach({}, [&](migration::Migration& one) {
    const bool named = collections.empty() ||
                       std::find(collections.begin(), collections.end(), one.config().collection) !=
                           collections.end();
    return named ? one.Forget(user, place) : Status::Ok();
  });
}

}  // namespace seendb::api
