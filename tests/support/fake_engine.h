// tests/support/fake_engine.h: a small in-memory Engine for the server's tests: exact sets
// instead of filters, no files, and failures on demand.

#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "seendb/engine.h"
#include "support/fake_dump.h"
#include "support/fake_marks.h"
#include "support/fake_user_sets.h"

namespace seendb::test {

/// See the head of this file. Threads: any, under one lock.
class FakeEngine : public FakeUserSets {
 public:
  FakeEngine() { collections_["default"] = Policy(); }

  // What a test may set. `fail` is answered by every call that can fail, until reset.
  Status fail;
  bool cleared_filter = false;  ///< by the last clear
  Status recording_fail;        ///< of GetRecording alone
  int64_t now_ms = 1'700'000'000'000;
  bool degraded = false;
  uint32_t shards_opening = 0;
  bool turn_taken = false;  ///< by another recording filter of the user: `on_turn` tells of it
  FilterOnTurn on_turn;
  std::shared_ptr<void> turn_used;       ///< that a filter brought
  bool cold = false;                     ///< memory alone can't answer filters, nor record
  uint32_t refuted = 0, duplicates = 0;  // said of each verified filter, of each filter
  std::vector<std::string> checkpoints;  ///< the folders asked for
  CountsPage counts;                     ///< of everybody
  uint64_t batches = 0, largest_batch = 0, ticks = 0;

  Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                   const RecordOptions& options) override {
    return Record(
        plays, options,
        [this](const Policy& policy, const std::string& collection, const Play& play, int64_t at) {
          const Key key{collection, play.user.ToString()};
          staged_[key][play.item.ToString()] = BucketIndexOf(policy, at);
          if (policy.history.enabled) Remember(key, play, at);
        });
  }

  Result<RecordResult> RecordImpressions(std::span<const Impression> impressions,
                                         const RecordOptions& options) override {
    return Record(
        impressions, options,
        [this](const Policy&, const std::string& collection, const Impression& impression,
               int64_t) {
          served_[{collection, impression.user.ToString()}].insert(impression.item.ToString());
        });
  }

  Result<RecordResult> RecordExposures(std::span<const Exposure> exposures,
                                       const RecordOptions& options) override {
    return Record(
        exposures, options,
        [this](const Policy&, const std::string& collection, const Exposure& exposure, int64_t) {
          exposed_[{collection, exposure.user.ToString()}].emplace(exposure.item.ToString(),
                                                                   exposure.surface);
        });
  }

  /// One shard: what is below a source's offset is left out.
  Result<IngestResult> Ingest(const IngestBatch& batch) override {
    std::vector<Play> fresh;
    for (size_t i = 0; i < batch.plays.size(); ++i) {
      const SourceStep& step = batch.sources[batch.origins[i].source];
      const auto known = sources_.find({std::string(step.topic), step.partition});
      const int64_t from = known == sources_.end() ? 0 : *known->second.next_offset;
      if (batch.origins[i].offset >= from) fresh.push_back(batch.plays[i]);
    }
    const Result<RecordResult> recorded = RecordPlays(fresh, {.collection = batch.collection});
    if (!recorded.ok()) return recorded.status();
    for (const SourceStep& step : batch.sources) {
      const std::pair<std::string, uint32_t> key(step.topic, step.partition);
      SourceInfo& info = sources_[key];
      info.topic = key.first;
      info.partition = key.second;
      info.next_offset = std::max(info.next_offset.value_or(0), step.next_offset);
    }
    return IngestResult{*recorded, batch.plays.size() - fresh.size()};
  }
  std::vector<SourceInfo> Sources() override {
    std::vector<SourceInfo> all;
    for (const auto& [key, info] : sources_) all.push_back(info);
    return all;
  }
  Status ForgetTopic(std::string_view) override { return Status::Ok(); }
  std::vector<OutboxSource> OutboxSources() override { return {}; }
  Status ReadOutbox(const OutboxSource&, int64_t, size_t, std::vector<OutboxRow>* rows) override {
    rows->clear();
    return Status::Ok();
  }
  Status DeleteOutbox(std::span<const OutboxRow>) override { return Status::Ok(); }

