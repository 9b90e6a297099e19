#include "store/log_tail.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include <rocksdb/file_system.h>

#include "format/bytes.h"
#include "store/inventory.h"
#include "store/log_file.h"
#include "store/status.h"

namespace seendb {
namespace {

// A record of a log is a write batch: its first sequence, how many it has, then what it writes.
uint64_t LastSequenceOf(std::string_view record) {
  Reader in(record);
  const uint64_t first = in.U64();
  uint64_t count = 0;
  for (int byte = 0; byte < 4; ++byte) count |= uint64_t{in.U8()} << (8 * byte);
  return in.ok() ? first + std::max<uint64_t>(count, 1) - 1 : 0;
}

// The first sequence of a record of which only the beginning may be there, in an otherwise empty
// log; none where not even that is.
std::optional<uint64_t> TornSequenceOf(rocksdb::Env* env, const std::string& path) {
  constexpr size_t kFragmentHeader = 7;
  std::unique_ptr<rocksdb::SequentialFile> log;
  if (!env->NewSequentialFile(path, &log, rocksdb::EnvOptions()).ok()) return {};
  char room[kFragmentHeader + 8];
  rocksdb::Slice head;
  if (!log->Read(sizeof(room), &head, room).ok() || head.size() < sizeof(room)) return {};
  return Reader(head.ToStringView().substr(kFragmentHeader)).U64();
}

Status Cut(rocksdb::Env* env, const std::string& path, uint64_t bytes) {
  std::unique_ptr<rocksdb::WritableFile> log;
  rocksdb::Status status = env->ReopenWritableFile(path, &log, rocksdb::EnvOptions());
  if (status.ok()) status = log->Truncate(bytes);
  if (status.ok()) status = log->Sync();
  if (status.ok()) status = log->Close();
  return FromRocks(status, "cut the torn end of " + path);
}

}  // namespace

Status CutTornTails(rocksdb::Env* env, const std::string& shard_path,
                    std::optional<uint64_t> synced) {
  const Result<std::vector<uint64_t>> logs = LogNumbers(env, shard_path);
  if (!logs.ok()) return logs.status();
  struct Torn {
    std::string path;
    uint64_t sound_bytes;
  };
  std::vector<Torn> torn;
  const auto may_be_synced = [&](uint64_t sequence) { return synced && sequence <= *synced; };
  for (auto log = logs->rbegin(); log != logs->rend(); ++log) {
    const std::string path = shard_path + "/" + LogName(*log);
    uint64_t sequence = 0;
    LogExtent extent;
    const Status read = ReadLogFile(
        env, path, [&](std::string_view record) { sequence = LastSequenceOf(record); }, &extent);
    if (!read.ok()) return read;
    if (extent.damaged_bytes > 0) return {};  // no torn end: damage, which others look into
    if (extent.sound_bytes < extent.bytes) torn.push_back({path, extent.sound_bytes});
    if (extent.records == 0) {
      const std::optional<uint64_t> first = TornSequenceOf(env, path);
      if (first && may_be_synced(*first)) return {};
      continue;
    }
    if (may_be_synced(sequence + 1)) return {};
    break;
  }
  for (const Torn& one : torn) {
    const Status cut = Cut(env, one.path, one.sound_bytes);
    if (!cut.ok()) return cut;
  }
  return {};
}

}  // namespace seendb
