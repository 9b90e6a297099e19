#include "check_options.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>

#include "filter/hash.h"
#include "filter/item_hash.h"
#include "seendb/policy.h"

namespace seendb {
namespace {

constexpr int64_t kLongestJumpMs = 36'600LL * 86'400'000;
constexpr int kMostThreads = 256;
constexpr size_t kLongestId = 64;
constexpr uint64_t kLeastWriteBuffer = 64 << 10;

}  // namespace

Status CheckOptions(const Options& options) {
  if (options.shards > 1024) return Status::InvalidArgument("at most 1024 shards", "/shards");
  if (options.item_hash < kOldestHashVersion || options.item_hash > kNewestHashVersion) {
    return Status::InvalidArgument("item_hash must be 1 or 2", "/item_hash");
  }
  if (options.item_hash_key && options.item_hash == kOldestHashVersion) {
    return Status::InvalidArgument("hash version 1 has no key", "/item_hash_key");
  }
  if (options.as_found && options.owned) {
    return Status::InvalidArgument("the shards are those that are found, or those owned", "/owned");
  }
  const auto in_id = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; };
  if (const auto& id = options.database_id; id && (id->empty() || id->size() > kLongestId ||
                                                   !std::all_of(id->begin(), id->end(), in_id))) {
    return Status::InvalidArgument("must be 1 to 64 letters, digits and '-'", "/database_id");
  }
  if (options.erase_within_days < 1 || options.erase_within_days > 3'650) {
    return Status::InvalidArgument("erase_within_days must be 1-3650", "/erase_within_days");
  }
  if (options.ring_slots < 2 || options.ring_slots > 64) {
    return Status::InvalidArgument("ring_slots must be 2-64", "/ring_slots");
  }
  if (options.slot_ms < 1) return Status::InvalidArgument("slot_ms must be positive", "/slot_ms");
  if (options.slot_bytes_max < 1) {
    return Status::InvalidArgument("slot_bytes_max must be positive", "/slot_bytes_max");
  }
  if (options.write_buffer_bytes < kLeastWriteBuffer) {
    return Status::InvalidArgument("write_buffer_bytes must be at least 64 KB",
                                   "/write_buffer_bytes");
  }
  if (options.background_threads < 1 || options.background_threads > kMostThreads) {
    return Status::InvalidArgument("background_threads must be 1-256", "/background_threads");
  }
  if (options.max_column_families < 1) {
    return Status::InvalidArgument("max_column_families must be positive", "/max_column_families");
  }
  if (options.max_collections < 1) {
    return Status::InvalidArgument("max_collections must be positive", "/max_collections");
  }
  const Status policy = ValidatePolicy(ApplyPatch({}, options.default_policy));
  if (!policy.ok()) return Status(policy).WithFieldPrefix("/default_policy");
  if (options.list_limit < 16 || options.list_limit > 65'535) {
    return Status::InvalidArgument("list_limit must be 16-65535", "/list_limit");
  }
  if (options.max_candidates < 1) {
    return Status::InvalidArgument("max_candidates must be positive", "/max_candidates");
  }
  const auto is_minute = [](int32_t minute) { return minute >= 0 && minute <= 1440; };
  if (!is_minute(options.maintenance_begin_minute)) {
    return Status::InvalidArgument("must be a minute of the day, 0-1440",
                                   "/maintenance_begin_minute");
  }
  if (!is_minute(options.maintenance_end_minute)) {
    return Status::InvalidArgument("must be a minute of the day, 0-1440",
                                   "/maintenance_end_minute");
  }
  if (options.clock_jump_ms < 0 || options.clock_jump_ms > kLongestJumpMs) {
    return Status::InvalidArgument("clock_jump_ms must be 0 to 36,600 days", "/clock_jump_ms");
  }
  if (options.sync_interval_ms < 1) {
    return Status::InvalidArgument("sync_interval_ms must be positive", "/sync_interval_ms");
  }
  return {};
}

}  // namespace seendb
