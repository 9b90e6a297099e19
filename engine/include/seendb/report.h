// seendb/report.h: what the engine tells people about itself: users, buckets, ring, statistics,
// verification. Owned values, no views; all sizes are bytes, all times ms since 1970 UTC.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/ingest.h"
#include "seendb/policy.h"
#include "seendb/status.h"

namespace seendb {

/// A collection and its policy.
struct CollectionInfo {
  std::string name;     ///< as given to PutCollection
  Policy policy;        ///< all fields set
  uint64_t making = 0;  ///< as PutCollection's
};

/// How a user's filter in one bucket is held.
enum class FilterForm : uint8_t {
  kList,    ///< exact fingerprints
  kLayers,  ///< Bloom layers of an open bucket
  kSealed,  ///< re-encoded when the bucket closed
};

/// One Bloom layer of a seen filter.
struct LayerReport {
  uint64_t blocks = 0;    ///< of 64 bytes
  uint64_t capacity = 0;  ///< items it was sized for
  uint64_t items = 0;     ///< distinct items inserted
  double fill = 0;        ///< set bits / bits
  double fpr = 0;         ///< estimated from the set bits
};

/// A user's seen filter in one bucket.
struct BucketReport {
  std::string collection;
  std::string bucket;  ///< label
  FilterForm form = FilterForm::kList;
  uint64_t items = 0;           ///< list and layers together
  uint64_t list_items = 0;      ///< exact fingerprints (the tail, in a sealed filter)
  uint64_t bytes = 0;           ///< of the encoded value
  double fpr = 0;               ///< estimated, this bucket alone
  int64_t as_of_ms = 0;         ///< newest slot merged
  uint64_t dropped_layers = 0;  ///< that left at the ceiling
  uint64_t damaged = 0;         ///< damaged operands or values set aside
  bool readable = true;         ///< false: the value could not be read, `error` says why
  std::string error;
  std::vector<LayerReport> layers;
};

/// One user's staged plays in one slot of the ring.
struct StagedReport {
  std::string collection;
  std::string bucket;    ///< label of the plays' event time
  uint32_t slot = 0;     ///< position on the ring
  bool drained = false;  ///< already in its family, kept as short-term store
  uint64_t items = 0;    ///< staged plays, repeats maybe counted
};

/// One served, or exposed, item, newest first.
struct ImpressionReport {
  uint64_t fingerprint = 0;  ///< 48 bits
  int64_t at_ms = 0;
  std::string item;     ///< canonical text; empty: the policy did not say impression_ids
  std::string surface;  ///< where; empty: nowhere in particular
};

/// Impressions, or exposures, of a user in one collection.
struct ImpressionsReport {
  std::string collection;
  uint64_t damaged = 0;
  bool readable = true;
  std::string error;
  std::vector<ImpressionReport> entries;
};

/// A user's stored history in one collection and bucket.
struct HistoryReport {
  std::string collection;
  std::string bucket;    ///< label
  uint64_t items = 0;    ///< with a state there, which a newer bucket may replace
  uint64_t deleted = 0;  ///< of them, deletions
  uint64_t rows = 0;     ///< of the timeline, those of replaced states included
  uint64_t bytes = 0;    ///< of keys and values
  uint64_t damaged = 0;  ///< states that could not be read whole
  bool readable = true;  ///< false: not all of it could be read, `error` says why
  std::string error;
};

/// Everything held about a user.
struct UserReport {
  std::string user;    ///< canonical text
  uint32_t shard = 0;  ///< that owns the user
  std::optional<int64_t> erased_at_ms;
  /// Collections whose filters were cleared since, and when.
  std::vector<std::pair<std::string, int64_t>> forgotten_at_ms;
  std::vector<BucketReport> buckets;  ///< newest first within a collection
  std::vector<StagedReport> ring;
  std::vector<ImpressionsReport> impressions;
  std::vector<ImpressionsReport> exposures;
  std::vector<HistoryReport> history;  ///< newest first within a collection; what is staged apart
  bool paused = false;                 ///< history is
  uint64_t marked_groups = 0;          ///< that have a mark (seendb/marks.h)
  uint64_t own_sets = 0;               ///< that have not ended (seendb/user_sets.h)
  /// Collection and the last day a play was the first of, where the policy says first_of_day.
  std::vector<std::pair<std::string, std::string>> last_active_days;
};

/// Where a bucket is in its life.
enum class BucketState : uint8_t {
  kFuture,   ///< created ahead of time
  kOpen,     ///< the current one
  kClosed,   ///< past, not sealed yet
  kSealed,   ///< re-encoded
  kExpired,  ///< past retention, about to be dropped
};

/// One bucket over all shards.
struct BucketInfo {
  std::string collection;
  std::string bucket;  ///< label
  BucketState state = BucketState::kOpen;
  int64_t begin_ms = 0;
  int64_t end_ms = 0;
  uint64_t bytes = 0;      ///< SST files and memtables, estimated
  bool in_window = false;  ///< read by a filter request now
};

/// One slot of one shard's ring.
struct SlotInfo {
  uint32_t shard = 0;
  uint32_t slot = 0;        ///< position
  std::string state;        ///< "free", "current", "closed", "draining", "drained"
  uint64_t generation = 0;  ///< turns taken
  int64_t opened_ms = 0;    ///< 0 while free
  uint64_t users = 0;       ///< (collection, user) pairs staged
  uint64_t plays = 0;
  uint64_t bytes = 0;  ///< of memory
};

/// Counters since Open (monotonic) and gauges, over all shards. `ingested` alone is stored: it
/// counts each message of a log once, over all openings.
struct EngineStats {
  // The counters: counters.def says what each counts.
#define SEENDB_COUNTER(name, metric, help) uint64_t name = 0;
#include "seendb/counters.def"
#undef SEENDB_COUNTER

