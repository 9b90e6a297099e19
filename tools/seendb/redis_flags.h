// seendb/redis_flags.h: the flags that say which old store is read, and which of its keys.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "flags.h"
#include "key_source.h"
#include "play_batch.h"
#include "redis/client.h"
#include "redis/keys.h"
#include "scratch_redis.h"
#include "session.h"

namespace seendb::tool {

/// See the head of this file.
struct RedisFlags {
  std::string url;  ///< --redis
  std::string rdb;  ///< --rdb
  int64_t rdb_memory_mb = 4'096;
  std::string password_file;  ///< --redis-password-file
  std::string ca, certificate;
  int64_t timeout_s = 10;
  std::string match, keys;  ///< --match, --keys
  TopicFlags topic;         ///< --keys-topic
  std::string user_from;
  std::string form;     ///< --form; empty: that of all keys
  bool hashes = false;  ///< --hashes
  std::string score_unit = "auto";
  std::string kind = "plays";
  std::string at;
};

/// Where the old store is. Its flags alone.
void AddRedisPlaceFlags(Command command, RedisFlags* flags);
/// Which keys, and what they mean.
void AddRedisKeyFlags(Command command, RedisFlags* flags);

/// The old store that the flags name; --redis, else the variable SEENDB_REDIS. The password is that
/// of --redis-password-file, else of the URL, else of the variable SEENDB_REDIS_PASSWORD.
struct RedisPlace {
  redis::Address address;
  redis::ClientOptions options;

  Result<std::unique_ptr<redis::Client>> Open() const {
    return redis::Client::Open(address, options);
  }
};

/// The old store of the flags, and with --rdb the redis-server that serves its dump while this
/// lives.
class RedisSource {
 public:
  /// The errors of ParseAddress and of ScratchRedis::Start.
  static Result<std::unique_ptr<RedisSource>> Open(const RedisFlags& flags);

  const RedisPlace& place() const { return place_; }
  /// For people and for states: without a password.
  const std::string& name() const { return name_; }

 private:
  RedisPlace place_;
  std::string name_;
  std::unique_ptr<ScratchRedis> scratch_;
};

/// What the flags say of keys and members, taken in. kInvalidArgument.
struct RedisMeaning {
  redis::KeyTemplate users;
  EventKind kind = EventKind::kPlays;
  std::optional<redis::ScoreUnit> unit = {};  ///< nothing: it is to be guessed
  std::optional<int64_t> at_ms = {};
  bool at_now = false;  ///< at_ms is the present
};
Result<RedisMeaning> RedisMeaningOf(const RedisFlags& flags);

/// The keys that the flags choose, from their beginning; `client` must outlive them.
Result<std::unique_ptr<KeySource>> KeysOf(const RedisFlags& flags, const redis::KeyTemplate& users,
                                          redis::Client& client);
/// Which keys those are: "match watched:*", "file keys.txt", "topic moved".
std::string KeysText(const RedisFlags& flags, const redis::KeyTemplate& users);

/// Whether the flags choose keys that can be read once alone: out of a pipe.
bool IsReadOnce(const RedisFlags& flags);

/// The form of the users' keys (key_forms.h) that the flags name, else that of some thousands of
/// them; empty: any, also where the keys come out of a pipe. kInvalidArgument, with an example of
/// each, where they have several.
Result<std::string> ResolveForm(const RedisFlags& flags, const RedisMeaning& meaning,
                                redis::Client& client);

/// The unit that the flags name, else that of the scores of some of these keys. kInvalidArgument:
/// they are of no unit, or of several. kNone where none of them has scores.
Result<redis::ScoreUnit> ResolveUnit(const RedisFlags& flags, const RedisMeaning& meaning,
                                     redis::Client& client);

/// That nothing was read of `source`: an empty success would prove nothing.
Status NoKeyFits(const redis::KeyTemplate& users, const std::string& source);

}  // namespace seendb::tool
