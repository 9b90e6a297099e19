// seendb/scratch_redis.h: a redis-server of our own that serves a dump on a copy of the file, so
// that the live store is not touched.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <sys/types.h>

#include "redis/address.h"
#include "seendb/status.h"

namespace seendb::tool {

/// It listens on a socket in a folder that only we enter, and never writes. It ends with this
/// object, or when this process is killed. A dump may be a stranger's: Redis checks it as it is
/// loaded, has a limit of memory, gets no new rights, leaves no core, and where the system allows
/// it has no network. Threads: one; the thread that made it must outlive it.
class ScratchRedis {
 public:
  /// Copies `rdb` into a folder in `temporary` and starts redis-server on it; returns once the dump
  /// is loaded, and deletes the copy then. The dump may take `memory_bytes`. kNotFound: no such
  /// file, or no redis-server; kIOError: no room; kCorruption: redis-server can't read the dump
  /// (the message has its last words), or not in so much memory.
  static Result<std::unique_ptr<ScratchRedis>> Start(const std::string& rdb,
                                                     const std::string& temporary,
                                                     uint64_t memory_bytes);
  ~ScratchRedis();
  ScratchRedis(const ScratchRedis&) = delete;
  ScratchRedis& operator=(const ScratchRedis&) = delete;

  redis::Address address() const;

 private:
  explicit ScratchRedis(uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}
  Status Spawn();
  Status WaitUntilLoaded();
  std::string LastWords() const;
  bool MayLackMemory() const;

  const uint64_t memory_bytes_;
  std::string folder_;
  pid_t process_ = -1;
};

}  // namespace seendb::tool
