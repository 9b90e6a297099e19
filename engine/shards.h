// engine/shards.h: the shards of a database by their numbers. Any of them can be absent.
//
// Threads: any. A call takes the set once, and keeps its shards as objects: who attaches or
// detaches one publishes another set.

#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "filter/hash.h"
#include "shard/shard.h"

namespace seendb {

/// Null: absent. Never changed once it is published.
using ShardSet = std::vector<std::shared_ptr<Shard>>;

/// kUnavailable.
inline Status AbsentShard(size_t shard) {
  return Status::Unavailable("shard " + std::to_string(shard) + " is not attached");
}
/// kUnavailable, but soon no more.
inline Status OpeningShard(size_t shard) {
  return Status::Unavailable("shard " + std::to_string(shard) + " is being opened");
}
/// kUnavailable, naming the first that is absent.
inline Status CheckNoneAbsent(const ShardSet& shards) {
  const auto absent = std::find(shards.begin(), shards.end(), nullptr);
  return absent == shards.end() ? Status()
                                : AbsentShard(static_cast<size_t>(absent - shards.begin()));
}

/// See the head of this file.
class Shards {
 public:
  std::shared_ptr<const ShardSet> All() const {
    const ReaderLock lock(mutex_);
    return set_;
  }
  void Publish(std::shared_ptr<const ShardSet> set) {
    assert(set != nullptr && !set->empty());
    const WriterLock lock(mutex_);
    set_.swap(set);  // the former set goes without the lock
  }
  /// None of `count` is there yet; `coming` are to be added, until EndOpening.
  void BeginOpening(size_t count, std::span<const uint32_t> coming) {
    const WriterLock lock(mutex_);
    set_ = std::make_shared<ShardSet>(count);
    coming_.insert(coming.begin(), coming.end());
    opening_ = true;
  }
  void Add(uint32_t number, const std::shared_ptr<Shard>& shard) {
    const WriterLock lock(mutex_);
    auto with = std::make_shared<ShardSet>(*set_);
    (*with)[number] = shard;
    set_ = std::move(with);
    coming_.erase(number);
  }
  void EndOpening() {
    const WriterLock lock(mutex_);
    opening_ = false;
    coming_.clear();
  }
  /// How many are there, and how many are to come.
  std::pair<uint32_t, uint32_t> OpenAndComing() const {
    const ReaderLock lock(mutex_);
    const auto absent = std::count(set_->begin(), set_->end(), nullptr);
    return {static_cast<uint32_t>(set_->size()) - static_cast<uint32_t>(absent),
            static_cast<uint32_t>(coming_.size())};
  }
  /// kUnavailable where it is absent. Precondition: there is such a number.
  Result<std::shared_ptr<Shard>> At(uint32_t number) const {
    const ReaderLock lock(mutex_);
    assert(number < set_->size());
    if ((*set_)[number] == nullptr) return Why(number);
    return (*set_)[number];
  }
  /// Why a shard is not there.
  Status Missing(size_t number) const {
    const ReaderLock lock(mutex_);
    return Why(static_cast<uint32_t>(number));
  }
  /// kUnavailable until all shards are open.
  Status CheckOpened() const {
    const ReaderLock lock(mutex_);
    return opening_ ? Status::Unavailable("the database is being opened") : Status();
  }
  /// Of the user. kUnavailable where it is absent.
  Result<std::shared_ptr<Shard>> Of(IdRef user) const { return At(ShardOf(user, count())); }
  /// As many as the database has, attached or not.
  uint32_t count() const {
    const ReaderLock lock(mutex_);
    return static_cast<uint32_t>(set_->size());
  }
  /// Those that are there, by their numbers.
  std::vector<std::shared_ptr<Shard>> Attached() const {
    std::vector<std::shared_ptr<Shard>> attached = *All();
    std::erase(attached, nullptr);
    return attached;
  }
  /// Runs `work(shard)` for every attached shard, one after the other: one that fails keeps no
  /// other from its turn. The first failure.
  template <typename Work>
  Status InEach(const Work& work) const {
    Status first;
    for (const std::shared_ptr<Shard>& shard : Attached()) {
      Status status = work(*shard);
      if (first.ok() && !status.ok()) first = std::move(status);
    }
    return first;
  }

 private:
  Status Why(uint32_t number) const REQUIRES_SHARED(mutex_) {
    return coming_.contains(number) ? OpeningShard(number) : AbsentShard(number);
  }

  mutable ReadWriteMutex mutex_{LockRank::kLeaf};
  bool opening_ GUARDED_BY(mutex_) = false;
  std::set<uint32_t> coming_ GUARDED_BY(mutex_);
  std::shared_ptr<const ShardSet> set_ GUARDED_BY(mutex_) = std::make_shared<ShardSet>(1);
};

/// The shards as whoever opened them lends them to calls: each comes back here once the last call
/// lets go of it, so that a thread that may wait closes it. Threads: any.
class LeftShards {
 public:
  static std::shared_ptr<Shard> Lend(const std::shared_ptr<LeftShards>& left, uint32_t number,
                                     std::unique_ptr<Shard> shard);
  /// Until it is taken back.
  bool IsLent(uint32_t number) const;
  /// Lends one that is lent, or has come back, to another call. Null: it is neither.
  static std::shared_ptr<Shard> Reach(const std::shared_ptr<LeftShards>& left, uint32_t number);
  /// Waits so long at most. Null: it is not lent, or somebody holds it still.
  std::unique_ptr<Shard> TakeBack(uint32_t number, std::chrono::milliseconds most);
  /// Closes those that have come back; those that come later are closed at once.
  void Close();

 private:
  struct Lent {
    std::unique_ptr<Shard> back;  // null: somebody holds it
    std::weak_ptr<Shard> held;
  };
  void Return(uint32_t number, std::unique_ptr<Shard> shard);

  mutable Mutex mutex_{LockRank::kLeaf};
  CondVar returned_;
  std::map<uint32_t, Lent> shards_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace seendb
