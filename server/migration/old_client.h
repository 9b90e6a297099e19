// server/migration/old_client.h: how a migration reaches its old store.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/sync.h"
#include "ops/migration_config.h"
#include "redis/client.h"
#include "redis/keys.h"

namespace seendb::migration {

/// Where the old store is, and what is wrong with it, for all parts of a migration. Threads: any.
class OldLink {
 public:
  /// Reads the file of the password. kInvalidArgument.
  static Result<std::unique_ptr<OldLink>> Make(const ops::MigrationConfig& config);

  Result<std::unique_ptr<redis::Client>> Open(std::chrono::milliseconds timeout) const;
  std::string ToText() const { return address_.ToText(); }
  const redis::KeyTemplate& keys() const { return keys_; }
  redis::ScoreUnit unit() const { return unit_; }
  /// Notes what came of asking it; the log is told of each change.
  void Note(const Status& status) EXCLUDES(mutex_);
  /// What went wrong last; empty: it answered last.
  std::string problem() const EXCLUDES(mutex_);

 private:
  OldLink(redis::Address address, redis::KeyTemplate keys)
      : address_(std::move(address)), keys_(std::move(keys)) {}

  redis::Address address_;
  redis::KeyTemplate keys_;
  redis::ScoreUnit unit_ = redis::ScoreUnit::kSeconds;
  std::string ca_, collection_;
  mutable Mutex mutex_{LockRank::kLeaf};
  std::string problem_ GUARDED_BY(mutex_);
};

/// Whether an error is about what the key holds, and so comes each time.
bool IsOfKey(const redis::Reply& reply);

/// One thread's client of it. After a failure it refuses at once for a moment, so that who waits
/// hears soon. Threads: one.
class OldClient {
 public:
  /// `link` must outlive it. `timeout` of each step.
  OldClient(OldLink& link, std::chrono::milliseconds timeout) : link_(link), timeout_(timeout) {}

  /// Connected, or kUnavailable and the like.
  Result<redis::Client*> Get();
  /// Sends the commands. kUnavailable: some may have run. What Redis refuses of them is a problem
  /// of the link too, but for IsOfKey.
  Result<std::vector<redis::Reply>> Run(const redis::Pipeline& pipeline);
  /// Notes the end of a use of Get().
  void Note(const Status& status);

 private:
  using Clock = std::chrono::steady_clock;

  OldLink& link_;
  const std::chrono::milliseconds timeout_;
  std::unique_ptr<redis::Client> client_;
  Status failure_;
  Clock::time_point retry_at_;
};

}  // namespace seendb::migration