  Status Filter(const FilterRequest& request, FilterResponse* response) override {
    const std::lock_guard lock(mutex_);
    *response = FilterResponse();
    if (!fail.ok()) return fail;
    if (turn_taken && request.record && request.on_turn != nullptr && request.turn == nullptr) {
      on_turn = *request.on_turn;
      return Status(StatusCode::kIncomplete, "");
    }
    if (request.memory_only && cold) {
      response->needs_disk = true;
      return Status(StatusCode::kIncomplete, "");
    }
    const std::string collection(request.collection);
    if (!collections_.contains(collection)) return Status::NotFound("unknown collection");
    if (request.turn != nullptr) turn_used = *request.turn;
    response->degraded = degraded;
    if (degraded) response->missing = {"2023-11"};
    if (request.short_term_alone) {
      response->degraded = true;
      response->missing.emplace_back("load");
    }
    if (request.verify) response->refuted = refuted;
    response->duplicates = duplicates;
    response->recorded = request.record;
    const Key key{collection, request.user.ToString()};
    for (uint32_t i = 0; i < request.items.size(); ++i) {
      if (request.limit > 0 && response->unseen.size() == request.limit) break;
      const Reason reason = Judge(key, request, request.items[i]);
      if (reason.kind == ReasonKind::kUnseen) response->unseen.push_back(i);
      if (reason.kind == ReasonKind::kExcluded) ++response->excluded;
      ++response->examined;
      if (request.explain) response->reasons.push_back(reason);
    }
    response->seen =
        response->examined - response->excluded - static_cast<uint32_t>(response->unseen.size());
    if (!request.record) return Status::Ok();
    for (const uint32_t i : response->unseen) served_[key].insert(request.items[i].ToString());
    return Status::Ok();
  }

  Result<UserReport> Inspect(IdRef user, std::string_view collection) override {
    const std::lock_guard lock(mutex_);
    if (!fail.ok()) return fail;
    UserReport report;
    report.user = user.ToString();
    for (const auto& [key, items] : played_) {
      if (key.second != report.user || (!collection.empty() && key.first != collection)) continue;
      if (items.empty()) continue;  // only asked for
      BucketReport bucket;
      bucket.collection = key.first;
      bucket.bucket = BucketLabel(collections_[key.first], items.begin()->second);
      bucket.items = items.size();
      bucket.fpr = 0.25;
      bucket.layers.push_back({.blocks = 1, .capacity = 10, .items = items.size(), .fill = 0.5});
      report.buckets.push_back(bucket);
    }
    return report;
  }

  Status EraseUser(IdRef user, const EraseOptions& options, Erasure* erasure) override {
    return Locked([&] {
      const auto of_user = [&](const auto& entry) { return entry.first.second == user.ToString(); };
      const size_t gone = std::erase_if(staged_, of_user) + std::erase_if(played_, of_user) +
                          std::erase_if(served_, of_user) + std::erase_if(history_, of_user);
      if (erasure != nullptr) *erasure = {gone > 0, gone > 0 || options.always, now_ms};
    });
  }

  Status ReadHistory(const HistoryRequest& request, HistoryPage* page) override {
    const std::lock_guard lock(mutex_);
    *page = HistoryPage();
    if (!fail.ok()) return fail;
    if (Status status = CheckHistories(request.collections); !status.ok()) return status;
    size_t begin = 0;
    for (const char c : request.cursor) {
      if (c < '0' || c > '9') return Status::InvalidArgument("not a cursor", "/cursor");
      begin = begin * 10 + static_cast<size_t>(c - '0');
    }
    for (const auto& [key, items] : history_) {
      const auto& names = request.collections;
      if (key.second != request.user.ToString()) continue;
      if (!names.empty() && std::find(names.begin(), names.end(), key.first) == names.end()) {
        continue;
      }
      for (const auto& [item, state] : items) {
        if (!state.deleted) page->entries.push_back(state.entry);
      }
    }
    std::sort(page->entries.begin(), page->entries.end(), [](const auto& a, const auto& b) {
      return std::tie(b.at_ms, a.collection, a.item) < std::tie(a.at_ms, b.collection, b.item);
    });
    page->entries.erase(
        page->entries.begin(),
        page->entries.begin() + static_cast<ptrdiff_t>(std::min(begin, page->entries.size())));
    if (page->entries.size() > request.limit) {
      page->entries.resize(request.limit);
      page->cursor = std::to_string(begin + request.limit);
    }
    page->degraded = degraded;
    if (degraded) page->missing = {"default/2023-11"};
    return Status::Ok();
  }

