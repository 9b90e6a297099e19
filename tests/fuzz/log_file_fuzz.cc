// Arbitrary bytes as one of RocksDB's log files, and sound records with arbitrary damage: our own
// reader of them stays within the file, calls no sound log damaged, and finds every record in front
// of the first damage. The first byte chooses; a log of records is made from the rest.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/env.h>

#include "fuzz/input.h"
#include "store/log_file.h"

namespace {

using namespace seendb;
using fuzz::Check;

constexpr char kPath[] = "/log";
constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;

rocksdb::Env* Disk() {
  static const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  return env.get();
}

struct Read {
  std::vector<std::string> records;
  LogExtent extent;
};

Read ReadBytes(const std::string& bytes) {
  Check(rocksdb::WriteStringToFile(Disk(), bytes, kPath).ok());
  Read read;
  const auto keep = [&](std::string_view record) { read.records.emplace_back(record); };
  Check(ReadLogFile(Disk(), kPath, keep, &read.extent).ok());
  const LogExtent& extent = read.extent;
  Check(extent.bytes == bytes.size() && extent.records == read.records.size());
  Check(extent.sound_bytes <= extent.bytes && extent.damaged_bytes <= extent.bytes);
  return read;
}

void AppendFragment(int type, std::string_view payload, std::string* log) {
  std::string body(1, static_cast<char>(type));
  body += payload;
  const uint32_t crc = Crc32c(body);
  const uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
  for (int i = 0; i < 4; ++i) log->push_back(static_cast<char>(masked >> (8 * i)));
  log->push_back(static_cast<char>(payload.size()));
  log->push_back(static_cast<char>(payload.size() >> 8));
  *log += body;
}

/// As RocksDB writes it: in pieces where a block ends.
void AppendRecord(std::string_view record, std::string* log) {
  constexpr int kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4;
  for (bool begun = false;; begun = true) {
    const size_t left = kBlockBytes - log->size() % kBlockBytes;
    if (left < kHeaderBytes) log->append(left, '\0');
    const size_t room = kBlockBytes - log->size() % kBlockBytes - kHeaderBytes;
    const std::string_view piece = record.substr(0, room);
    record.remove_prefix(piece.size());
    const bool ends = record.empty();
    AppendFragment(begun ? (ends ? kLast : kMiddle) : (ends ? kFull : kFirst), piece, log);
    if (ends) return;
  }
}

/// Records of lengths the input says, some longer than a block; then bytes of it are flipped.
void CheckDamaged(fuzz::Input* input) {
  std::string log;
  std::vector<std::string> records;
  std::vector<size_t> ends;
  const size_t count = 1 + input->Byte() % 12;
  for (size_t i = 0; i < count; ++i) {
    const size_t length = input->Byte() * (i % 3 == 2 ? 333U : 1U);
    records.emplace_back(length, static_cast<char>('a' + i));
    AppendRecord(records.back(), &log);
    ends.push_back(log.size());
  }
  const Read whole = ReadBytes(log);
  Check(whole.records == records && whole.extent.damaged_bytes == 0);
  Check(whole.extent.sound_bytes == log.size());

  size_t first_damage = log.size();
  while (!input->Rest().empty()) {
    const size_t at = input->Number(3) % log.size();
    const auto mask = static_cast<char>(input->Byte() | 1);
    log[at] = static_cast<char>(log[at] ^ mask);
    first_damage = std::min(first_damage, at);
  }
  const Read damaged = ReadBytes(log);
  const auto sound = static_cast<size_t>(
      std::count_if(ends.begin(), ends.end(), [&](size_t end) { return end <= first_damage; }));
  Check(damaged.records.size() >= sound);
  Check(std::equal(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(sound),
                   damaged.records.begin()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  if (input.Byte() % 2 == 0) {
    ReadBytes(std::string(input.Rest()));
  } else {
    CheckDamaged(&input);
  }
  return 0;
}
