#include "shard/report.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/durations.h"
#include "base/return_if_failed.h"
#include "filter/block_bloom.h"
#include "filter/sizing.h"
#include "format/day_key.h"
#include "format/filter_codec.h"
#include "format/impressions_codec.h"
#include "shard/marks.h"
#include "shard/own_sets.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kDamagesNamed = 100;

uint64_t DamageCount(std::string_view section) {
  DamageSet damage;
  if (section.empty() || !DamageSet::Read(section, &damage)) return section.empty() ? 0 : 1;
  return damage.entries.size() + damage.newer.size();
}

void ReportFilter(const FilterView& view, BucketReport* report) {
  report->form = view.sealed            ? FilterForm::kSealed
                 : view.layer_count > 0 ? FilterForm::kLayers
                                        : FilterForm::kList;
  report->items = report->list_items = view.list_count;
  report->as_of_ms = view.as_of_ms;
  report->dropped_layers = view.dropped_layers;
  report->damaged = DamageCount(view.damage);
  double all_miss = 1;
  for (uint32_t i = 0; i < view.layer_count; ++i) {
    const LayerView& layer = view.layers[i];
    LayerReport row;
    row.blocks = layer.blocks;
    row.capacity = layer.capacity;
    row.items = layer.items;
    if (layer.blocks > 0) {
      row.fill = Fill(layer.bits, layer.blocks);
      row.fpr = EstimateFpr(layer.bits, layer.blocks);
    }
    report->items += layer.items;
    all_miss *= 1 - row.fpr;
    report->layers.push_back(row);
  }
  report->fpr = 1 - all_miss;
}

uint64_t Property(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  db->GetIntProperty(family, name, &value);
  return value;
}

void ReportForgotten(const UserRecord& settings, std::string_view only, UserReport* report) {
  for (const auto& [collection, marks] : settings.marks) {
    if (marks.forgotten.seq == 0 || (!only.empty() && collection != only)) continue;
    report->forgotten_at_ms.emplace_back(collection, marks.forgotten.at_ms);
  }
}

BucketReport ReportBucket(const ShardParts& shard, const std::string& collection,
                          const Bucket& bucket, std::string_view user, bool* found) {
  BucketReport report;
  report.collection = collection;
  report.bucket = bucket.label;
  rocksdb::PinnableSlice value;
  const rocksdb::Status status =
      shard.store->db()->Get({}, bucket.family->get(), {user.data(), user.size()}, &value);
  *found = !status.IsNotFound();
  FilterView view;
  if (!status.ok()) {
    report.readable = false;
    report.error = status.ToString();
  } else if (!view.Parse(value.ToStringView())) {
    report.readable = false;
    report.error = bucket.family->kind().check(user, value.ToStringView()).reason;
    report.damaged = 1;
  } else {
    ReportFilter(view, &report);
  }
  report.bytes = value.size();
  return report;
}

// The user's staged plays.
void ReportStaged(const ShardParts& shard, std::string_view only, UserReport* report) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  for (const auto& [name, collection] : families->collections) {
    if (!only.empty() && name != only) continue;
    // Clang 14 captures no structured bindings.
    const auto add = [&, &name = name, &policy = collection.policy](
                         uint32_t position, bool drained, int64_t bucket, uint32_t items) {
      report->ring.push_back({name, BucketLabel(policy, bucket), position, drained, items});
    };
    shard.ring.ForUser(shard.names->Intern(name, collection.making), report->user, add);
  }
}

// Which entries of a list the policy keeps: it may say less by now than when they were written.
struct Kept {
  size_t newest = 0;
  int64_t from_ms = 0;
};

void ReportList(const ShardParts& shard, const std::string& collection,
                const std::shared_ptr<Family>& family, const Kept& kept, const std::string& user,
                std::vector<ImpressionsReport>* rows) {
  if (!family) return;
  std::string value;
  const rocksdb::Status status = shard.store->db()->Get({}, family->get(), user, &value);
  if (status.IsNotFound()) return;
  ImpressionsReport& row = rows->emplace_back();
  row.collection = collection;
  ImpressionList list;
  row.readable = status.ok() && list.Parse(value);
  if (!row.readable) {
    row.error = status.ok() ? family->kind().check(user, value).reason : status.ToString();
    return;
  }
  row.damaged = list.damage.entries.size() + list.damage.newer.size();
  list.DropBefore(kept.from_ms);
  list.entries.resize(std::min(list.entries.size(), kept.newest));
  for (const ImpressionEntry& entry : list.entries) {
    row.entries.push_back(
        {entry.item, entry.at_ms, std::string(entry.id), std::string(entry.surface)});
  }
}

}  // namespace

Status Unreadable(const ShardParts& shard) {
  const Status stopped = shard.store->CheckWritable();
  if (stopped.ok()) return Status::Unavailable("the shard is being closed");
  return Status::Unavailable(std::string(stopped.message()));
}

