#include "store/rebuilt_shard.h"

#include <algorithm>
#include <vector>

#include "format/impressions_codec.h"
#include "format/journal_codec.h"
#include "format/user_codec.h"
#include "store/copy_file.h"
#include "store/families.h"
#include "store/meta_keys.h"
#include "store/scan.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr int kEpochShift = 40;

SharedResources Shared(rocksdb::Env* env) {
  SharedResources shared;
  shared.env = env;
  shared.counters = std::make_shared<MergeCounters>();
  return shared;
}

}  // namespace

rocksdb::ColumnFamilyOptions OptionsOfFamily(rocksdb::Env* env, const std::string& name) {
  const SharedResources shared = Shared(env);
  auto seen = std::make_shared<SeenRules>();
  seen->counters = shared.counters;
  auto impressions = std::make_shared<ImpressionRules>();
  impressions->counters = shared.counters;
  impressions->limit = UINT32_MAX;
  return FamilyOptions(shared, ParseFamilyName(name).kind, seen, impressions);
}

rocksdb::DBOptions OptionsOfDatabase(rocksdb::Env* env) { return DatabaseOptions(Shared(env)); }

Status RebuiltShard::Open() {
  rocksdb::Options options(OptionsOfDatabase(env_),
                           OptionsOfFamily(env_, rocksdb::kDefaultColumnFamilyName));
  options.create_if_missing = true;
  options.error_if_exists = true;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(options, path_, &db);
  if (!opened.ok()) return FromRocks(opened, "make " + path_);
  db_.reset(db);
  return {};
}

rocksdb::Status RebuiltShard::Close() {
  if (!db_) return {};
  for (const auto& [name, handle] : families_) {
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  families_.clear();
  const rocksdb::Status closed = db_->Close();
  db_.reset();
  return closed;
}

Status RebuiltShard::Finish() {
  std::vector<rocksdb::ColumnFamilyHandle*> all{meta()};
  for (const auto& [name, handle] : families_) all.push_back(handle);
  const rocksdb::Status flushed = db_->Flush({}, all);
  if (!flushed.ok()) return FromRocks(flushed, "write " + path_);
  const rocksdb::Status closed = Close();
  if (!closed.ok()) return FromRocks(closed, "close " + path_);
  return SyncFolder(env_, path_);
}

rocksdb::ColumnFamilyHandle* RebuiltShard::Handle(const std::string& family) const {
  return family == rocksdb::kDefaultColumnFamilyName ? meta() : families_.at(family);
}

Status RebuiltShard::MakeFamily(const std::string& name) {
  if (name == rocksdb::kDefaultColumnFamilyName || families_.contains(name)) return {};
  const bool unknown = ParseFamilyName(name).kind == FamilyName::kUnknown;
  if (unknown) return Status::Incompatible("unknown column family " + name);
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const rocksdb::Status made = db_->CreateColumnFamily(OptionsOfFamily(env_, name), name, &handle);
  if (!made.ok()) return FromRocks(made, "make the family " + name);
  families_[name] = handle;
  return {};
}

// Every value is merged to what is there; what is no merge is decided here.
Status RebuiltShard::Take(const std::string& family, const rocksdb::Slice& key,
                          const rocksdb::Slice& value) {
  const FamilyName::Kind kind = ParseFamilyName(family).kind;
  if (const std::string newer = NewerReason(kind, value.ToStringView()); !newer.empty()) {
    return Status::Incompatible(family + ": " + newer + "; repair with that");
  }
  switch (kind) {
    case FamilyName::kDefault:
      return TakeMeta(key, value);
    case FamilyName::kRing: {
      uint64_t sequence = 0;
      if (ParseSequenceKey(key.ToStringView(), &sequence)) SawSequence(sequence);
      return FromRocks(batch_.Put(Handle(family), key, value), "repair");
    }
    case FamilyName::kUsers: {
      UserRecord record;
      if (record.Parse(value.ToStringView())) SawSequence(record.LastSequence());
      break;
    }
    case FamilyName::kImpressions: {
      ImpressionList list;
      if (!list.Parse(value.ToStringView())) break;
      for (const ImpressionEntry& entry : list.entries) SawSequence(entry.stamp);
      break;
    }
    case FamilyName::kTimeline:
      return FromRocks(batch_.Put(Handle(family), key, value), "repair");
    case FamilyName::kSeen:
    case FamilyName::kHistory:
    case FamilyName::kUnknown:
      break;
  }
  return FromRocks(batch_.Merge(Handle(family), key, value), "repair");
}

Status RebuiltShard::TakeMeta(const rocksdb::Slice& key, const rocksdb::Slice& value) {
  if (key == kIdentityKey) return {};
  if (key != kRingKey) return PutMeta(key, value);
  epoch_ = std::max(epoch_, ParseRingState(value.ToStringView()).value_or(0));
  return {};
}

Status RebuiltShard::PutMeta(const rocksdb::Slice& key, const rocksdb::Slice& value) {
  return FromRocks(batch_.Put(meta(), key, value), "repair");
}

Status RebuiltShard::Delete(const std::string& family, const rocksdb::Slice& key) {
  return FromRocks(batch_.Delete(Handle(family), key), "repair");
}

void RebuiltShard::SawSequence(uint64_t sequence) {
  epoch_ = std::max(epoch_, sequence >> kEpochShift);
}

Status RebuiltShard::Flush() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  const rocksdb::Status written = db_->Write(options, &batch_);
  batch_.Clear();
  return FromRocks(written, "write to " + path_);
}

Status RebuiltShard::FlushSome() { return batch_.GetDataSize() > kBatchBytes ? Flush() : Status(); }

}  // namespace seendb
