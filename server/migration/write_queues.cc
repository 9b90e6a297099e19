#include "migration/write_queues.h"

namespace seendb::migration {

Result<std::unique_ptr<WriteQueues>> WriteQueues::Open(const std::string& db,
                                                       const std::string& collection,
                                                       uint64_t bytes_most) {
  std::unique_ptr<WriteQueues> queues(new WriteQueues(db, collection, bytes_most));
  std::vector<WriteQueue::Partition> found = {std::nullopt};
  for (const uint32_t partition : WriteQueue::PartitionsOf(db, collection)) {
    found.emplace_back(partition);
  }
  for (const WriteQueue::Partition& partition : found) {
    auto queue = WriteQueue::Open(db, collection, partition, queues->space_);
    if (!queue.ok()) return queue.status();
    const MutexLock lock(queues->mutex_);
    queues->queues_.emplace(partition, std::move(queue).value());
  }
  return queues;
}

WriteQueue* WriteQueues::Find(WriteQueue::Partition partition) const {
  const MutexLock lock(mutex_);
  const auto found = queues_.find(partition);
  return found == queues_.end() ? nullptr : found->second.get();
}

WriteQueue* WriteQueues::Of(WriteQueue::Partition partition) {
  if (WriteQueue* const queue = Find(partition)) return queue;
  auto opened = WriteQueue::Open(db_, collection_, partition, space_);
  if (!opened.ok()) return nullptr;
  const MutexLock lock(mutex_);
  return queues_.emplace(partition, std::move(opened).value()).first->second.get();
}

std::vector<WriteQueue*> WriteQueues::All() const {
  std::vector<WriteQueue*> all;
  const MutexLock lock(mutex_);
  for (const auto& [partition, queue] : queues_) all.push_back(queue.get());
  return all;
}

uint64_t WriteQueues::bytes() const {
  uint64_t bytes = 0;
  for (const WriteQueue* const queue : All()) bytes += queue->bytes();
  return bytes;
}

}  // namespace seendb::migration
