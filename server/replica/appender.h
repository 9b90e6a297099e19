// server/replica/appender.h: records that this node appends to the log, from the request to the
// verdict of the node's own applier. A record is known by its nonce: it comes back through the log.
//
// Where the brokers of a partition do not take records, requests are refused at once, until a tick
// has shown that they do again.
//
// Threads: any. Callbacks are made without a lock.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "replica/applier.h"
#include "replica/producer.h"
#include "replica/replicas.h"

namespace seendb::replica {

/// See the head of this file.
class Appender {
 public:
  using Done = std::function<void(Result<Appended>)>;
  using MetaNow = std::function<std::shared_ptr<const cluster::Meta>()>;

  /// `meta`: what the cluster is, as far as it is known; null: it is not.
  static Result<std::unique_ptr<Appender>> New(const cluster::KafkaAccess& access,
                                               const std::string& topic, const AppendLimits& limits,
                                               MetaNow meta);
  /// Ends it: see End.
  ~Appender();

  /// As Replicas::Append; whether the partition is held here is not asked.
  void Append(const NewRecord& record, Time deadline, Done done);
  /// A tick, on the way to Kafka while it is away: what shows that it is back. At most one of a
  /// partition at a time.
  void Tick(uint32_t partition, int64_t arrival_ms);
  /// The partitions whose records are refused.
  std::set<uint32_t> Down() const;
  /// Records that the log did not take, or of which nobody knows in time whether it did.
  uint64_t failures() const { return failures_; }
  /// Why those of one of them are; empty: there is none.
  std::string WhyDown() const;

  /// The own applier has applied a record; anybody's.
  void Applied(int64_t offset, const seendb::replica::Applied& applied);
  /// Ends what was to be there by `now`.
  void Expire(Time now);
  /// Everything that is under way is kUnavailable, and all that comes.
  void End();

 private:
  // A connection serves partitions one after the other: latency grows with their number.
  static constexpr size_t kProducers = 4;
  struct Pending {
    uint32_t partition = 0;
    Time deadline, apply_by = Time::max();
    int64_t offset = -1;  ///< -1: not delivered yet
    Done done;
  };

  Appender(const AppendLimits& limits, MetaNow meta)
      : limits_(limits), meta_(std::move(meta)), random_(std::random_device()()) {}
  void Delivered(uint64_t nonce, rd_kafka_resp_err_t error, int64_t offset);
  void Down(size_t producer);
  /// Where refused is false, `*nonce` is that of the new record.
  Status Take(const NewRecord& record, Time deadline, bool is_probe, Done* done, uint64_t* nonce);

  const AppendLimits limits_;
  const MetaNow meta_;
  std::atomic<uint64_t> failures_{0};
  mutable Mutex mutex_{LockRank::kLeaf};
  std::mt19937_64 random_ GUARDED_BY(mutex_);
  std::map<uint64_t, Pending> pending_ GUARDED_BY(mutex_);  // by nonce
  std::set<uint32_t> down_ GUARDED_BY(mutex_);              // partitions
  std::set<uint32_t> ticking_ GUARDED_BY(mutex_);           // that have a tick under way
  std::map<uint32_t, std::string> why_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
  std::array<std::unique_ptr<Producer>, kProducers> producers_;  // end before the rest
};

}  // namespace seendb::replica
