#include "recovery/log.h"

#include <algorithm>
#include <memory>

#include "store/log_file.h"
#include "store/shard_logs.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;
enum FragmentType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

void PutLittle(uint32_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

void AppendLogRecord(std::string_view record, std::string* out) {
  for (bool first = true;;) {
    const size_t room = kBlockBytes - out->size() % kBlockBytes;
    if (room < kHeaderBytes) {
      out->append(room, '\0');
      continue;
    }
    const size_t length = std::min(record.size(), room - kHeaderBytes);
    const bool last = length == record.size();
    const uint8_t type = first ? (last ? kFull : kFirst) : (last ? kLast : kMiddle);
    std::string checked(1, static_cast<char>(type));
    checked += record.substr(0, length);
    PutLittle(MaskedCrc(Crc32c(checked)), 4, out);
    PutLittle(static_cast<uint32_t>(length), 2, out);
    *out += checked;
    record.remove_prefix(length);
    first = false;
    if (last) return;
  }
}

Status RewriteLog(rocksdb::Env* env, const std::string& from, const std::string& to, bool once) {
  std::unique_ptr<rocksdb::WritableFile> file;
  rocksdb::Status written = env->NewWritableFile(to, &file, {});
  std::string bytes;
  const auto flush = [&] {  // whole blocks only
    const size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
    if (written.ok()) written = file->Append({bytes.data(), whole});
    bytes.erase(0, whole);
  };
  LogExtent extent;
  LogRepeats repeats;
  const Status read = ReadLogFile(
      env, from,
      [&](std::string_view record) {
        if (once && repeats.Has(record)) return;
        AppendLogRecord(record, &bytes);
        if (bytes.size() > 64 * kBlockBytes) flush();
      },
      &extent);
  if (!read.ok()) return read;
  if (written.ok()) written = file->Append(bytes);
  if (written.ok()) written = file->Sync();
  if (written.ok()) written = file->Close();
  return FromRocks(written, "write " + to);
}

}  // namespace seendb
