// tables/table_set.h: the column families of a shard: their names and lifetimes.
//
// A `Family` owns a handle and gives it back when the last user lets go, so a reader may hold a
// family that was dropped meanwhile. A `FamilySet` is an immutable snapshot of all of them.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "merge/seen_operator.h"
#include "merge/small_operators.h"
#include "seendb/policy.h"
#include "tables/data_loss.h"
#include "tables/meta_keys.h"
#include "tables/table.h"

namespace seendb {

/// What a family's name says.
struct FamilyName {
  const Table* kind = nullptr;  ///< null: a kind that is not known
  uint32_t slot = 0;            ///< of the ring
  std::string collection;       ///< empty: the family is of none
  std::string bucket;           ///< label; empty: the family is of none

  /// `of`: a prefix, as kSeenTables.
  bool Is(std::string_view of) const { return kind != nullptr && kind->prefix == of; }
};

/// Reads a name such as "seen/video/2026-11".
FamilyName ParseFamilyName(std::string_view name);
std::string RingFamilyName(uint32_t slot);
std::string SeenFamilyName(std::string_view collection, std::string_view bucket);
std::string ImpressionsFamilyName(std::string_view collection);
std::string ExposuresFamilyName(std::string_view collection);
std::string CountsFamilyName(std::string_view collection);
std::string HistoryFamilyName(std::string_view collection, std::string_view bucket);
std::string TimelineFamilyName(std::string_view collection, std::string_view bucket);
inline constexpr char kUsersFamilyName[] = "users";

/// The part of a DataLossSet, and the key of the marker, that say which rows of that family were
/// lost. Precondition: it is of a collection, or kOwnTable.
std::string LossPartOf(const FamilyName& name);
std::string LossKeyOf(const FamilyName& name);
/// Keys of the family `default` that go with a bucket whose family has that name.
std::vector<std::string> MarkersOf(const FamilyName& name);

/// Options of a family by its name, for reading it outside an engine: values are kept whole. Of a
/// name that is not known, those of `default`.
rocksdb::ColumnFamilyOptions ReadingOptions(std::string_view name);

/// Owns a handle. Its database must outlive it.
class Family {
 public:
  Family(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle, const Table& kind)
      : db_(db), handle_(handle), kind_(kind) {}
  ~Family() { db_->DestroyColumnFamilyHandle(handle_).PermitUncheckedError(); }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  rocksdb::ColumnFamilyHandle* get() const { return handle_; }
  const Table& kind() const { return kind_; }
  const std::string& name() const { return handle_->GetName(); }

 private:
  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const handle_;
  const Table& kind_;
};

/// The seen filters of one collection and bucket.
struct Bucket {
  int64_t index = 0;
  std::string label;
  int64_t begin_ms = 0, end_ms = 0;
  std::shared_ptr<Family> family;
  std::shared_ptr<SeenRules> rules;
  std::atomic<bool> sealed{false};
  std::atomic<uint64_t> late_total{0};     ///< merged while it was sealed (LateKey)
  std::atomic<uint64_t> late_items{0};     ///< of them, those since the last seal
  std::atomic<bool> unreadable{false};     ///< a seal met a damaged file; not tried again by itself
  std::atomic<uint32_t> seal_tries{0};     ///< seals that failed in a row
  std::atomic<int64_t> seal_failed_ms{0};  ///< when the last one failed, by the engine's clock
};

/// The history of one collection and bucket.
struct HistoryBucket {
  int64_t index = 0;
  std::string label;
  int64_t begin_ms = 0, end_ms = 0;
  std::shared_ptr<Family> states;    ///< history/...: by user and item
  std::shared_ptr<Family> timeline;  ///< timeline/...: by user and time
};

/// Buckets of one kind by index, newest first.
template <typename OneBucket>
using BucketsOf = std::map<int64_t, std::shared_ptr<OneBucket>, std::greater<>>;

/// One collection in one shard.
struct CollectionFamilies {
  std::string name;
  uint64_t making = 0;  ///< Making::number
  Policy policy;
  uint64_t revision = 0;  ///< of the policy; 0: no mark says it
  bool changed = false;   ///< software that knows no marks wrote the policy after that revision
  /// Up to this time the filters may hold plays that history lacks, because of an earlier policy
  /// (history_whole.h), of dropped history or of a pause. The maximum: unknown; no absence from
  /// history proves anything.
  int64_t history_incomplete_up_to_ms = std::numeric_limits<int64_t>::max();
  /// Up to this time history was dropped, left out as expired or found to lack plays since the
  /// opening. Never later than history_incomplete_up_to_ms.
  int64_t history_gone_up_to_ms = std::numeric_limits<int64_t>::min();
  /// The newest bucket whose filters were dropped, or whose plays a drain left out as expired.
  std::optional<int64_t> dropped;
  std::shared_ptr<Family> impressions;
  std::shared_ptr<ImpressionRules> impression_rules;
  std::shared_ptr<Family> exposures;  ///< null until there is one
  std::shared_ptr<ImpressionRules> exposure_rules;
  std::shared_ptr<Family> counts;  ///< null until there is one
  std::shared_ptr<CountRules> count_rules;
  DataLossSet losses;  ///< of the log, the impressions, exposures and counts, of the buckets
  BucketsOf<Bucket> buckets;
  BucketsOf<HistoryBucket> history;

  /// Takes a family of kImpressionsTables, kExposuresTables or kCountsTables, and binds its rules
  /// to the policy; false where `table` is another one.
  bool AdoptList(std::string_view table, const std::shared_ptr<Family>& family,
                 const TableRules& rules);

  /// Calls `visit(family)` with a std::shared_ptr<Family> for each one, buckets newest first.
  template <typename Visit>
  void ForEachFamily(const Visit& visit) const {
    if (impressions) visit(impressions);
    if (exposures) visit(exposures);
    if (counts) visit(counts);
    for (const auto& [index, bucket] : buckets) visit(bucket->family);
    for (const auto& [index, bucket] : history) {
      visit(bucket->states);
      visit(bucket->timeline);
    }
  }
};

/// Every published family with data of users.
struct FamilySet {
  std::map<std::string, CollectionFamilies, std::less<>> collections;
  /// By name. Has the names whose collection was deleted, got other fixed fields, or got its number
  /// from a caller; also those that no collection has now.
  std::map<std::string, Making, std::less<>> makings;
  std::shared_ptr<Family> own;          ///< null until a user has said something
  std::shared_ptr<OwnRules> own_rules;  ///< of it
  DataLossSet own_losses;               ///< of it
  const CollectionFamilies* Find(std::string_view name) const {
    const auto at = collections.find(name);
    return at == collections.end() ? nullptr : &at->second;
  }
  Making MakingOf(std::string_view name) const {
    const auto at = makings.find(name);
    return at == makings.end() ? Making() : at->second;
  }
  /// Whether the collection that had the name as `making` is gone.
  bool IsFormer(std::string_view name, uint64_t making) const {
    const CollectionFamilies* const now = Find(name);
    return making < (now != nullptr ? now->making : MakingOf(name).number);
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
