// server/migration/old_writer.h: writes plays to the old store as the old service would have: ZADD,
// and ZREMRANGEBYRANK down to the cap. ZADD takes the newest score (GT), so that neither the order
// nor a repetition matters.

#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/sync.h"
#include "migration/affected_users.h"
#include "migration/counters.h"
#include "migration/old_client.h"
#include "migration/write_queue.h"

namespace seendb::migration {

/// Empties a WriteQueue into the old store, in its order. While that does not answer, the queue
/// grows. Threads: one's own.
class OldWriter {
 public:
  /// All are borrowed. `cap`: members that a key keeps; 0: all.
  OldWriter(OldLink* link, WriteQueue* queue, AffectedUsers* affected, Counters* counters,
            int64_t cap);
  /// What is not written stays in the queue.
  ~OldWriter();
  OldWriter(const OldWriter&) = delete;
  OldWriter& operator=(const OldWriter&) = delete;

 private:
  /// A command, and whose plays it has.
  struct Command {
    std::string user;
    uint64_t plays = 0;
  };

  void Work();
  bool WriteAll(OldClient& client, const std::vector<OldWrite>& writes);
  void AddUser(const std::string& user, const std::vector<const OldWrite*>& writes,
               redis::Pipeline* pipeline, std::vector<Command>* commands) const;
  std::string ScoreOf(int64_t at_ms) const;
  bool PauseForRetry() EXCLUDES(mutex_);

  OldLink& link_;
  WriteQueue& queue_;
  AffectedUsers& affected_;
  Counters& counters_;
  const int64_t cap_;
  Mutex mutex_{LockRank::kLeaf};
  CondVar stop_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace seendb::migration
