#include "store/shard_logs.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <rocksdb/file_system.h>

#include "base/return_if_failed.h"
#include "format/bytes.h"
#include "store/files.h"
#include "store/log_file.h"
#include "store/status.h"

namespace seendb {
namespace {

LogState ReadLog(rocksdb::Env* env, const std::string& path, uint64_t number) {
  LogState log;
  log.number = number;
  LogExtent extent;
  LogRepeats repeats;
  log.read = ReadLogFile(
      env, path + "/" + LogName(number),
      [&](std::string_view record) {  // a write batch: its first sequence, how many, entries
        Reader in(record);
        const uint64_t sequence = in.U64();
        uint64_t count = 0;
        for (int byte = 0; byte < 4; ++byte) count |= uint64_t{in.U8()} << (8 * byte);
        if (!in.ok()) return;
        if (repeats.Has(record) && !log.repeats_at) log.repeats_at = extent.sound_bytes;
        if (log.first_sequence == 0) log.first_sequence = sequence;
        if (extent.damaged_bytes > 0 && log.resumed_sequence == 0) log.resumed_sequence = sequence;
        if (count > 0) log.last_sequence = std::max(log.last_sequence, sequence + count - 1);
      },
      &extent);
  if (!log.read.ok()) return {number, log.read};
  log.bytes = extent.bytes;
  log.sound_bytes = extent.sound_bytes;
  log.damaged_bytes = extent.damaged_bytes;
  log.records = extent.records;
  return log;
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

// A write batch without rows uses up no sequence: the next may have the same.
bool LogRepeats::Has(std::string_view record) {
  constexpr size_t kCountAt = 8, kRowsAt = 12;
  if (record.size() < kRowsAt) return false;
  if (record.substr(kCountAt, kRowsAt - kCountAt) == std::string_view("\0\0\0\0", 4)) return false;
  if (!newest_.empty() && Reader(record).U64() < Reader(newest_).U64()) return true;
  if (record == newest_) return true;
  newest_ = record;
  return false;
}

ShardLogs ReadLogNotes(rocksdb::Env* env, const std::string& path) {
  ShardLogs logs;
  logs.synced = ReadSyncedSequence(env, path);
  logs.noted = ReadInventory(env, path);
  return logs;
}

Status ReadLogs(rocksdb::Env* env, const std::string& path, ShardLogs* logs) {
  const Result<std::vector<uint64_t>> numbers = LogNumbers(env, path);
  if (!numbers.ok()) return numbers.status();
  // After the logs were listed: a running engine may let some go meanwhile.
  logs->current = logs->noted && IsCurrent(env, path, *logs->noted);
  logs->all.clear();
  for (const uint64_t number : *numbers) logs->all.push_back(ReadLog(env, path, number));
  return {};
}

std::string RepeatsText(const ShardLogs& logs) {
  for (const LogState& log : logs.all) {
    if (!log.repeats_at) continue;
    return LogName(log.number) + " has records again behind byte " +
           std::to_string(*log.repeats_at);
  }
  return {};
}

std::vector<LogShortage> ShortagesOf(const ShardLogs& logs) {
  std::vector<LogShortage> shortages;
  if (!logs.noted) return shortages;
  const Inventory& noted = *logs.noted;
  const auto bytes_was = [&](uint64_t log) {
    const auto was = noted.log_bytes.find(log);
    return was == noted.log_bytes.end() ? 0 : was->second;
  };
  for (const LogState& log : logs.all) {
    const uint64_t was = bytes_was(log.number);
    if (log.read.ok() && log.bytes < was) shortages.push_back({log.number, false, log.bytes, was});
  }
  if (!logs.current) return shortages;
  for (const uint64_t number : noted.logs) {
    const bool there = std::any_of(logs.all.begin(), logs.all.end(),
                                   [&](const LogState& log) { return log.number == number; });
    if (!there) shortages.push_back({number, true, 0, bytes_was(number)});
  }
  return shortages;
}

bool LacksSynced(const LogState& log, std::span<const LogState> newer, uint64_t synced) {
  if (log.resumed_sequence != 0 && log.resumed_sequence <= synced) return true;
  if (log.sound_bytes == log.bytes) return false;
  return std::any_of(newer.begin(), newer.end(), [&](const LogState& other) {
    return other.records > 0 && other.first_sequence <= synced;
  });
}

std::string LackSyncedText(const ShardLogs& logs) {
  if (!logs.synced || !logs.current) return {};
  const std::vector<uint64_t>& needed = logs.noted->logs;
  std::string text;
  for (size_t i = 0; i < logs.all.size(); ++i) {
    const LogState& log = logs.all[i];
    if (std::find(needed.begin(), needed.end(), log.number) == needed.end()) continue;
    if (!LacksSynced(log, std::span(logs.all).subspan(i + 1), *logs.synced)) continue;
    text += (text.empty() ? "" : ", ") + LogName(log.number) + " is damaged behind byte " +
            std::to_string(log.sound_bytes);
  }
  return text;
}

Status CutTornTails(rocksdb::Env* env, const std::string& path, const ShardLogs& logs) {
  std::vector<const LogState*> torn;
  const auto may_be_synced = [&](uint64_t sequence) {
    return logs.synced && sequence <= *logs.synced;
  };
  for (auto log = logs.all.rbegin(); log != logs.all.rend(); ++log) {
    if (!log->read.ok()) return log->read;
    if (log->damaged_bytes > 0) return {};  // no torn end: damage, which others look into
    if (log->sound_bytes < log->bytes) torn.push_back(&*log);
    if (log->records == 0) {
      const std::optional<uint64_t> first = TornSequenceOf(env, path + "/" + LogName(log->number));
      if (first && may_be_synced(*first)) return {};
      continue;
    }
    if (may_be_synced(log->last_sequence + 1)) return {};
    break;
  }
  for (const LogState* log : torn) {
    RETURN_IF_FAILED(Cut(env, path + "/" + LogName(log->number), log->sound_bytes));
  }
  return {};
}

}  // namespace seendb
