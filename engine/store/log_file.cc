#include "store/log_file.h"

#include <algorithm>
#include <memory>

#include <rocksdb/file_checksum.h>

#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;
constexpr size_t kRecycledHeaderBytes = 11;

// Types of fragments; those of recycled logs are higher by kRecycled.
enum FragmentType : uint8_t { kZero = 0, kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };
constexpr uint8_t kRecycled = 4;
constexpr uint8_t kLastRecycled = kLast + kRecycled;

uint32_t LittleEndian(const char* bytes, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return value;
}

// Takes fragments block by block and puts records together.
class Assembler {
 public:
  Assembler(const std::function<void(std::string_view)>& record, LogExtent* extent)
      : record_(record), extent_(extent) {}

  void Block(std::string_view block, uint64_t offset) {
    size_t at = 0;
    while (block.size() - at >= kHeaderBytes) {
      const uint8_t type = static_cast<uint8_t>(block[at + 6]);
      const size_t header =
          type > kLast && type <= kLastRecycled ? kRecycledHeaderBytes : kHeaderBytes;
      const size_t length = LittleEndian(block.data() + at + 4, 2);
      const bool fits = header + length <= block.size() - at;
      if (!fits || (type == kZero && length == 0) ||
          MaskedCrc(Crc32c(block.substr(at + 6, header - 6 + length))) !=
              LittleEndian(block.data() + at, 4)) {
        Lose(block.size() - at);
        return;
      }
      Fragment(type, block.substr(at + header, length), offset + at + header + length);
      at += header + length;
    }
  }

 private:
  void Lose(uint64_t bytes) {
    broken_ = true;
    open_ = false;
    suspect_ += bytes + pending_.size();
    pending_.clear();
  }

  void Fragment(uint8_t type, std::string_view payload, uint64_t end) {
    const uint8_t plain = type > kLast && type <= kLastRecycled ? type - kRecycled : type;
    switch (plain) {
      case kFull:
      case kFirst:
        if (open_) Lose(0);
        pending_ = payload;
        open_ = true;
        break;
      case kMiddle:
      case kLast:
        if (!open_) return Lose(payload.size());
        pending_ += payload;
        break;
      default:  // of a later RocksDB: compression, time stamps; checked, and no record
        if (!broken_ && !open_) extent_->sound_bytes = end;
        return;
    }
    if (plain == kFirst || plain == kMiddle) return;
    // What could not be read is damage only if the writer went on behind it.
    extent_->damaged_bytes += suspect_;
    suspect_ = 0;
    ++extent_->records;
    record_(pending_);
    pending_.clear();
    open_ = false;
    if (!broken_) extent_->sound_bytes = end;
  }

  const std::function<void(std::string_view)>& record_;
  LogExtent* const extent_;
  std::string pending_;
  bool open_ = false;
  bool broken_ = false;
  uint64_t suspect_ = 0;
};

}  // namespace

// By RocksDB's sum for files, which has the processor compute it.
uint32_t Crc32c(std::string_view bytes) {
  const auto sum = rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
  sum->Update(bytes.data(), bytes.size());
  sum->Finalize();
  uint32_t value = 0;  // it gives the highest byte first
  for (const char byte : sum->GetChecksum()) value = (value << 8) | static_cast<uint8_t>(byte);
  return value;
}

// RocksDB stores checksums turned and shifted, so that those of data with checksums in it are no
// worse.
uint32_t MaskedCrc(uint32_t crc) noexcept { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

Status ReadLogFile(rocksdb::Env* env, const std::string& path,
                   const std::function<void(std::string_view)>& record, LogExtent* extent) {
  *extent = {};
  std::unique_ptr<rocksdb::SequentialFile> file;
  rocksdb::Status status = env->NewSequentialFile(path, &file, rocksdb::EnvOptions());
  Assembler assembler(record, extent);
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBlockBytes);
  std::string block;
  while (status.ok()) {
    // A read may give less than there is.
    block.clear();
    rocksdb::Slice piece;
    do {
      status = file->Read(kBlockBytes - block.size(), &piece, buffer.get());
      if (status.ok()) block.append(piece.data(), piece.size());
    } while (status.ok() && !piece.empty() && block.size() < kBlockBytes);
    if (!status.ok() || block.empty()) break;
    assembler.Block(block, extent->bytes);
    extent->bytes += block.size();
  }
  return FromRocks(status, "read " + path);
}

}  // namespace seendb
