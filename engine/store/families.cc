#include "store/families.h"

#include <charconv>

#include <rocksdb/file_checksum.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

namespace seendb {
namespace {

constexpr uint64_t kMiB = 1 << 20;

rocksdb::BlockBasedTableOptions TableOptions(const SharedResources& shared) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = shared.block_cache;
  table.block_size = 16 << 10;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.whole_key_filtering = true;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  return table;
}

// Families of which there is one a bucket.
struct BucketFamily {
  std::string_view prefix;
  FamilyName::Kind kind;
};
constexpr BucketFamily kBucketFamilies[] = {{"seen/", FamilyName::kSeen},
                                            {"history/", FamilyName::kHistory},
                                            {"timeline/", FamilyName::kTimeline}};

void ParseBucketFamily(std::string_view name, FamilyName* parsed) {
  for (const auto& [prefix, kind] : kBucketFamilies) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return;
    parsed->collection = rest.substr(0, slash);
    parsed->bucket = rest.substr(slash + 1);
    if (ValidateCollectionName(parsed->collection).ok()) parsed->kind = kind;
  }
}

std::string Joined(std::string_view kind, std::string_view collection, std::string_view bucket) {
  return std::string(kind).append("/").append(collection).append("/").append(bucket);
}

}  // namespace

FamilyName ParseFamilyName(std::string_view name) {
  FamilyName parsed;
  if (name == rocksdb::kDefaultColumnFamilyName) {
    parsed.kind = FamilyName::kDefault;
  } else if (name == kUsersFamilyName) {
    parsed.kind = FamilyName::kUsers;
  } else if (name.starts_with("ring/")) {
    const std::string_view number = name.substr(5);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), parsed.slot);
    if (error == std::errc() && end == number.data() + number.size()) {
      parsed.kind = FamilyName::kRing;
    }
  } else if (name.starts_with("impressions/")) {
    parsed.collection = name.substr(12);
    if (ValidateCollectionName(parsed.collection).ok()) parsed.kind = FamilyName::kImpressions;
  } else {
    ParseBucketFamily(name, &parsed);
  }
  return parsed;
}

std::string RingFamilyName(uint32_t slot) { return "ring/" + std::to_string(slot); }

std::string SeenFamilyName(std::string_view collection, std::string_view bucket) {
  return Joined("seen", collection, bucket);
}

std::string HistoryFamilyName(std::string_view collection, std::string_view bucket) {
  return Joined("history", collection, bucket);
}

std::string TimelineFamilyName(std::string_view collection, std::string_view bucket) {
  return Joined("timeline", collection, bucket);
}

std::string ImpressionsFamilyName(std::string_view collection) {
  return std::string("impressions/").append(collection);
}

rocksdb::ColumnFamilyOptions FamilyOptions(const SharedResources& shared, FamilyName::Kind kind,
                                           const std::shared_ptr<SeenRules>& seen,
                                           const std::shared_ptr<ImpressionRules>& impressions) {
  rocksdb::ColumnFamilyOptions options;
  options.compression = rocksdb::kNoCompression;
  options.arena_block_size = 64 << 10;  // many families share one budget
  options.write_buffer_size = 32 * kMiB;
  options.max_write_buffer_number = 4;
  options.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table = TableOptions(shared);
  switch (kind) {
    case FamilyName::kSeen:
      options.compaction_style = rocksdb::kCompactionStyleUniversal;
      options.level0_file_num_compaction_trigger = 8;
      options.level0_slowdown_writes_trigger = 24;
      options.level0_stop_writes_trigger = 48;
      options.merge_operator = NewSeenOperator(seen);
      options.compaction_filter_factory = NewSealFilterFactory(seen);
      break;
    case FamilyName::kImpressions:
      options.merge_operator = NewImpressionsOperator(impressions);
      break;
    case FamilyName::kUsers:
      options.merge_operator = NewUsersOperator(shared.counters);
      break;
    case FamilyName::kHistory:
      options.merge_operator = NewHistoryOperator(shared.counters);
      break;
    case FamilyName::kTimeline:
      table.filter_policy = nullptr;  // read by iterators alone
      break;
    case FamilyName::kRing:
      // Written once, read only by a replay, dropped whole.
      options.disable_auto_compactions = true;
      options.write_buffer_size = 64 * kMiB;
      options.level0_slowdown_writes_trigger = 1 << 20;
      options.level0_stop_writes_trigger = 1 << 20;
      table.filter_policy = nullptr;
      break;
    case FamilyName::kDefault:
    case FamilyName::kUnknown:
      options.write_buffer_size = 4 * kMiB;
      break;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::DBOptions DatabaseOptions(const SharedResources& shared) {
  rocksdb::DBOptions options;
  options.env = shared.env;
  options.write_buffer_manager = shared.write_buffers;
  options.statistics = shared.statistics;
  options.max_total_wal_size = std::max<uint64_t>(2 * shared.write_buffer_bytes, 64 * kMiB);
  options.max_background_jobs = std::max(shared.background_threads, 2);
  options.max_subcompactions = static_cast<uint32_t>(std::max(shared.background_threads, 1));
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.avoid_flush_during_recovery = true;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  // Or a family that was made, or dropped, would be reported as if it had not been.
  options.fail_if_options_file_error = false;
  options.max_bgerror_resume_count = 0;  // see problem_list.h
  options.keep_log_file_num = 4;
  options.max_log_file_size = 16 * kMiB;
  options.bytes_per_sync = kMiB;
  options.compaction_readahead_size = 2 * kMiB;
  options.max_file_opening_threads = 4;
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();  // for verify
  return options;
}

}  // namespace seendb
