// seendb/redis_commands.h: the commands below `seendb redis`, one file each.

#pragma once

#include "session.h"

namespace seendb::tool {

void AddRedisSurvey(Command redis, Session& session);
void AddRedisImport(Command redis, Session& session);
void AddRedisCompare(Command redis, Session& session);
void AddRedisStatus(Command redis, Session& session);
void AddRedisFinish(Command redis, Session& session);

}  // namespace seendb::tool
