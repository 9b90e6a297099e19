// What the engine tells people: users, buckets, ring, statistics, verification.

#include <algorithm>

#include "engine_impl.h"
#include "filter/block_bloom.h"
#include "filter/sizing.h"
#include "format/day_key.h"
#include "format/filter_codec.h"
#include "format/impressions_codec.h"
#include "store/scan.h"
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

Status Unreadable(const Shard& shard) {
  const Status stopped = shard.store->CheckWritable();
  if (stopped.ok()) return Status::Unavailable("the shard is being closed");
  return Status::Unavailable(std::string(stopped.message()));
}

// Every family of a shard with its name.
std::vector<std::pair<std::string, rocksdb::ColumnFamilyHandle*>> AllFamilies(
    const ShardStore& store, const FamilySet& set, std::vector<std::shared_ptr<Family>>* keep) {
  std::vector<std::pair<std::string, rocksdb::ColumnFamilyHandle*>> all;
  all.emplace_back(rocksdb::kDefaultColumnFamilyName, store.meta());
  all.emplace_back(kUsersFamilyName, store.users());
  for (uint32_t slot = 0; slot < store.ring_families(); ++slot) {
    const std::shared_ptr<Family> family = store.ring_family(slot);
    if (family == nullptr) continue;
    keep->push_back(family);
    all.emplace_back(RingFamilyName(slot), family->get());
  }
  for (const auto& [name, collection] : set.collections) {
    if (collection.impressions) {
      all.emplace_back(ImpressionsFamilyName(name), collection.impressions->get());
    }
    for (const auto& [index, bucket] : collection.buckets) {
      all.emplace_back(SeenFamilyName(name, bucket->label), bucket->family->get());
    }
    for (const auto& [index, bucket] : collection.history) {
      all.emplace_back(HistoryFamilyName(name, bucket->label), bucket->states->get());
      all.emplace_back(TimelineFamilyName(name, bucket->label), bucket->timeline->get());
    }
  }
  return all;
}

void ReportForgotten(const UserRecord& settings, std::string_view only, UserReport* report) {
  for (const auto& [collection, marks] : settings.marks) {
    if (marks.forgotten.seq == 0 || (!only.empty() && collection != only)) continue;
    report->forgotten_at_ms.emplace_back(collection, marks.forgotten.at_ms);
  }
}

}  // namespace

BucketReport EngineImpl::ReportBucket(Shard& shard, const Policy&, const std::string& collection,
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
    report.error = FaultOf(FamilyName::kSeen, user, value.ToStringView()).reason;
    report.damaged = 1;
  } else {
    ReportFilter(view, &report);
  }
  report.bytes = value.size();
  return report;
}

Result<UserReport> EngineImpl::Inspect(IdRef user, std::string_view only) {
  const Status open = CheckOpen();
  if (!open.ok()) return open;
  const Status valid = CheckUser(user);
  if (!valid.ok()) return valid;
  if (!only.empty()) {
    const Result<Collection> known = FindCollection(only);
    if (!known.ok()) return known.status();
  }
  UserReport report;
  report.user = user.ToString();
  report.shard = ShardOf(user);
  Shard& shard = shards_[report.shard];
  const Gate::Scope inside(*shard.use);
  if (!shard.store->readable()) return Unreadable(shard);
  for (StagedReport& staged : shard.ring->Inspect(report.user)) {
    if (only.empty() || staged.collection == only) report.ring.push_back(std::move(staged));
  }
  const std::shared_ptr<const UserRecord> settings = shard.ring->settings().Find(report.user);
  if (settings != nullptr && settings->erased_seq != 0) {
    report.erased_at_ms = settings->erased_at_ms;
  }
  if (settings != nullptr) ReportForgotten(*settings, only, &report);
  report.paused =
      settings != nullptr && !settings->toggles.empty() && settings->toggles.back().paused;
  const std::shared_ptr<const FamilySet> families = shard.store->families();
  for (const auto& [name, collection] : families->collections) {
    if (!only.empty() && name != only) continue;
    for (const auto& [index, bucket] : collection.buckets) {
      bool found = false;
      BucketReport row = ReportBucket(shard, collection.policy, name, *bucket, report.user, &found);
      if (found) report.buckets.push_back(std::move(row));
    }
    ReportHistory(shard, collection, &report);
    if (const auto day = shard.ring->days().LastDay(DayKey(report.user, name))) {
      report.last_active_days.emplace_back(name, DayText(*day));
    }
    if (!collection.impressions) continue;
    std::string value;
    const rocksdb::Status status =
        shard.store->db()->Get({}, collection.impressions->get(), report.user, &value);
    if (status.IsNotFound()) continue;
    ImpressionsReport row;
    row.collection = name;
    ImpressionList list;
    row.readable = status.ok() && list.Parse(value);
    if (!row.readable) {
      row.error = status.ok() ? FaultOf(FamilyName::kImpressions, report.user, value).reason
                              : status.ToString();
    } else {
      row.damaged = list.damage.entries.size() + list.damage.newer.size();
      const size_t kept = std::min<size_t>(list.entries.size(), collection.policy.impressions);
      list.entries.resize(kept);  // the policy may keep fewer by now
      for (const ImpressionEntry& entry : list.entries) {
        row.entries.push_back({entry.item, entry.at_ms});
      }
    }
    report.impressions.push_back(std::move(row));
  }
  return report;
}

