// server/replica/backlog.h: records of the log that were read and can't be applied just now, since
// their shard takes no writes. Each partition waits by itself: the others go on.
//
// Threads: one at a time.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replica/applier.h"
#include "replica/replicas.h"

namespace seendb::replica {

/// See the head of this file.
class Backlog {
 public:
  using Pause = std::chrono::milliseconds;
  /// Most that is kept of a partition. With more it is full: its first record alone stays, and the
  /// others are to be read again.
  static constexpr size_t kRecordsMost = 2'000;
  static constexpr size_t kBytesMost = 4u << 20;
  /// Between two tries of a record.
  static constexpr Pause kFirstPause{5}, kLongestPause{500};

  /// Whether records of the partition wait: what is read of it waits behind them.
  bool Has(uint32_t partition) const { return waiting_.contains(partition); }
  bool IsFull(uint32_t partition) const;
  /// Keeps a record, copied, behind those of its partition; `from`: as of Applier::Apply. False: it
  /// is full, and not kept. Precondition: the partition is not full.
  bool Keep(const LogRecord& record, int64_t from, Time now);

  /// The partitions whose first record is to be tried now.
  std::vector<uint32_t> Due(Time now) const;
  /// When the next one is; nothing: none waits.
  std::optional<Time> NextTry() const;
  /// The first record of a partition that has some; the view is good until it goes.
  LogRecord First(uint32_t partition, int64_t* from) const;
  /// It was applied, and goes.
  void Applied(uint32_t partition);
  /// It was not, again; how long it has waited between the last two tries.
  Pause Failed(uint32_t partition, Time now);
  /// Nothing of the partition waits any more.
  void Forget(uint32_t partition) { waiting_.erase(partition); }
  /// Nothing waits but the first records of partitions that are full.
  void ForgetWhatIsReadAgain();

 private:
  struct Record {
    LogRecord fields;  // without what is owned
    std::string key, value;
    std::optional<std::string> header;
    int64_t from = 0;
  };
  struct Waiting {
    std::deque<Record> records;
    size_t bytes = 0;
    bool full = false;
    Pause pause = kFirstPause;
    Time next_try;
  };

  std::map<uint32_t, Waiting> waiting_;
};

}  // namespace seendb::replica
