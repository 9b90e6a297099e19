#include "recovery/rebuilt_shard.h"

#include <algorithm>
#include <vector>

#include "base/return_if_failed.h"
#include "store/copy_file.h"
#include "store/database_options.h"
#include "store/real_disk.h"
#include "store/status.h"
#include "tables/meta_keys.h"
#include "tables/table_set.h"

namespace seendb {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr int kEpochShift = 40;

}  // namespace

rocksdb::DBOptions OptionsOfDatabase(rocksdb::Env* env) {
  SharedResources shared;
  shared.env = env;
  return DatabaseOptions(shared);
}

Status RebuiltShard::Open() {
  rocksdb::Options options(OptionsOfDatabase(env_),
                           ReadingOptions(rocksdb::kDefaultColumnFamilyName));
  options.create_if_missing = true;
  options.error_if_exists = true;
  rocksdb::DB* db = nullptr;
  rocksdb::Status opened = MakeOwnersFolder(env_, path_);
  if (opened.ok()) opened = rocksdb::DB::Open(options, path_, &db);
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
  const bool unknown = ParseFamilyName(name).kind == nullptr;
  if (unknown) return Status::Incompatible("unknown column family " + name);
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const rocksdb::Status made = db_->CreateColumnFamily(ReadingOptions(name), name, &handle);
  if (!made.ok()) return FromRocks(made, "make the family " + name);
  families_[name] = handle;
  return {};
}

Status RebuiltShard::Take(const std::string& family, const rocksdb::Slice& key,
                          const rocksdb::Slice& value, uint64_t sequence) {
  const Table& kind = *ParseFamilyName(family).kind;
  if (kind.newer_reason != nullptr) {
    const std::string newer = kind.newer_reason(value.ToStringView());
    if (!newer.empty()) return Status::Incompatible(family + ": " + newer + "; repair with that");
  }
  if (kind.sequence_of != nullptr) {
    SawSequence(kind.sequence_of(key.ToStringView(), value.ToStringView()));
  }
  switch (kind.take) {
    case Table::Take::kByKey:
      TakeMeta(key, value, sequence);
      return {};
    case Table::Take::kPut:
      return FromRocks(batch_.Put(Handle(family), key, value), "repair");
    case Table::Take::kMerge:
      break;
  }
  return FromRocks(batch_.Merge(Handle(family), key, value), "repair");
}

void RebuiltShard::TakeMeta(const rocksdb::Slice& key, const rocksdb::Slice& value,
                            uint64_t sequence) {
  if (key == kRingKey) {
    epoch_ = std::max(epoch_, ParseRingState(value.ToStringView()).value_or(0));
  } else {
    taken_.Take(key.ToStringView(), value.ToStringView(), sequence);
  }
}

Status RebuiltShard::WriteTaken(int64_t now_ms) {
  for (const auto& [key, value] : taken_.Rows(now_ms)) {
    RETURN_IF_FAILED(PutMeta(key, value));
  }
  return Flush();
}

Status RebuiltShard::PutMeta(const rocksdb::Slice& key, const rocksdb::Slice& value) {
  return FromRocks(batch_.Put(meta(), key, value), "repair");
}

Status RebuiltShard::DeleteMeta(const rocksdb::Slice& key) {
  return FromRocks(batch_.Delete(meta(), key), "repair");
}

Status RebuiltShard::Delete(const std::string& family, const rocksdb::Slice& key,
                            uint64_t sequence) {
  if (family == rocksdb::kDefaultColumnFamilyName) {
    taken_.Delete(key.ToStringView(), sequence);
    return {};
  }
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
