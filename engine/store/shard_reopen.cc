// A shard whose disk failed: what stops, what goes on, and how it comes back without a restart.

#include <algorithm>
#include <utility>

#include "store/inventory.h"
#include "store/shard_opening.h"
#include "store/status.h"

namespace seendb {
namespace {

// More than opening a shard writes before it has read its logs.
constexpr size_t kTriedBytes = 64 << 10;
constexpr uint64_t kLeastFreeBytes = 1 << 20;
// Behind it, how much room the shard waits for.
constexpr char kRoomProblem[] = "the disk is full: ";

}  // namespace

// A shard that opens writes anew what is in its logs.
Status ShardDatabase::CheckRoom() const {
  rocksdb::Env* const env = shared_->env;
  const Result<std::vector<uint64_t>> logs = LogNumbers(env, options_.path);
  if (!logs.ok()) return logs.status();
  uint64_t needed = kLeastFreeBytes, free = 0;
  for (const uint64_t log : *logs) {
    uint64_t bytes = 0;
    if (env->GetFileSize(options_.path + "/" + LogName(log), &bytes).ok()) needed += bytes;
  }
  if (!env->GetFreeSpace(options_.path, &free).ok() || free >= needed) {
    problems_->Clear(kRoomProblem);
    return {};
  }
  const auto mb = [](uint64_t bytes) { return std::to_string((bytes >> 20) + 1) + " MB"; };
  const std::string lacks =
      "needs " + mb(needed) + ", " + std::to_string(free >> 20) + " MB are free";
  problems_->Renew(kRoomProblem, kRoomProblem + lacks);
  return Status::IOError(kRoomProblem + lacks);
}

Status ShardDatabase::TryDisk() const {
  rocksdb::Env* const env = shared_->env;
  const std::string path = options_.path + "/TRIED";
  const rocksdb::Status written =
      rocksdb::WriteStringToFile(env, std::string(kTriedBytes, ' '), path, true);
  const rocksdb::Status removed = env->DeleteFile(path);
  return FromRocks(written.ok() ? removed : written, "write " + path);
}

void ShardStore::Close() {
  tables_.Close();
  database_.Close();
}

Status ShardStore::Reopen(int64_t now_ms) {
  AssertMayBlock();
  Close();
  database_.BeginReopening(now_ms);
  problems().Begin();
  Status opened = ShardOpening(*this).Run();
  if (opened.ok()) return {};
  problems().Stop(opened.ToString());
  problems().Add("RocksDB: " + opened.ToString());
  Close();
  database_.BeginReading();
  const Status readable = ShardOpening(*this).Run();
  if (readable.ok()) return opened;
  Close();
  problems().Add("RocksDB: can't be read either: " + readable.ToString());
  return opened;
}

}  // namespace seendb
