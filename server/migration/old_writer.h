// server/migration/old_writer.h: writes plays to the old store as the old service would have: ZADD,
// and ZREMRANGEBYRANK down to the cap. ZADD takes the newest score (GT), so that neither the order
// nor a repetition matters.

#pragma once

#include <string>
#include <vector>

#include "migration/affected_users.h"
#include "migration/cluster_node.h"
#include "migration/counters.h"
#include "migration/old_client.h"
#include "migration/write_queues.h"
#include "threads/worker.h"

namespace seendb::migration {

/// Empties queues into the old store, each in its order. While that does not answer, they grow.
/// Threads: one's own.
class OldWriter {
 public:
  /// What it goes by; all are borrowed.
  struct Context {
    OldLink* link = nullptr;
    WriteQueues* queues = nullptr;
    AffectedUsers* affected = nullptr;
    Counters* counters = nullptr;
    Engine* engine = nullptr;  ///< asked which plays were recorded, where that is not known
    std::string collection;
    int64_t cap = 0;                    ///< members that a key keeps; 0: all
    const ClusterNode* node = nullptr;  ///< null: a server by itself
  };
  explicit OldWriter(Context context);
  /// What is not written stays in the queues.
  ~OldWriter() = default;
  OldWriter(const OldWriter&) = delete;
  OldWriter& operator=(const OldWriter&) = delete;

  /// A queue has more. Of no account in a cluster, where it looks again and again.
  void Wake() { worker_.Wake(); }

 private:
  /// A command, and whose plays it has.
  struct Command {
    std::string user;
    uint64_t plays = 0;
  };
  enum class Served : uint8_t { kNothing, kSome, kFailed };

  void Work();
  Served Serve(OldClient& client, WriteQueue& queue, const Duty& duty);
  bool AddRecorded(WriteQueue::Batch* batch);
  bool WriteAll(OldClient& client, const std::vector<OldWrite>& writes);
  void AddUser(const std::string& user, const std::vector<const OldWrite*>& writes,
               redis::Pipeline* pipeline, std::vector<Command>* commands) const;
  void AddDeletion(const std::string& key, int64_t at_ms, redis::Pipeline* pipeline) const;
  std::string ScoreOf(int64_t at_ms) const;
  bool Rest(Served served);

  const Context context_;
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::migration
