#include <algorithm>
#include <utility>

#include <rocksdb/filter_policy.h>

#include "format/counts_codec.h"
#include "format/day_key.h"
#include "format/impressions_codec.h"
#include "format/journal_codec.h"
#include "format/marks_codec.h"
#include "format/own_set_codec.h"
#include "format/user_codec.h"
#include "tables/meta_keys.h"
#include "tables/rows.h"
#include "tables/table.h"

namespace seendb {
namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::ColumnFamilyOptions;

constexpr uint64_t kMiB = 1 << 20;
constexpr std::string_view kDayKeysBegin(&kDayKeys, 1);
constexpr std::string_view kSeenMarkers[] = {kSealedPrefix, kLatePrefix};

// ---- Options ----

void TuneMeta(const TableRules&, ColumnFamilyOptions* options, BlockBasedTableOptions*) {
  options->write_buffer_size = 4 * kMiB;
}

void TuneUsers(const TableRules& rules, ColumnFamilyOptions* options, BlockBasedTableOptions*) {
  options->merge_operator = NewUsersOperator(rules.counters);
}

void TuneOwn(const TableRules& rules, ColumnFamilyOptions* options, BlockBasedTableOptions*) {
  options->merge_operator = NewOwnOperator(rules.counters);
  options->compaction_filter_factory = NewExpiryFilterFactory(rules.own);
}

// Written once, read only by a replay, dropped whole.
void TuneRing(const TableRules&, ColumnFamilyOptions* options, BlockBasedTableOptions* blocks) {
  options->disable_auto_compactions = true;
  options->write_buffer_size = 64 * kMiB;
  options->level0_slowdown_writes_trigger = 1 << 20;
  options->level0_stop_writes_trigger = 1 << 20;
  blocks->filter_policy = nullptr;
}

void TuneSeen(const TableRules& rules, ColumnFamilyOptions* options, BlockBasedTableOptions*) {
  options->compaction_style = rocksdb::kCompactionStyleUniversal;
  options->level0_file_num_compaction_trigger = 8;
  options->level0_slowdown_writes_trigger = 24;
  options->level0_stop_writes_trigger = 48;
  options->merge_operator = NewSeenOperator(rules.seen);
  options->compaction_filter_factory = NewSealFilterFactory(rules.seen);
}

void TuneImpressions(const TableRules& rules, ColumnFamilyOptions* options,
                     BlockBasedTableOptions*) {
  options->merge_operator = NewImpressionsOperator(rules.impressions);
}

void TuneExposures(const TableRules& rules, ColumnFamilyOptions* options, BlockBasedTableOptions*) {
  options->merge_operator = NewImpressionsOperator(rules.impressions);
  options->compaction_filter_factory = NewExpiryFilterFactory(rules.impressions);
}

void TuneCounts(const TableRules& rules, ColumnFamilyOptions* options, BlockBasedTableOptions*) {
  options->merge_operator = NewCountsOperator(rules.counts);
  options->compaction_filter_factory = NewExpiryFilterFactory(rules.counts);
}

void TuneHistory(const TableRules& rules, ColumnFamilyOptions* options, BlockBasedTableOptions*) {
  options->merge_operator = NewHistoryOperator(rules.counters);
}

// Read by iterators alone.
void TuneTimeline(const TableRules&, ColumnFamilyOptions*, BlockBasedTableOptions* blocks) {
  blocks->filter_policy = nullptr;
}

// ---- Values of newer versions, which begin with their tag in every family ----

template <std::string (*Text)(std::string_view)>
std::string NewerOr(std::string_view value) {
  std::string newer = NewerText(value);
  return newer.empty() ? Text(value) : newer;
}

template <Fault (*Check)(std::string_view, std::string_view)>
Fault NewerOr(std::string_view key, std::string_view value) {
  std::string newer = NewerText(value);
  return newer.empty() ? Check(key, value) : Fault{std::move(newer), true};
}

std::string NewerUser(std::string_view value) {
  Fault fault = NewerOr<FaultOfUser>({}, value);
  return fault.newer ? std::move(fault.reason) : "";
}

// ---- The shard's sequences in rows ----

uint64_t JournalSequence(std::string_view key, std::string_view) {
  uint64_t sequence = 0;
  return ParseSequenceKey(key, &sequence) ? sequence : 0;
}

uint64_t UserSequence(std::string_view, std::string_view value) {
  UserRecord record;
  return record.Parse(value) ? record.LastSequence() : 0;
}

uint64_t ImpressionsSequence(std::string_view, std::string_view value) {
  ImpressionList list;
  uint64_t sequence = 0;
  if (!list.Parse(value)) return 0;
  for (const ImpressionEntry& entry : list.entries) sequence = std::max(sequence, entry.stamp);
  return sequence;
}

std::string ImpressionsAfter(std::string_view value, uint64_t seq) {
  ImpressionList list;
  if (!list.Parse(value)) return {};
  list.ForgetUpTo(seq);
  std::string after;
  if (!list.entries.empty()) list.Encode(&after);
  return after;
}

std::string OwnAfter(std::string_view value, int64_t at_ms) {
  StoredOwnSet set;
  if (set.Parse(value)) return set.said_ms > at_ms ? std::string(value) : std::string();
  MarkList list;
  if (!list.Parse(value)) return {};
  list.ForgetUpTo(at_ms);
  std::string after;
  if (!list.empty()) list.Encode(&after);
  return after;
}

std::string CountsAfter(std::string_view value, int64_t at_ms) {
  CountList list;
  if (!list.Parse(value)) return {};
  list.DropBefore(at_ms + 1);
  std::string after;
  if (!list.entries.empty()) list.Encode(&after);
  return after;
}

// Names are looked up from the front.
constexpr Table kTables[] = {
    {
        .prefix = kMetaTable,
        .scope = Table::Scope::kShard,
        .tune = TuneMeta,
        .compacted = true,
        .may_be_missing = false,
        .take = Table::Take::kByKey,
        .erase = Table::Erase::kKeep,
        .clear = Table::Clear::kNone,
        .loss = Table::Loss::kNames,
        .lost_label = {},
        .markers = {},
        .key_text = PlainKeyText,
        .value_text = NewerOr<PlainText>,
        .check = NewerOr<FaultOfMeta>,
        .newer_reason = nullptr,
        .newer_end = {},
        .sequence_of = nullptr,  // the epoch, under the key `ring`
        .written_after = nullptr,
    },
    {
        .prefix = kUsersTable,
        .scope = Table::Scope::kShard,
        .tune = TuneUsers,
        .compacted = true,
        .may_be_missing = false,
        .take = Table::Take::kMerge,
        .erase = Table::Erase::kRecord,
        .clear = Table::Clear::kNone,
        .loss = Table::Loss::kUserRecords,
        .lost_label = {},
        .markers = {},
        .key_text = PlainKeyText,
        .value_text = NewerOr<UserText>,
        .check = NewerOr<FaultOfUser>,
        .newer_reason = NewerUser,
        .newer_end = kDayKeysBegin,  // a day that can't be read is none, which harms nobody
        .sequence_of = UserSequence,
        .written_after = nullptr,
    },
    {
        .prefix = kOwnTable,
        .scope = Table::Scope::kShard,
        .tune = TuneOwn,
        .compacted = true,
        .may_be_missing = true,
        .take = Table::Take::kMerge,
        .erase = Table::Erase::kDeleteUser,
        .clear = Table::Clear::kNone,
        .loss = Table::Loss::kUsersOfShard,
        .lost_label = kOwnLabel,
        .markers = {},
        .key_text = OwnKeyText,
        .value_text = NewerOr<OwnText>,
        .check = NewerOr<FaultOfOwn>,
        .newer_reason = nullptr,
        .newer_end = {},
        .sequence_of = nullptr,
        .written_after = nullptr,
        .said_after = OwnAfter,
    },
    {
        .prefix = kRingTables,
        .scope = Table::Scope::kSlot,
        .tune = TuneRing,
        .compacted = false,
        .may_be_missing = false,
        .take = Table::Take::kPut,
        .erase = Table::Erase::kKeep,
        .clear = Table::Clear::kNone,
        .loss = Table::Loss::kLog,
        .lost_label = {},
        .markers = {},
        .key_text = SequenceKeyText,
        .value_text = NewerOr<JournalText>,
        .check = NewerOr<FaultOfJournal>,
        .newer_reason = NewerText,
        .newer_end = {},
        .sequence_of = JournalSequence,
        .written_after = nullptr,
    },
    {
        .prefix = kSeenTables,
        .scope = Table::Scope::kBucket,
        .tune = TuneSeen,
        .compacted = true,
        .may_be_missing = true,
        .take = Table::Take::kMerge,
        .erase = Table::Erase::kDeleteUser,
        .clear = Table::Clear::kFilter,
        .loss = Table::Loss::kUsersOfBucket,
        .lost_label = {},
        .markers = kSeenMarkers,
        .key_text = PlainKeyText,
        .value_text = NewerOr<FilterText>,
        .check = NewerOr<FaultOfFilter>,
        .newer_reason = nullptr,
        .newer_end = {},
        .sequence_of = nullptr,
        .written_after = nullptr,
    },
    {
        .prefix = kImpressionsTables,
        .scope = Table::Scope::kCollection,
        .tune = TuneImpressions,
        .compacted = true,
        .may_be_missing = true,
        .take = Table::Take::kMerge,
        .erase = Table::Erase::kDeleteUser,
        .clear = Table::Clear::kFilter,
        .loss = Table::Loss::kUsersOfBucket,
        .lost_label = kImpressionsLabel,
        .markers = {},
        .key_text = PlainKeyText,
        .value_text = NewerOr<ImpressionsText>,
        .check = NewerOr<FaultOfImpressions>,
        .newer_reason = nullptr,
        .newer_end = {},
        .sequence_of = ImpressionsSequence,
        .written_after = ImpressionsAfter,
    },
    {
        .prefix = kExposuresTables,
        .scope = Table::Scope::kCollection,
        .tune = TuneExposures,
        .compacted = true,
        .may_be_missing = true,
        .take = Table::Take::kMerge,
        .erase = Table::Erase::kDeleteUser,
        .clear = Table::Clear::kFilter,
        .loss = Table::Loss::kUsersOfBucket,
        .lost_label = kExposuresLabel,
        .markers = {},
        .key_text = PlainKeyText,
        .value_text = NewerOr<ImpressionsText>,
        .check = NewerOr<FaultOfImpressions>,
        .newer_reason = nullptr,
        .newer_end = {},
        .sequence_of = ImpressionsSequence,
        .written_after = ImpressionsAfter,
    },
    {
        .prefix = kCountsTables,
        .scope = Table::Scope::kCollection,
        .tune = TuneCounts,
        .compacted = true,
        .may_be_missing = true,
        .take = Table::Take::kMerge,
        .erase = Table::Erase::kDeleteUser,
        .clear = Table::Clear::kFilter,
        .loss = Table::Loss::kUsersOfBucket,
        .lost_label = kCountsLabel,
        .markers = {},
        .key_text = PlainKeyText,
        .value_text = NewerOr<CountsText>,
        .check = NewerOr<FaultOfCounts>,
        .newer_reason = nullptr,
        .newer_end = {},
        .sequence_of = nullptr,
        .written_after = nullptr,
        .said_after = CountsAfter,
    },
    {
        .prefix = kHistoryTables,
        .scope = Table::Scope::kBucket,
        .tune = TuneHistory,
        .compacted = true,
        .may_be_missing = true,
        .take = Table::Take::kMerge,
        .erase = Table::Erase::kRows,
        .clear = Table::Clear::kHistory,
        .loss = Table::Loss::kAllOfBucket,  // keys begin with a size: those lost are nobody's
        .lost_label = kHistoryLabelPrefix,
        .markers = {},
        .key_text = HistoryKeyText,
        .value_text = NewerOr<HistoryText>,
        .check = NewerOr<FaultOfHistory>,
        .newer_reason = nullptr,
        .newer_end = {},
        .sequence_of = nullptr,
        .written_after = nullptr,
    },
    {
        .prefix = kTimelineTables,
        .scope = Table::Scope::kBucket,
        .tune = TuneTimeline,
        .compacted = true,
        .may_be_missing = true,
        .take = Table::Take::kPut,
        .erase = Table::Erase::kRows,
        .clear = Table::Clear::kHistory,
        .loss = Table::Loss::kAllOfBucket,
        .lost_label = kHistoryLabelPrefix,
        .markers = {},
        .key_text = TimelineKeyText,
        .value_text = NewerOr<PlainText>,
        .check = NewerOr<FaultOfTimeline>,
        .newer_reason = nullptr,
        .newer_end = {},
        .sequence_of = nullptr,
        .written_after = nullptr,
    },
};

BlockBasedTableOptions BlockOptions(const std::shared_ptr<rocksdb::Cache>& block_cache) {
  BlockBasedTableOptions blocks;
  blocks.block_cache = block_cache;
  blocks.block_size = 16 << 10;
  blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  blocks.whole_key_filtering = true;
  blocks.cache_index_and_filter_blocks = true;
  blocks.cache_index_and_filter_blocks_with_high_priority = true;
  blocks.pin_l0_filter_and_index_blocks_in_cache = true;
  return blocks;
}

}  // namespace

std::span<const Table> Tables() { return kTables; }

TableRules UnboundRules(const std::shared_ptr<Counters>& counters) {
  TableRules rules{std::make_shared<SeenRules>(), std::make_shared<ImpressionRules>(),
                   std::make_shared<CountRules>(), std::make_shared<OwnRules>(), counters};
  rules.seen->counters = counters;
  rules.impressions->counters = counters;
  rules.impressions->limit = UINT32_MAX;
  rules.impressions->ids = true;
  rules.counts->counters = counters;
  return rules;
}

rocksdb::ColumnFamilyOptions FamilyOptions(const Table& kind, const TableRules& rules,
                                           const std::shared_ptr<rocksdb::Cache>& block_cache) {
  ColumnFamilyOptions options;
  options.compression = rocksdb::kNoCompression;
  options.arena_block_size = 64 << 10;  // many families share one budget
  options.write_buffer_size = 32 * kMiB;
  options.max_write_buffer_number = 4;
  options.level_compaction_dynamic_level_bytes = true;
  BlockBasedTableOptions blocks = BlockOptions(block_cache);
  kind.tune(rules, &options, &blocks);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  return options;
}

}  // namespace seendb
