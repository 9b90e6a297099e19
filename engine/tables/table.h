// tables/table.h: what a kind of column family is.
//
// Each kind has one entry in kTables (kinds.cc). The entry says how the families are named, what
// RocksDB is told of them, how a row reads as text, when a row is damaged, and what an erasure, a
// clear, a repair and a loss do to it. Code that treats all families alike (scan, verify, repair,
// ldb, compaction, erasure) goes by the entries and names no kind.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <rocksdb/cache.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include "base/counters.h"
#include "merge/seen_operator.h"
#include "merge/small_operators.h"

namespace seendb {

/// What the names of the families of a kind begin with; the whole name of those of which a shard
/// has one.
inline constexpr std::string_view kMetaTable = "default";
inline constexpr std::string_view kUsersTable = "users";
inline constexpr std::string_view kOwnTable = "own";
inline constexpr std::string_view kRingTables = "ring/";
inline constexpr std::string_view kSeenTables = "seen/";
inline constexpr std::string_view kImpressionsTables = "impressions/";
inline constexpr std::string_view kExposuresTables = "exposures/";
inline constexpr std::string_view kCountsTables = "counts/";
inline constexpr std::string_view kHistoryTables = "history/";
inline constexpr std::string_view kTimelineTables = "timeline/";

/// What keeps a row, or a part of it, from being read.
struct Fault {
  std::string reason;  ///< for people; empty: nothing
  bool newer = false;  ///< it is of a newer version: whole, but not for this software
};

/// What the operator of one family goes by. Made with the family, bound to its policy later.
struct TableRules {
  std::shared_ptr<SeenRules> seen;
  std::shared_ptr<ImpressionRules> impressions;  ///< of exposures, too
  std::shared_ptr<CountRules> counts;
  std::shared_ptr<OwnRules> own;
  std::shared_ptr<Counters> counters;
};
/// Rules of no policy: nothing is left out of a value.
TableRules UnboundRules(const std::shared_ptr<Counters>& counters);

/// What a kind of column family is. One entry of kTables a kind.
struct Table {
  /// What follows the prefix in a name.
  enum class Scope : uint8_t {
    kShard,       ///< nothing
    kSlot,        ///< the number of a slot of the ring
    kCollection,  ///< a collection
    kBucket,      ///< a collection, '/', the label of a bucket
  };
  /// How a row that was read of a table or a log goes into another family.
  enum class Take : uint8_t {
    kMerge,  ///< as an operand: values are united
    kPut,    ///< as it is: rows of one key are equal
    kByKey,  ///< as kMetaKeys says
  };
  /// What an erasure deletes.
  enum class Erase : uint8_t {
    kKeep,        ///< nothing: a replay leaves out what is older than the erasure
    kDeleteUser,  ///< the key that is the user's id; of `own` those of the user's sets, too
    kRows,        ///< all rows of the user, in pieces
    kRecord,      ///< day keys; the user's record tells of the erasure
  };
  /// Which of the two clears takes the user's rows.
  enum class Clear : uint8_t { kNone, kFilter, kHistory };
  /// What a loss of rows means.
  enum class Loss : uint8_t {
    kLog,            ///< plays of anybody, as with a part of the log
    kUsersOfBucket,  ///< what the bucket held of the users of the lost keys
    kAllOfBucket,    ///< what the bucket held of anybody
    kUserRecords,    ///< erasures, clears, pauses, active days
    kUsersOfShard,   ///< what the users of the lost keys said themselves
    kNames,          ///< what the family `default` says
  };

  std::string_view prefix;
  Scope scope;
  /// Sets the options in which the kind differs from others, its operator among them.
  void (*tune)(const TableRules& rules, rocksdb::ColumnFamilyOptions* options,
               rocksdb::BlockBasedTableOptions* blocks);
  bool compacted;       ///< when all of a shard is
  bool may_be_missing;  ///< a file of it that can't be opened keeps nothing else from opening
  Take take;
  Erase erase;
  Clear clear;
  Loss loss;
  /// What stands before the bucket in the marker of a loss, `lost/<collection>/...`.
  std::string_view lost_label;
  /// Prefixes of the markers of a bucket in the family `default`, which go with it.
  std::span<const std::string_view> markers;

  std::string (*key_text)(std::string_view key);
  /// One line; a damaged value says so, and one of a newer version.
  std::string (*value_text)(std::string_view value);
  Fault (*check)(std::string_view key, std::string_view value);
  /// Why only newer software may go on with the value; empty for all others. Cheap. Null: a value
  /// of a newer version refuses no opening.
  std::string (*newer_reason)(std::string_view value);
  /// Keys from here on refuse no opening; empty: all may.
  std::string_view newer_end;
  /// The largest of the shard's sequences in a row, 0: none. Null: rows have none.
  uint64_t (*sequence_of)(std::string_view key, std::string_view value);
  /// What of a value was written after the shard's sequence `seq`, as an operand; empty: nothing.
  /// Null: values don't tell.
  std::string (*written_after)(std::string_view value, uint64_t seq);
  /// The same of what was said after a time.
  std::string (*said_after)(std::string_view value, int64_t at_ms) = nullptr;
};

/// All kinds.
std::span<const Table> Tables();

/// RocksDB's options of a family. `block_cache` may be null.
rocksdb::ColumnFamilyOptions FamilyOptions(const Table& kind, const TableRules& rules,
                                           const std::shared_ptr<rocksdb::Cache>& block_cache);

}  // namespace seendb
