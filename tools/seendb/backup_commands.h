// seendb/backup_commands.h: the commands below `seendb backup`.

#pragma once

#include "session.h"

namespace seendb::tool {

/// backup_create.cc; the others are in backup.cc.
void AddBackupCreate(Command backup, Session& session);

}  // namespace seendb::tool