std::vector<BucketInfo> EngineImpl::Buckets() {
  std::vector<BucketInfo> infos;
  if (!CheckOpen().ok()) return infos;
  const int64_t now = clock_->NowMs();
  const std::shared_ptr<const CollectionMap> all = collections();
  for (const auto& [name, collection] : *all) {
    const Policy& policy = collection.policy;
    const int64_t current = BucketIndexOf(policy, now);
    std::map<int64_t, BucketInfo, std::greater<>> by_index;
    std::map<int64_t, bool> unsealed;
    for (Shard& shard : shards_) {
      const Gate::Scope inside(*shard.use);
      const std::shared_ptr<const FamilySet> families = shard.store->families();
      const CollectionFamilies* family = families->Find(name);
      if (family == nullptr) continue;
      for (const auto& [index, bucket] : family->buckets) {
        BucketInfo& info = by_index[index];
        info.collection = name;
        info.bucket = bucket->label;
        info.begin_ms = bucket->begin_ms;
        info.end_ms = bucket->end_ms;
        rocksdb::ColumnFamilyHandle* handle = bucket->family->get();
        using Names = rocksdb::DB::Properties;
        info.users += Property(shard.store->db(), handle, Names::kEstimateNumKeys);
        info.bytes += Property(shard.store->db(), handle, Names::kLiveSstFilesSize) +
                      Property(shard.store->db(), handle, Names::kCurSizeAllMemTables);
        info.in_window = index > current - static_cast<int64_t>(policy.window);
        if (!bucket->sealed) unsealed[index] = true;
      }
    }
    for (auto& [index, info] : by_index) {
      info.state = index <= current - static_cast<int64_t>(policy.retention) ? BucketState::kExpired
                   : !unsealed[index]                                        ? BucketState::kSealed
                   : index > current                                         ? BucketState::kFuture
                   : index == current                                        ? BucketState::kOpen
                                                                             : BucketState::kClosed;
      infos.push_back(info);
    }
  }
  return infos;
}

std::vector<SlotInfo> EngineImpl::Ring() {
  std::vector<SlotInfo> infos;
  if (!CheckOpen().ok()) return infos;
  for (Shard& shard : shards_) {
    const Gate::Scope inside(*shard.use);
    for (SlotInfo& info : shard.ring->Slots()) infos.push_back(std::move(info));
  }
  return infos;
}