  SourceCounts ingested;                    ///< the sum over all sources
  uint64_t ring_bytes = 0, ring_plays = 0;  ///< staged and undrained
  uint64_t short_term_bytes = 0;
  uint64_t outbox_rows = 0;    ///< with first plays of the day that wait to be told
  int64_t ring_oldest_ms = 0;  ///< opening time of the oldest undrained slot with plays; 0: none
  uint64_t disk_bytes = 0;     ///< live SST files
  uint64_t user_cache_bytes = 0, user_directory_bytes = 0;
  uint64_t memtable_bytes = 0, block_cache_bytes = 0, pending_compaction_bytes = 0;
  uint64_t wal_bytes_written = 0, flush_bytes_written = 0, compaction_bytes_written = 0;
  uint32_t shards = 0, column_families = 0;
  uint32_t shards_open = 0, shards_opening = 0;  ///< that answer; that FinishOpening is to open
  bool clock_in_doubt = false;                   ///< it jumped, and nobody has confirmed it yet
  bool degraded = false;                         ///< some shard can't read or write everything
  std::vector<std::string> problems;             ///< what, for people
};

/// One key found by Verify that is damaged, or of a newer version.
struct DamageReport {
  uint32_t shard = 0;
  std::string family;
  std::string key;  ///< printable form
  std::string reason;
  bool newer = false;  ///< of a newer version, not damaged: the software that wrote it reads it
};

/// What Verify read.
struct VerifyReport {
  uint64_t keys = 0;  ///< decoded and checked
  uint64_t bytes = 0;
  uint64_t damaged = 0;               ///< keys
  uint64_t newer = 0;                 ///< keys of newer versions, sound
  std::vector<DamageReport> damages;  ///< of both, the first 100
};

/// What Checkpoint made.
struct CheckpointReport {
  uint32_t shards = 0;
  uint64_t files_linked = 0;  ///< share their bytes with the database
  uint64_t files_copied = 0;
  uint64_t bytes = 0;         ///< of the files of the checkpoint
  uint64_t bytes_copied = 0;  ///< of those, written anew
};

/// Adds to a copy that is being made in `folder`; what fails ends it.
using CheckpointAlso = std::function<Status(const std::string& folder)>;

/// One key of a scan.
struct ScanRow {
  uint32_t shard = 0;
  std::string family;
  std::string key;    ///< printable form
  std::string value;  ///< decoded into one line
  uint64_t bytes = 0;
};

/// Reports as JSON objects, member by member under the names above, as the server answers them;
/// bytes that are not UTF-8 become U+FFFD. A list is an object of one member: `{"buckets":[...]}`,
/// `{"slots":[...]}`, `{"collections":[...]}`; a collection is `{"name":...}` and its policy's
/// members. Optional members are absent where there is nothing to say.
std::string ReportToJson(const UserReport& report);
std::string ReportToJson(const EngineStats& stats);
std::string ReportToJson(const CheckpointReport& report);
std::string ReportToJson(const CollectionInfo& collection);
std::string ReportToJson(const std::vector<CollectionInfo>& collections);
std::string ReportToJson(const std::vector<BucketInfo>& buckets);
std::string ReportToJson(const std::vector<SlotInfo>& slots);

}  // namespace seendb
