// server/transfer/backup_routes.h: what a backup needs besides copies of shards.

#pragma once

#include <string>

#include "api/context.h"
#include "seendb/engine.h"

namespace seendb::transfer {

/// Answers GET /admin/backup of the database in the folder `db`.
void AnswerBackupState(const std::string& db, const Engine& engine, api::Call& call);

}  // namespace seendb::transfer
