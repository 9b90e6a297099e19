// server/migration/observer.h: hears what a server did to its database, and tells the migrations of
// the collections concerned. The handlers, the consumer of topics and the replicas of a cluster
// call it, so that each of them says the same of the same deed.

#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "migration/migration.h"
#include "seendb/events.h"
#include "wire/history_json.h"

namespace seendb::migration {

/// See the head of this file. Cheap to make and to copy; it borrows the migrations. `place`: where
/// a cluster's log has it, if it came from there. Threads: any.
class Observer {
 public:
  /// `migrations` may be null: then nobody hears.
  explicit Observer(Migrations* migrations) : migrations_(migrations) {}

  /// Plays that were recorded, as `result` says. Waits for nothing.
  void Recorded(std::string_view collection, std::span<const Play> plays,
                const RecordResult& result) const;
  /// Plays that are about to be recorded. See Migration::Stage; null: nobody waits for the result.
  OnRecorded Recording(std::string_view collection, std::span<const Play> plays,
                       const std::optional<LogPlace>& place = {}) const;
  /// The user was erased from all collections. See Migration::Forget.
  Status Erased(IdRef user, const std::optional<LogPlace>& place = {}) const;
  /// The user's filters of these collections were cleared; no collections: of all. See
  /// Migration::Forget.
  Status Cleared(IdRef user, std::span<const std::string_view> collections,
                 const std::optional<LogPlace>& place = {}) const;
  /// Items were deleted from the user's history. Where `policy`, of their collection, lets them be
  /// shown again, they leave the old store, too.
  void Deleted(const Policy& policy, IdRef user, const wire::ItemsCall& items,
               const std::optional<LogPlace>& place = {}) const;
  /// The collection is about to be deleted, or was. See Migration::ForgetAll.
  Status CollectionDeleted(std::string_view collection) const;

 private:
  /// The collection's, or null.
  Migration* Of(std::string_view collection) const;

  Migrations* migrations_;
};

}  // namespace seendb::migration
