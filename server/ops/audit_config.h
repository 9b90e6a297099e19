// server/ops/audit_config.h: the setting "audit": the file with a line for each call that reads,
// exports, erases or changes what is known of a person, and for each call of an administrator.

#pragma once

#include <string>

#include "ops/config_keys.h"

namespace seendb::ops {

/// The setting "audit".
struct AuditConfig {
  std::string file = {};     ///< its path
  bool clear_users = false;  ///< "users" is "clear": users stand there as they are, not hashed
  bool waits = false;        ///< "on_failure" is "wait": calls wait until their line can be written
};

/// The keys of an object that holds these.
Keys AuditKeys(AuditConfig* audit);
/// kInvalidArgument: `file` is missing.
Status CheckAudit(const AuditConfig& audit);

}  // namespace seendb::ops