Status InspectUser(const ShardParts& shard, std::string_view only, UserReport* report) {
  if (!shard.store->readable()) return Unreadable(shard);
  ReportStaged(shard, only, report);
  UserRecordPtr settings;
  Status looked_up = shard.users.Find(report->user, RecordTier::kDisk, &settings);
  if (!looked_up.ok()) return looked_up;
  if (settings != nullptr && settings->erased_seq != 0) {
    report->erased_at_ms = settings->erased_at_ms;
  }
  if (settings != nullptr) ReportForgotten(*settings, only, report);
  report->paused =
      settings != nullptr && !settings->toggles.empty() && settings->toggles.back().paused;
  if (only.empty()) {  // marks and sets are of no collection
    rocksdb::PinnableSlice value;
    MarkList marks;
    looked_up = LoadMarks(shard, report->user, &value, &marks);
    if (!looked_up.ok() && looked_up.code() != StatusCode::kCorruption) return looked_up;
    report->marked_groups = marks.groups();
    UserSetList sets;
    looked_up = ListOwnSets(shard, report->user, &sets);
    if (!looked_up.ok()) return looked_up;
    report->own_sets = sets.sets.size();
  }
  const int64_t now_ms = shard.clock->NowMs();
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  for (const auto& [name, collection] : families->collections) {
    if (!only.empty() && name != only) continue;
    for (const auto& [index, bucket] : collection.buckets) {
      bool found = false;
      BucketReport row = ReportBucket(shard, name, *bucket, report->user, &found);
      if (found) report->buckets.push_back(std::move(row));
    }
    ReportHistory(shard, collection, report);
    if (const auto day = shard.days.LastDay(DayKey(report->user, name))) {
      report->last_active_days.emplace_back(name, DayText(*day));
    }
    const Policy& policy = collection.policy;
    ReportList(shard, name, collection.impressions, {policy.impressions, kFirstTimeMs},
               report->user, &report->impressions);
    const int64_t kept_from_ms = now_ms - int64_t{policy.exposures.days} * kMsPerDay;
    ReportList(shard, name, collection.exposures, {policy.exposures.recent, kept_from_ms},
               report->user, &report->exposures);
  }
  return {};
}

void AddBuckets(const ShardParts& shard, const Collection& collection, int64_t now_ms,
                BucketSums* sums) {
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  const CollectionFamilies* const family = families->Find(collection.name);
  if (family == nullptr) return;
  const int64_t current = BucketIndexOf(collection.policy, now_ms);
  for (const auto& [index, bucket] : family->buckets) {
    BucketInfo& info = sums->infos[index];
    info.collection = collection.name;
    info.bucket = bucket->label;
    info.begin_ms = bucket->begin_ms;
    info.end_ms = bucket->end_ms;
    rocksdb::ColumnFamilyHandle* const handle = bucket->family->get();
    using Names = rocksdb::DB::Properties;
    info.bytes += Property(shard.store->db(), handle, Names::kLiveSstFilesSize) +
                  Property(shard.store->db(), handle, Names::kCurSizeAllMemTables);
    info.in_window = index > current - static_cast<int64_t>(collection.policy.window);
    if (!bucket->sealed) sums->unsealed[index] = true;
  }
}

void AddStats(ShardParts& shard, EngineStats* stats) {
  shard.ring.AddTo(stats);
  stats->outbox_rows += shard.outbox.rows();
  stats->user_cache_bytes += shard.users.cache_bytes();
  stats->user_directory_bytes += shard.users.directory_bytes();
  {
    const MutexLock lock(shard.sources.mutex());
    for (const auto& [key, record] : shard.sources.records()) stats->ingested += record.counts;
  }
  if (!shard.store->readable()) return;
  stats->column_families += shard.store->database().family_count();
  using Names = rocksdb::DB::Properties;
  uint64_t value = 0;
  rocksdb::DB* const db = shard.store->db();
  if (db->GetAggregatedIntProperty(Names::kLiveSstFilesSize, &value)) stats->disk_bytes += value;
  if (db->GetAggregatedIntProperty(Names::kCurSizeAllMemTables, &value)) {
    stats->memtable_bytes += value;
  }
  if (db->GetAggregatedIntProperty(Names::kEstimatePendingCompactionBytes, &value)) {
    stats->pending_compaction_bytes += value;
  }
}

Status VerifyRows(const ShardParts& shard, VerifyReport* report) {
  if (!shard.store->readable()) return Unreadable(shard);
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  options.fill_cache = false;
  for (const std::shared_ptr<Family>& family : shard.store->database().OpenTables()) {
    const auto note = [&](std::string key, Fault fault) {
      ++(fault.newer ? report->newer : report->damaged);
      if (report->damages.size() >= kDamagesNamed) return;
      report->damages.push_back({shard.store->shard(), family->name(), std::move(key),
                                 std::move(fault.reason), fault.newer});
    };
    const std::unique_ptr<rocksdb::Iterator> it(
        shard.store->db()->NewIterator(options, family->get()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      if (shard.store->database().giving_up()) return Unreadable(shard);
      ++report->keys;
      report->bytes += it->value().size();
      const std::string_view key = it->key().ToStringView();
      Fault fault = family->kind().check(key, it->value().ToStringView());
      if (!fault.reason.empty()) note(family->kind().key_text(key), std::move(fault));
    }
    if (!it->status().ok()) note("", {it->status().ToString()});
  }
  return {};
}

Status ScanRows(const ShardParts& shard, std::string_view family_prefix,
                const std::function<bool(const ScanRow&)>& visit, bool* enough) {
  if (!shard.store->readable()) return Unreadable(shard);
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  for (const std::shared_ptr<Family>& family : shard.store->database().OpenTables()) {
    if (!family->name().starts_with(family_prefix)) continue;
    const std::unique_ptr<rocksdb::Iterator> it(
        shard.store->db()->NewIterator(options, family->get()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      if (shard.store->database().giving_up()) return Unreadable(shard);
      ScanRow row;
      row.shard = shard.store->shard();
      row.family = family->name();
      row.key = family->kind().key_text(it->key().ToStringView());
      row.value = family->kind().value_text(it->value().ToStringView());
      row.bytes = it->value().size();
      *enough = !visit(row);
      if (*enough) return {};
    }
    RETURN_IF_FAILED(FromRocks(it->status(), "scan " + family->name()));
  }
  return {};
}

}  // namespace seendb
