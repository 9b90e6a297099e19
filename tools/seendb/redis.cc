// seendb redis: moving in from Redis.

#include "commands.h"
#include "redis_commands.h"

namespace seendb::tool {

void AddRedis(Command app, Session& session) {
  Command redis =
      AddCommand(app, session, "redis",
                 "Move in from Redis: survey the old store, import it, compare, see how far it is",
                 Takes::kNothing, [] {
                   return Status::InvalidArgument(
                       "say what: seendb redis survey, import, compare, status or finish");
                 });
  redis.Examples(
      {"seendb redis survey --redis redis://localhost --match 'watched:*'",
       "seendb redis import --redis redis://localhost --user-from 'watched:{user}'",
       "seendb redis compare --redis redis://localhost --user-from 'watched:{user}' --sample 100"});
  AddRedisSurvey(redis, session);
  AddRedisImport(redis, session);
  AddRedisCompare(redis, session);
  AddRedisStatus(redis, session);
  AddRedisFinish(redis, session);
}

}  // namespace seendb::tool
