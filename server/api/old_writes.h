// server/api/old_writes.h: what was recorded, for the old store that a collection moves in from.

#pragma once

#include <span>

#include "api/context.h"
#include "migration/migration.h"
#include "seendb/events.h"

namespace seendb::api {

/// Plays that were recorded, as `result` says, go to the old store too. Waits for nothing.
inline void TellOldStore(const Context& context, const RecordOptions& options,
                         std::span<const Play> plays, const RecordResult& result) {
  if (context.migrations == nullptr) return;
  migration::Migration* const migration = context.migrations->Find(options.collection);
  if (migration != nullptr) migration->Took(plays, result.refused, result.refusals);
}

}  // namespace seendb::api