  Status LookupHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       HistoryLookup* found) override {
    const std::lock_guard lock(mutex_);
    *found = HistoryLookup();
    if (!fail.ok()) return fail;
    if (!HasHistory(collection)) return Status::NotFound("no history", "/collection");
    const auto& known = history_[{std::string(collection), user.ToString()}];
    for (const IdRef& item : items) {
      const auto at = known.find(item.ToString());
      found->entries.emplace_back();
      if (at != known.end() && !at->second.deleted) found->entries.back() = at->second.entry;
    }
    found->degraded = degraded;
    if (degraded) found->missing = {"default/2023-11"};
    return Status::Ok();
  }

  Status DeleteHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       CallTime, EventGroups) override {
    const std::lock_guard lock(mutex_);
    if (!fail.ok()) return fail;
    if (!HasHistory(collection)) return Status::NotFound("no history", "/collection");
    auto& known = history_[{std::string(collection), user.ToString()}];
    for (const IdRef& item : items) {
      Remembered& state = known[item.ToString()];
      state.entry.at_ms = std::max(state.entry.at_ms, now_ms);
      state.deleted = true;
    }
    return Status::Ok();
  }

  Status ClearHistory(IdRef user, const HistoryClear& clear) override {
    const std::lock_guard lock(mutex_);
    if (!fail.ok()) return fail;
    const std::span<const std::string_view> collections = clear.collections;
    if (Status status = CheckHistories(collections); !status.ok()) return status;
    cleared_filter = clear.filter;
    std::erase_if(history_, [&](const auto& entry) {
      return entry.first.second == user.ToString() &&
             (collections.empty() || std::find(collections.begin(), collections.end(),
                                               entry.first.first) != collections.end());
    });
    return Status::Ok();
  }

  Status SetRecording(IdRef user, bool paused, CallTime) override {
    return Locked([&] { recordings_[user.ToString()] = {paused, now_ms}; });
  }
  Result<Recording> GetRecording(IdRef user) override {
    const std::lock_guard lock(mutex_);
    if (!fail.ok()) return fail;
    if (!recording_fail.ok()) return recording_fail;
    return recordings_[user.ToString()];
  }

  Result<RecordResult> PutMarks(IdRef user, std::span<const Mark> marks) override {
    RecordResult result;
    result.accepted = marks.size();
    const Status done = Locked([&] { marks_.Put(user, marks); });
    return done.ok() ? Result<RecordResult>(std::move(result)) : Result<RecordResult>(done);
  }
  Result<bool> DeleteMark(IdRef user, std::string_view group, CallTime) override {
    bool known = false;
    const Status done = Locked([&] { known = marks_.Delete(user, group); });
    return done.ok() ? Result<bool>(known) : Result<bool>(done);
  }
  Status ReadMarks(const MarksRequest& request, MarksPage* page) override {
    *page = {};
    return Locked([&] { marks_.Read(request, now_ms, page); });
  }
  Status Reserve(const ReserveRequest&, Reserved*) override { return fail; }
  Status ReadCounts(const CountsRequest&, CountsPage* page) override {
    return Locked([&] { *page = counts; });
  }

  Status PutCollection(std::string_view name, const PolicyPatch& patch,
                       std::optional<uint64_t>) override {
    const std::lock_guard lock(mutex_);
    if (!fail.ok()) return fail;
    const auto found = collections_.find(std::string(name));
    const bool known = found != collections_.end();
    if (known) {
      if (Status status = CheckFixedFields(found->second, patch); !status.ok()) return status;
    }
    const Policy policy = ApplyPatch(known ? found->second : Policy(), patch);
    if (Status status = ValidatePolicy(policy); !status.ok()) return status;
    collections_[std::string(name)] = policy;
    return Status::Ok();
  }

  Status DeleteCollection(std::string_view name) override {
    const std::lock_guard lock(mutex_);
    if (!fail.ok()) return fail;
    if (collections_.erase(std::string(name)) == 0) return Status::NotFound("no collection");
    return Status::Ok();
  }

  std::vector<CollectionInfo> Collections() override {
    const std::lock_guard lock(mutex_);
    std::vector<CollectionInfo> all;
    for (const auto& [name, policy] : collections_) all.push_back({name, policy});
    return all;
  }

  Status Drain() override {
    return Locked([&] {
      for (const auto& [key, items] : staged_) {
        for (const auto& [item, bucket] : items) {
          played_[key][item] = bucket;
          ++stats_.drained_plays;
        }
      }
      staged_.clear();
    });
  }
  Status Seal(std::string_view collection, std::string_view bucket) override {
    const std::lock_guard lock(mutex_);
    if (!fail.ok()) return fail;
    const Policy& policy = collections_[std::string(collection)];
    const Result<int64_t> index = BucketIndexOfLabel(policy, bucket);
    if (!index.ok()) return index.status();
    if (*index != BucketIndexOf(policy, now_ms)) return Status::NotFound("no such bucket");
    ++stats_.buckets_sealed;
    return Status::Ok();
  }
  Status SealClosed() override {
    return Locked([&] { stats_.buckets_sealed += 2; });
  }
  Status DropExpired() override {
    return Locked([&] { stats_.buckets_dropped += 3; });
  }
  Status Compact() override {
    return Locked([] {});
  }
  Status Sync() override {
    return Locked([] {});
  }
  Result<CheckpointReport> Checkpoint(const std::string& dir, const CheckpointAlso& also) override {
    const std::lock_guard lock(mutex_);
    if (!fail.ok()) return fail;
    if (const Status added = also ? also(dir) : Status(); !added.ok()) return added;
    checkpoints.push_back(dir);
    return CheckpointReport{
        .shards = 2, .files_linked = 3, .files_copied = 4, .bytes = 500, .bytes_copied = 60};
  }
  Result<CheckpointReport> CheckpointShard(uint32_t, const std::string&) override {
    return Status::Unavailable("a fake has no shards");
  }
  std::vector<uint32_t> AttachedShards() const override { return {0}; }
  Status AttachShard(uint32_t, const std::string&, const AttachOptions&) override {
    return Locked([] {});
  }
  Status ReplaceShard(uint32_t, const std::string&, const AttachOptions&) override {
    return Locked([] {});
  }
  Status DetachShard(uint32_t, Detached) override {
    return Locked([] {});
  }
  Status FinishOpening() override { return {}; }
  Status RunDue() override {
    return Locked([&] { ++ticks; });
  }

  EngineStats Stats() override {
    const std::lock_guard lock(mutex_);
    EngineStats stats = stats_;
    stats.degraded = degraded;
    stats.shards_open = 1;
    stats.shards_opening = shards_opening;
    return stats;
  }
  std::vector<BucketInfo> Buckets() override {
    BucketInfo bucket;
    bucket.collection = "default";
    bucket.bucket = "2023-11";
    bucket.bytes = 1'234;
    return {bucket};
  }
  std::vector<SlotInfo> Ring() override {
    SlotInfo slot;
    slot.shard = 1;
    slot.state = "current";
    slot.plays = 7;
    slot.bytes = 700;
    slot.opened_ms = now_ms - 5'000;
    return {slot};
  }
  Result<VerifyReport> Verify() override { return VerifyReport(); }
  Status Scan(std::string_view, const std::function<bool(const ScanRow&)>&) override {
    return Status::Ok();
  }
  Result<int64_t> ConfirmClock() override { return int64_t{now_ms}; }
  int64_t NowMs() const override { return now_ms; }
  uint32_t ShardOf(IdRef) const override { return 0; }
  Status Close() override { return Status::Ok(); }

 private:
  using Key = std::pair<std::string, std::string>;  // collection, user

  /// An item's newest state.
  struct Remembered {
    HistoryEntry entry;
    bool deleted = false;
  };

  void Remember(const Key& key, const Play& play, int64_t at) {
    Remembered& state = history_[key][play.item.ToString()];
    if (recordings_[key.second].paused || (state.deleted && at <= state.entry.at_ms)) return;
    static const Watch nothing;
    const Watch& watch = play.watch != nullptr ? *play.watch : nothing;
    state = {{key.first, play.item.ToString(), at, watch.progress_s.value_or(0),
              watch.duration_s.value_or(0), std::string(watch.device), std::string(watch.fields)},
             false};
  }

  bool HasHistory(std::string_view collection) const {
    const auto found = collections_.find(std::string(collection));
    return found != collections_.end() && found->second.history.enabled;
  }
  Status CheckHistories(std::span<const std::string_view> collections) const {
    for (size_t i = 0; i < collections.size(); ++i) {
      if (HasHistory(collections[i])) continue;
      return Status::NotFound("no history", "/collections/" + std::to_string(i));
    }
    return {};
  }

  template <typename Work>
  Status Locked(Work work) {
    const std::lock_guard lock(mutex_);
    if (fail.ok()) work();
    return fail;
  }

  template <typename Event, typename Keep>
  Result<RecordResult> Record(std::span<const Event> events, const RecordOptions& options,
                              Keep keep) {
    const std::lock_guard lock(mutex_);
    if (!fail.ok()) return fail;
    if (options.memory_only && cold) return Status(StatusCode::kIncomplete, "cold");
    const std::string collection(options.collection);
    const auto found = collections_.find(collection);
    if (found == collections_.end()) return Status::NotFound("unknown collection");
    ++batches;
    largest_batch = std::max<uint64_t>(largest_batch, events.size());
    RecordResult result;
    for (uint32_t i = 0; i < events.size(); ++i) {
      const int64_t at = events[i].at_ms.value_or(now_ms);
      if (at > now_ms + found->second.max_future_ms) {
        ++result.refused;
        ++result.refused_by[static_cast<size_t>(RefusalReason::kInFuture)];
        if (result.refusals.size() == kMaxRefusals) continue;
        result.refusals.push_back(
            {i, Status::InvalidArgument("in the future", "/at"), RefusalReason::kInFuture});
        continue;
      }
      ++result.accepted;
      keep(found->second, collection, events[i], at);
    }
    return result;
  }

  Reason Judge(const Key& key, const FilterRequest& request, const IdRef& item) {
    if (std::find(request.exclude.begin(), request.exclude.end(), item) != request.exclude.end()) {
      return {ReasonKind::kExcluded, 0};
    }
    const std::string text = item.ToString();
    const bool asks_served = (request.facts & kFactImpressions) != 0;
    if (asks_served && served_[key].contains(text)) return {ReasonKind::kImpression, 0};
    if ((request.facts & kFactPlays) == 0) return {};
    if (staged_[key].contains(text)) return {ReasonKind::kRing, 0};
    const auto found = played_[key].find(text);
    const bool played = found != played_[key].end() && !request.short_term_alone;
    return played ? Reason{ReasonKind::kPlay, found->second} : Reason{};
  }

  std::mutex mutex_;
  std::map<std::string, Policy> collections_;
  std::map<Key, std::map<std::string, int64_t>> staged_, played_;  // item -> bucket
  std::map<Key, std::set<std::string>> served_;
  std::map<Key, std::set<std::pair<std::string, std::string>>> exposed_;  // item and surface
  std::map<Key, std::map<std::string, Remembered>> history_;
  std::map<std::string, Recording> recordings_;
  FakeMarks marks_;
  std::map<std::pair<std::string, uint32_t>, SourceInfo> sources_;
  EngineStats stats_;
};

}  // namespace seendb::test
