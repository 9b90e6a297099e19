// server/ops/migration_state.h: what a migration shows of itself, for GET /admin/migration and the
// metrics. Plain values.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace seendb::ops {

/// What is counted of a migration since the process began.
enum class MigrationCount : size_t {
  kLookups,
  kLookupsFailed,
  kImported,
  kImportsFailed,
  kImportRefused,
  kWritten,
  kNotWritten,
  kShadowChecked,
  kShadowMissing,
  kShadowExtra,
  kShadowSkipped,
};

/// A count's name, in answers and (as seendb_migration_NAME_total) in metrics, and its help.
struct MigrationCountRow {
  std::string_view name;
  std::string_view help;
};
/// By MigrationCount.
inline constexpr std::array<MigrationCountRow, 11> kMigrationCounts = {{
    {"lookups", "Filter requests that asked the old store as well."},
    {"lookups_failed", "Of those, that did not get its answer within the budget."},
    {"imported", "Users that the server imported because a filter request asked for them."},
    {"imports_failed", "Times that such an import was put off."},
    {"import_refused", "Members that such imports could not record: no time, no id, too old."},
    {"written", "Plays written to the old store."},
    {"not_written", "Plays that the old store lacks: the queue was full, or it refused them."},
    {"shadow_checked", "Candidates that were judged in the old way too."},
    {"shadow_missing", "Of those, seen within the window by the old store, and unseen here."},
    {"shadow_extra", "Of those, seen here and not by the old store."},
    {"shadow_skipped", "Comparisons left out: the old store was too slow or away."},
}};

/// One difference that shadow reads found.
struct MigrationSample {
  std::string user, item;
  int64_t at_ms = 0;  ///< by the old store; 0: it does not know the item
};

/// What is lost where a migration ends.
struct MigrationLoss {
  uint64_t queue_bytes = 0;     ///< plays that the old store was to get
  uint64_t affected_users = 0;  ///< some of whose plays it lacks
  uint64_t import_queue = 0;    ///< users that were about to be imported
  bool not_everybody = false;   ///< no import has read all keys to their end
};

/// One collection's migration.
struct MigrationState {
  std::string collection, redis, key;  ///< the URL without user and password
  std::string phase;                   ///< "running", "paused" or "finished"
  std::string until_migrated;
  bool dual_write = false;
  std::string problem;  ///< what is wrong with the old store now; empty: nothing is known to be
  uint64_t imported_users = 0, import_queue = 0, queue_bytes = 0;
  std::string notes;  ///< which notes of imported users these are; of a cluster nothing
  bool everybody_imported = false;            ///< an import read all keys to their end
  std::optional<MigrationLoss> dropped = {};  ///< where this process ended it
  std::array<uint64_t, kMigrationCounts.size()> counts = {};
  /// Users some of whose plays the old store lacks: the first of them, and how many there are.
  std::vector<std::string> affected_users;
  uint64_t affected_count = 0;
  std::vector<MigrationSample> missing_samples, extra_samples;

  uint64_t Of(MigrationCount count) const { return counts[static_cast<size_t>(count)]; }
};

/// `{"collections":[{"collection","phase",...}]}`.
std::string MigrationStatesToJson(const std::vector<MigrationState>& states);

}  // namespace seendb::ops
