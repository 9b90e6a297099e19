#include "ops/audit_config.h"

namespace seendb::ops {

Keys AuditKeys(AuditConfig* audit) {
  return {{"file", Name(&audit->file)},
          {"users", OneOf(&audit->clear_users, "hashed", "clear")},
          {"on_failure", OneOf(&audit->waits, "refuse", "wait")}};
}

Status CheckAudit(const AuditConfig& audit) {
  return audit.file.empty() ? Status::InvalidArgument("is missing", "/file") : Status::Ok();
}

}  // namespace seendb::ops
