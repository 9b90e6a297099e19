// tests/simulation/passing.h: an engine that hands every call to another one, for wrong engines to
// be made of.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "seendb/engine.h"

namespace seendb::simulation {

/// Passes everything on to `inner`.
class Passing : public Engine {
 public:
  explicit Passing(std::unique_ptr<Engine> inner) : inner_(std::move(inner)) {}

  Result<RecordResult> RecordPlays(std::span<const Play> plays,
                                   const RecordOptions& options) override {
    return inner_->RecordPlays(plays, options);
  }
  Result<RecordResult> RecordImpressions(std::span<const Impression> impressions,
                                         const RecordOptions& options) override {
    return inner_->RecordImpressions(impressions, options);
  }
  Result<RecordResult> RecordExposures(std::span<const Exposure> exposures,
                                       const RecordOptions& options) override {
    return inner_->RecordExposures(exposures, options);
  }
  Result<RecordResult> PutMarks(IdRef user, std::span<const Mark> marks) override {
    return inner_->PutMarks(user, marks);
  }
  Result<bool> DeleteMark(IdRef user, std::string_view group, CallTime at_ms) override {
    return inner_->DeleteMark(user, group, at_ms);
  }
  Status ReadMarks(const MarksRequest& request, MarksPage* page) override {
    return inner_->ReadMarks(request, page);
  }
  Result<UserSetInfo> PutUserSet(const UserSet& set) override { return inner_->PutUserSet(set); }
  Result<bool> DeleteUserSet(IdRef user, std::string_view name, CallTime at_ms) override {
    return inner_->DeleteUserSet(user, name, at_ms);
  }
  Status ListUserSets(IdRef user, UserSetList* list) override {
    return inner_->ListUserSets(user, list);
  }
  Status ReadUserSet(IdRef user, std::string_view name, std::string_view after, size_t limit,
                     UserSetPage* page) override {
    return inner_->ReadUserSet(user, name, after, limit, page);
  }
  Status Reserve(const ReserveRequest& request, Reserved* reserved) override {
    return inner_->Reserve(request, reserved);
  }
  Status DumpFilter(const FilterDumpRequest& request, FilterDump* dump) override {
    return inner_->DumpFilter(request, dump);
  }
  ItemHashKey ReadItemHashKey() const override { return inner_->ReadItemHashKey(); }
  Status ReadCounts(const CountsRequest& request, CountsPage* page) override {
    return inner_->ReadCounts(request, page);
  }
  Result<IngestResult> Ingest(const IngestBatch& batch) override { return inner_->Ingest(batch); }
  std::vector<SourceInfo> Sources() override { return inner_->Sources(); }
  Status ForgetTopic(std::string_view topic) override { return inner_->ForgetTopic(topic); }
  std::vector<OutboxSource> OutboxSources() override { return inner_->OutboxSources(); }
  Status ReadOutbox(const OutboxSource& source, int64_t after, size_t limit,
                    std::vector<OutboxRow>* rows) override {
    return inner_->ReadOutbox(source, after, limit, rows);
  }
  Status DeleteOutbox(std::span<const OutboxRow> told) override {
    return inner_->DeleteOutbox(told);
  }
  Status Filter(const FilterRequest& request, FilterResponse* response) override {
    return inner_->Filter(request, response);
  }
  Result<UserReport> Inspect(IdRef user, std::string_view collection) override {
    return inner_->Inspect(user, collection);
  }
  Status EraseUser(IdRef user, const EraseOptions& options, Erasure* erasure) override {
    return inner_->EraseUser(user, options, erasure);
  }
  Status ReadHistory(const HistoryRequest& request, HistoryPage* page) override {
    return inner_->ReadHistory(request, page);
  }
  Status LookupHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       HistoryLookup* found) override {
    return inner_->LookupHistory(user, collection, items, found);
  }
  Status DeleteHistory(IdRef user, std::string_view collection, std::span<const IdRef> items,
                       CallTime at_ms, EventGroups same_as) override {
    return inner_->DeleteHistory(user, collection, items, at_ms, same_as);
  }
  Status ClearHistory(IdRef user, const HistoryClear& clear) override {
    return inner_->ClearHistory(user, clear);
  }
  Status SetRecording(IdRef user, bool paused, CallTime at_ms) override {
    return inner_->SetRecording(user, paused, at_ms);
  }
  Result<Recording> GetRecording(IdRef user) override { return inner_->GetRecording(user); }
  Status DeleteCollection(std::string_view name) override { return inner_->DeleteCollection(name); }
  Status PutCollection(std::string_view name, const PolicyPatch& patch,
                       std::optional<uint64_t> making) override {
    return inner_->PutCollection(name, patch, making);
  }
  std::vector<CollectionInfo> Collections() override { return inner_->Collections(); }
  Status Drain() override { return inner_->Drain(); }
  Status Seal(std::string_view collection, std::string_view bucket) override {
    return inner_->Seal(collection, bucket);
  }
  Status SealClosed() override { return inner_->SealClosed(); }
  Status DropExpired() override { return inner_->DropExpired(); }
  Status Compact() override { return inner_->Compact(); }
  Status Sync() override { return inner_->Sync(); }
  Result<CheckpointReport> Checkpoint(const std::string& dir, const CheckpointAlso& also) override {
    return inner_->Checkpoint(dir, also);
  }
  Result<CheckpointReport> CheckpointShard(uint32_t shard, const std::string& dir) override {
    return inner_->CheckpointShard(shard, dir);
  }
  std::vector<uint32_t> AttachedShards() const override { return inner_->AttachedShards(); }
  Status AttachShard(uint32_t shard, const std::string& folder,
                     const AttachOptions& options) override {
    return inner_->AttachShard(shard, folder, options);
  }
  Status ReplaceShard(uint32_t shard, const std::string& folder,
                      const AttachOptions& options) override {
    return inner_->ReplaceShard(shard, folder, options);
  }
  Status DetachShard(uint32_t shard, Detached folder) override {
    return inner_->DetachShard(shard, folder);
  }
  Status FinishOpening() override { return inner_->FinishOpening(); }
  Status RunDue() override { return inner_->RunDue(); }
  EngineStats Stats() override { return inner_->Stats(); }
  std::vector<BucketInfo> Buckets() override { return inner_->Buckets(); }
  std::vector<SlotInfo> Ring() override { return inner_->Ring(); }
  Result<VerifyReport> Verify() override { return inner_->Verify(); }
  Status Scan(std::string_view family_prefix,
              const std::function<bool(const ScanRow&)>& row) override {
    return inner_->Scan(family_prefix, row);
  }
  Result<int64_t> ConfirmClock() override { return inner_->ConfirmClock(); }
  int64_t NowMs() const override { return inner_->NowMs(); }
  uint32_t ShardOf(IdRef user) const override { return inner_->ShardOf(user); }
  Status Close() override { return inner_->Close(); }

 protected:
  std::unique_ptr<Engine> inner_;
};

}  // namespace seendb::simulation
