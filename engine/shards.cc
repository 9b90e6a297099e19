#include "shards.h"

namespace seendb {

std::shared_ptr<Shard> LeftShards::Lend(const std::shared_ptr<LeftShards>& left, uint32_t number,
                                        std::unique_ptr<Shard> shard) {
  std::shared_ptr<Shard> lent(shard.release(), [left, number](Shard* last) {
    left->Return(number, std::unique_ptr<Shard>(last));
  });
  const MutexLock lock(left->mutex_);
  left->shards_[number] = {nullptr, lent};
  return lent;
}

std::shared_ptr<Shard> LeftShards::Reach(const std::shared_ptr<LeftShards>& left, uint32_t number) {
  std::unique_ptr<Shard> back;
  {
    const MutexLock lock(left->mutex_);
    const auto at = left->shards_.find(number);
    if (at == left->shards_.end()) return nullptr;
    if (at->second.back == nullptr) return at->second.held.lock();
    back.swap(at->second.back);
  }
  return Lend(left, number, std::move(back));
}

void LeftShards::Return(uint32_t number, std::unique_ptr<Shard> shard) {
  const MutexLock lock(mutex_);
  if (!closed_) shards_[number].back.swap(shard);
  returned_.NotifyAll();
}

bool LeftShards::IsLent(uint32_t number) const {
  const MutexLock lock(mutex_);
  return shards_.contains(number);
}

std::unique_ptr<Shard> LeftShards::TakeBack(uint32_t number, std::chrono::milliseconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  const MutexLock lock(mutex_);
  const auto at = shards_.find(number);
  if (at == shards_.end()) return nullptr;
  while (at->second.back == nullptr) {
    if (!returned_.WaitUntil(mutex_, deadline)) break;
  }
  std::unique_ptr<Shard> shard = std::move(at->second.back);
  if (shard != nullptr) shards_.erase(at);
  return shard;
}

void LeftShards::Close() {
  std::map<uint32_t, Lent> back;
  const MutexLock lock(mutex_);
  closed_ = true;
  back.swap(shards_);
}

}  // namespace seendb
