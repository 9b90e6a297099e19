// server/migration/write_queues.h: the queues of one migration: one at a server by itself; in a
// cluster one per partition, because each is written by the acting primary of its partition.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "migration/write_queue.h"

namespace seendb::migration {

/// See the head of this file. Queues stay until this goes. Threads: Of by one at a time of each
/// partition; others by any.
class WriteQueues {
 public:
  /// Opens those that are there. kIOError.
  static Result<std::unique_ptr<WriteQueues>> Open(const std::string& db,
                                                   const std::string& collection,
                                                   uint64_t bytes_most);

  /// The partition's, made where it was not there. Null: the disk fails.
  WriteQueue* Of(WriteQueue::Partition partition) EXCLUDES(mutex_);
  /// The partition's; null: it was not made yet.
  WriteQueue* Find(WriteQueue::Partition partition) const EXCLUDES(mutex_);
  /// Those that are there.
  std::vector<WriteQueue*> All() const EXCLUDES(mutex_);
  /// Bytes that wait in all of them.
  uint64_t bytes() const;

 private:
  WriteQueues(std::string db, std::string collection, uint64_t bytes_most)
      : db_(std::move(db)),
        collection_(std::move(collection)),
        space_(std::make_shared<WriteQueue::Space>(bytes_most)) {}

  const std::string db_, collection_;
  const std::shared_ptr<WriteQueue::Space> space_;
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<WriteQueue::Partition, std::unique_ptr<WriteQueue>> queues_ GUARDED_BY(mutex_);
};

}  // namespace seendb::migration
