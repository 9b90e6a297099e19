// A shard whose disk failed: what stops, what goes on, and how it comes back without a restart.

#include <algorithm>
#include <utility>

#include <rocksdb/convenience.h>

#include "store/inventory.h"
#include "store/shard_store.h"
#include "store/status.h"

namespace seendb {
namespace {

// More than opening a shard writes before it has read its logs.
constexpr size_t kTriedBytes = 64 << 10;
constexpr uint64_t kLeastFreeBytes = 1 << 20;
// Behind it, how much room the shard waits for.
constexpr char kRoomProblem[] = "the disk is full: ";

}  // namespace

Status ShardStore::CheckWritable() const {
  if (!problems_->stopped()) return {};
  return Status::IOError("shard " + std::to_string(options_.shard) +
                         " takes no writes until its disk does: " + problems_->why_stopped());
}

// A family that failed to be made may be there, without a handle; one that failed to be dropped may
// be gone; a log that failed to be synced may lack anything. What holds is found by opening the
// shard anew.
Status ShardStore::InDoubt(const rocksdb::Status& status, std::string_view what) {
  Status failed = FromRocks(status, what);
  problems_->Stop(failed.ToString());
  AddProblem("RocksDB: " + failed.ToString());
  return failed;
}

// A shard that opens writes anew what is in its logs.
Status ShardStore::CheckRoom() {
  rocksdb::Env* const env = shared_->env;
  const Result<std::vector<uint64_t>> logs = LogNumbers(env, options_.path);
  if (!logs.ok()) return logs.status();
  uint64_t needed = kLeastFreeBytes, free = 0;
  for (const uint64_t log : *logs) {
    uint64_t bytes = 0;
    if (env->GetFileSize(options_.path + "/" + LogName(log), &bytes).ok()) needed += bytes;
  }
  if (!env->GetFreeSpace(options_.path, &free).ok() || free >= needed) {
    ClearProblems(kRoomProblem);
    return {};
  }
  const auto mb = [](uint64_t bytes) { return std::to_string((bytes >> 20) + 1) + " MB"; };
  const std::string lacks =
      "needs " + mb(needed) + ", " + std::to_string(free >> 20) + " MB are free";
  problems_->Renew(kRoomProblem, kRoomProblem + lacks);
  return Status::IOError(kRoomProblem + lacks);
}

Status ShardStore::TryDisk() const {
  rocksdb::Env* const env = shared_->env;
  const std::string path = options_.path + "/TRIED";
  const rocksdb::Status written =
      rocksdb::WriteStringToFile(env, std::string(kTriedBytes, ' '), path, true);
  const rocksdb::Status removed = env->DeleteFile(path);
  return FromRocks(written.ok() ? removed : written, "write " + path);
}

void ShardStore::GiveUp() {
  giving_up_ = true;
  if (db_) rocksdb::CancelAllBackgroundWork(db_.get(), false);
}

void ShardStore::CloseDatabase() {
  Publish(std::make_shared<FamilySet>());
  {
    const WriterLock lock(mutex_);
    ring_.clear();
  }
  opened_.clear();
  users_.reset();
  meta_.reset();
  log_sync_.reset();
  {
    const MutexLock change(change_mutex_);
    dropping_.clear();
  }
  if (db_) db_->Close().PermitUncheckedError();
  db_.reset();
  placeholders_.reset();
  policies_.clear();
  {
    const MutexLock lock(sync_mutex_);
    noted_sequence_ = 0;
    noted_files_ = {};
  }
  log_loss_.clear();
  family_count_ = 0;
}

Status ShardStore::Reopen(int64_t now_ms) {
  AssertMayBlock();
  CloseDatabase();
  options_.now_ms = now_ms;
  giving_up_ = false;
  options_.create = options_.read_only = false;
  problems_->Begin();
  Status opened = OpenSteps();
  if (opened.ok()) return {};
  problems_->Stop(opened.ToString());
  AddProblem("RocksDB: " + opened.ToString());
  CloseDatabase();
  options_.read_only = true;
  const Status readable = OpenSteps();
  if (readable.ok()) return opened;
  CloseDatabase();
  AddProblem("RocksDB: can't be read either: " + readable.ToString());
  return opened;
}

Status ShardStore::FlushAll() {
  AssertMayBlock();
  const std::vector<std::shared_ptr<Family>> all = OpenTables();
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  handles.reserve(all.size());
  for (const std::shared_ptr<Family>& family : all) handles.push_back(family->get());
  return FromRocks(db_->Flush(rocksdb::FlushOptions(), handles), "flush");
}

Status ShardStore::FlushUsers() {
  AssertMayBlock();
  return FromRocks(db_->Flush(rocksdb::FlushOptions(), users()), "flush the user records");
}

}  // namespace seendb
