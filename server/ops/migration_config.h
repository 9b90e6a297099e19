// server/ops/migration_config.h: old stores that collections move in from: the object "migration"
// of the server's settings. Keys and defaults are listed in server/doc/from-redis.md.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/config_keys.h"

namespace seendb::ops {

/// What a filter request gets for a user whose past was not imported.
enum class UntilMigrated : uint8_t {
  kOldStore,  ///< the old store is asked as well
  kDegraded,  ///< SeenDB's answer, degraded
  kIgnore,    ///< SeenDB's answer
};

/// See the head of this file.
struct MigrationConfig {
  std::string collection;        ///< may be made later
  std::string redis;             ///< a URL, maybe with a password: for no message
  std::string password_file;     ///< has the password instead; empty: none
  std::string ca;                ///< of rediss: certificates to trust, PEM; empty: the system's
  std::string key;               ///< "watched:{user}"
  std::string score_unit = "s";  ///< "s", "ms" or "us"
  UntilMigrated until_migrated = UntilMigrated::kOldStore;
  int64_t budget_ms = 5;              ///< that a filter request waits for the old store
  bool dual_write = false;            ///< plays go to the old store too
  int64_t cap = 0;                    ///< members of a key; 0: no limit
  uint64_t queue_bytes = 1ull << 30;  ///< of plays that wait for the old store, on disk
  double shadow = 0;                  ///< share of filter requests that both ways are compared of
};

/// Reads the object "migration", with the URLs checked; no message has a part of a URL.
Setter Migration(std::vector<MigrationConfig>* to);

}  // namespace seendb::ops