EngineStats EngineImpl::Stats() {
  EngineStats stats;
  if (!CheckOpen().ok()) return stats;
  const auto get = [](const std::atomic<uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  stats.plays_accepted = get(counters_.plays_accepted);
  stats.plays_refused = get(counters_.plays_refused);
  stats.impressions_accepted = get(counters_.impressions_accepted);
  stats.impressions_refused = get(counters_.impressions_refused);
  stats.ingest_repeated = get(counters_.ingest_repeated);
  stats.filters = get(counters_.filters);
  stats.filters_degraded = get(counters_.filters_degraded);
  stats.candidates = get(counters_.candidates);
  stats.candidates_seen = get(counters_.candidates_seen);
  stats.drained_plays = get(ring_counters_.drained_plays);
  stats.drained_records = get(ring_counters_.drained_records);
  stats.drain_failures = get(ring_counters_.drain_failures);
  stats.drains = get(ring_counters_.drains);
  stats.drain_us = get(ring_counters_.drain_us);
  stats.replayed_records = get(ring_counters_.replayed_records);
  stats.replayed_plays = get(ring_counters_.replayed_plays);
  stats.busy = get(counters_.busy);
  stats.users_erased = get(counters_.users_erased);
  stats.merges_full = get(shared_->counters->full);
  stats.merges_partial = get(shared_->counters->partial);
  stats.merge_operands = get(shared_->counters->operands);
  stats.reads = get(counters_.reads);
  stats.read_operands = get(counters_.read_operands);
  stats.layers_created = get(shared_->counters->layers_created);
  stats.layers_dropped = get(shared_->counters->layers_dropped);
  stats.damaged = get(shared_->counters->damaged) + get(ring_counters_.damaged_records);
  stats.buckets_sealed = get(counters_.buckets_sealed);
  stats.seal_failures = get(counters_.seal_failures);
  stats.buckets_dropped = get(counters_.buckets_dropped);
  stats.background_errors = get(counters_.background_errors);
  stats.history_recorded = get(counters_.history_recorded);
  stats.history_paused = get(counters_.history_paused);
  stats.history_drained = get(ring_counters_.history_drained);
  stats.history_pages = get(counters_.history_pages);
  stats.history_lookups = get(counters_.history_lookups);
  stats.history_deleted = get(counters_.history_deleted);
  stats.history_cleared = get(counters_.history_cleared);
  stats.history_evicted = get(counters_.history_evicted);
  stats.shards = static_cast<uint32_t>(shards_.size());
  using Names = rocksdb::DB::Properties;
  for (Shard& shard : shards_) {
    const Gate::Scope inside(*shard.use);
    shard.ring->AddTo(&stats);
    {
      const std::lock_guard lock(shard.sources->mutex());
      for (const auto& [key, record] : shard.sources->records()) stats.ingested += record.counts;
    }
    for (std::string& problem : shard.store->Problems()) {
      stats.problems.push_back("shard " + std::to_string(shard.store->shard()) + ": " +
                               std::move(problem));
    }
    if (!shard.store->readable()) continue;
    stats.column_families += shard.store->family_count();
    uint64_t value = 0;
    rocksdb::DB* db = shard.store->db();
    if (db->GetAggregatedIntProperty(Names::kLiveSstFilesSize, &value)) stats.disk_bytes += value;
    if (db->GetAggregatedIntProperty(Names::kCurSizeAllMemTables, &value)) {
      stats.memtable_bytes += value;
    }
    if (db->GetAggregatedIntProperty(Names::kEstimatePendingCompactionBytes, &value)) {
      stats.pending_compaction_bytes += value;
    }
  }
  stats.block_cache_bytes = shared_->block_cache->GetUsage();
  stats.wal_bytes_written = shared_->statistics->getTickerCount(rocksdb::WAL_FILE_BYTES);
  stats.flush_bytes_written = shared_->statistics->getTickerCount(rocksdb::FLUSH_WRITE_BYTES);
  stats.compaction_bytes_written =
      shared_->statistics->getTickerCount(rocksdb::COMPACT_WRITE_BYTES);
  stats.degraded = !stats.problems.empty();
  return stats;
}

template <typename Work>
Status EngineImpl::InEveryFamily(const Work& work) {
  const Status open = CheckOpen();
  if (!open.ok()) return open;
  for (Shard& shard : shards_) {
    const Gate::Scope inside(*shard.use);
    if (!shard.store->readable()) return Unreadable(shard);
    const std::shared_ptr<const FamilySet> set = shard.store->families();
    std::vector<std::shared_ptr<Family>> keep;
    for (const auto& [name, handle] : AllFamilies(*shard.store, *set, &keep)) {
      const Status done = work(shard, name, handle);
      if (!done.ok()) return done;
    }
  }
  return {};
}

Result<VerifyReport> EngineImpl::Verify() {
  VerifyReport report;
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  options.fill_cache = false;
  const Status read = InEveryFamily([&](const Shard& shard, const std::string& name,
                                        rocksdb::ColumnFamilyHandle* handle) -> Status {
    const FamilyName family = ParseFamilyName(name);
    const auto note = [&](std::string key, ValueFault fault) {
      ++(fault.newer ? report.newer : report.damaged);
      if (report.damages.size() >= kDamagesNamed) return;
      report.damages.push_back(
          {shard.store->shard(), name, std::move(key), std::move(fault.reason), fault.newer});
    };
    const std::unique_ptr<rocksdb::Iterator> it(shard.store->db()->NewIterator(options, handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      if (shard.store->giving_up()) return Unreadable(shard);
      ++report.keys;
      report.bytes += it->value().size();
      const std::string_view key = it->key().ToStringView();
      ValueFault fault = FaultOf(family.kind, key, it->value().ToStringView());
      if (!fault.reason.empty()) note(KeyText(family, key), std::move(fault));
    }
    if (!it->status().ok()) note("", {it->status().ToString()});
    return {};
  });
  if (!read.ok()) return read;
  return report;
}

Status EngineImpl::Scan(std::string_view family_prefix,
                        const std::function<bool(const ScanRow&)>& visit) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  bool enough = false;
  return InEveryFamily([&](const Shard& shard, const std::string& name,
                           rocksdb::ColumnFamilyHandle* handle) -> Status {
    if (enough || !name.starts_with(family_prefix)) return {};
    const FamilyName family = ParseFamilyName(name);
    const std::unique_ptr<rocksdb::Iterator> it(shard.store->db()->NewIterator(options, handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      if (shard.store->giving_up()) return Unreadable(shard);
      ScanRow row;
      row.shard = shard.store->shard();
      row.family = name;
      row.key = KeyText(family, it->key().ToStringView());
      row.value = ValueText(family, it->value().ToStringView());
      row.bytes = it->value().size();
      enough = !visit(row);
      if (enough) return {};
    }
    return FromRocks(it->status(), "scan " + name);
  });
}

}  // namespace seendb
