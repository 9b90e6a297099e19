// store/families.h: the column families of a shard: their names, options and lifetimes.
//
// A `Family` owns a handle and gives it back when the last user lets go, so a reader may hold a
// family that was dropped meanwhile. A `FamilySet` is an immutable snapshot of all of them.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/statistics.h>
#include <rocksdb/write_buffer_manager.h>

#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>  // where newer versions of RocksDB define what cache.h declares
#endif

#include "merge/seen_operator.h"
#include "merge/small_operators.h"
#include "seendb/policy.h"
#include "store/losses.h"

namespace seendb {

/// What all shards of a process share.
struct SharedResources {
  rocksdb::Env* env = nullptr;
  std::shared_ptr<rocksdb::Cache> block_cache;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;
  std::shared_ptr<rocksdb::Statistics> statistics;
  std::shared_ptr<MergeCounters> counters;
  uint64_t write_buffer_bytes = 0;  ///< budget of write_buffers
  int background_threads = 2;
  uint32_t ring_slots = 6;
  uint32_t list_limit = 4096;
  uint32_t max_column_families = 400;
};

/// What a family's name says.
struct FamilyName {
  enum Kind : uint8_t {
    kDefault,
    kRing,
    kSeen,
    kImpressions,
    kUsers,
    kHistory,
    kTimeline,
    kUnknown
  };
  Kind kind = kUnknown;
  uint32_t slot = 0;       ///< kRing
  std::string collection;  ///< kSeen, kImpressions, kHistory, kTimeline
  std::string bucket;      ///< kSeen, kHistory, kTimeline: label
};

/// Reads a name such as "seen/video/2026-11".
FamilyName ParseFamilyName(std::string_view name);
std::string RingFamilyName(uint32_t slot);
std::string SeenFamilyName(std::string_view collection, std::string_view bucket);
std::string ImpressionsFamilyName(std::string_view collection);
std::string HistoryFamilyName(std::string_view collection, std::string_view bucket);
std::string TimelineFamilyName(std::string_view collection, std::string_view bucket);
inline constexpr char kUsersFamilyName[] = "users";

/// Options of a family by its kind. `seen` and `impressions` may be null for other kinds.
rocksdb::ColumnFamilyOptions FamilyOptions(const SharedResources& shared, FamilyName::Kind kind,
                                           const std::shared_ptr<SeenRules>& seen,
                                           const std::shared_ptr<ImpressionRules>& impressions);
/// Options of a shard's database.
rocksdb::DBOptions DatabaseOptions(const SharedResources& shared);

/// Owns a handle. Its database must outlive it.
class Family {
 public:
  Family(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle) : db_(db), handle_(handle) {}
  ~Family() { db_->DestroyColumnFamilyHandle(handle_).PermitUncheckedError(); }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  rocksdb::ColumnFamilyHandle* get() const { return handle_; }

 private:
  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const handle_;
};

/// The seen filters of one collection and bucket.
struct Bucket {
  int64_t index = 0;
  std::string label;
  int64_t begin_ms = 0, end_ms = 0;
  std::shared_ptr<Family> family;
  std::shared_ptr<SeenRules> rules;
  std::atomic<bool> sealed{false};
  std::atomic<uint64_t> late_items{0};     ///< merged since it was sealed
  std::atomic<bool> unreadable{false};     ///< a seal met a damaged file; not tried again by itself
  std::shared_ptr<const Losses> lost;      ///< by a repair; null: nothing
  std::atomic<uint32_t> seal_tries{0};     ///< that failed, one after the other
  std::atomic<int64_t> seal_failed_ms{0};  ///< the last of them, by the engine's clock
};

/// The history of one collection and bucket.
struct HistoryBucket {
  int64_t index = 0;
  std::string label;
  int64_t begin_ms = 0, end_ms = 0;
  std::shared_ptr<Family> states;      ///< history/...: by user and item
  std::shared_ptr<Family> timeline;    ///< timeline/...: by user and time
  std::shared_ptr<const Losses> lost;  ///< by a repair; null: nothing
};

/// Buckets of one kind by index, newest first.
template <typename OneBucket>
using BucketsOf = std::map<int64_t, std::shared_ptr<OneBucket>, std::greater<>>;

/// One collection in one shard.
struct CollectionFamilies {
  std::string name;
  Policy policy;
  /// The latest time of a play that the filters may know of and history does not, for what the
  /// policy was (history_whole.h); all times where that is not known.
  int64_t unwatched_up_to_ms = std::numeric_limits<int64_t>::max();
  std::shared_ptr<Family> impressions;
  std::shared_ptr<ImpressionRules> impression_rules;
  std::shared_ptr<const Losses> losses;            ///< of the log; null: none
  std::shared_ptr<const Losses> impressions_lost;  ///< by a repair; null: none
  BucketsOf<Bucket> buckets;
  BucketsOf<HistoryBucket> history;
};

/// Every published family with data of users.
struct FamilySet {
  std::map<std::string, CollectionFamilies, std::less<>> collections;
  const CollectionFamilies* Find(std::string_view name) const {
    const auto at = collections.find(name);
    return at == collections.end() ? nullptr : &at->second;
  }
  /// A bucket of the collection's `buckets`; null where there is none.
  template <typename OneBucket>
  std::shared_ptr<OneBucket> FindBucket(BucketsOf<OneBucket> CollectionFamilies::*buckets,
                                        std::string_view name, int64_t index) const {
    const CollectionFamilies* found = Find(name);
    if (found == nullptr) return nullptr;
    const auto at = (found->*buckets).find(index);
    return at == (found->*buckets).end() ? nullptr : at->second;
  }
};

}  // namespace seendb
