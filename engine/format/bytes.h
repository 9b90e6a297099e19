// format/bytes.h: the primitives every codec is made of: little-endian integers, varints, the
// checksum that ends every value. Readers never run past their input.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "filter/hash.h"

namespace seendb {

/// Appends little-endian integers, varints and packed bytes.
inline void PutU32(std::string* out, uint32_t value) {
  char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out->append(bytes, 4);
}
inline void PutU64(std::string* out, uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out->append(bytes, 8);
}
inline void PutVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}
inline void PutZigzag(std::string* out, int64_t value) {
  PutVarint(out, (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

/// The number that PutZigzag wrote as this varint.
inline int64_t Unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

inline void PutFingerprint(std::string* out, Fingerprint fp) {
  uint8_t packed[kFingerprintBytes];
  StoreFingerprint(fp, packed);
  out->append(reinterpret_cast<const char*>(packed), kFingerprintBytes);
}

/// Reads what the functions above wrote. After a read beyond the end, or a malformed varint, ok()
/// is false and every further read gives zero or nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t remaining() const { return bytes_.size(); }
  /// What was not read yet.
  std::string_view rest() const { return bytes_; }
  /// What was read breaks a limit.
  void Fail() { ok_ = false; }

  uint8_t U8() {
    const std::string_view b = Bytes(1);
    return b.empty() ? uint8_t{0} : static_cast<uint8_t>(b[0]);
  }
  uint64_t U64() {
    const std::string_view b = Bytes(8);
    uint64_t value = 0;
    for (size_t i = 0; i < b.size(); ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(b[i])) << (8 * i);
    }
    return value;
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = U8();
      if (!ok_ || (shift == 63 && byte > 1)) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  /// A varint that must fit 32 bits.
  uint32_t Varint32() {
    const uint64_t value = Varint();
    if (value > UINT32_MAX) ok_ = false;
    return ok_ ? static_cast<uint32_t>(value) : 0;
  }
  int64_t Zigzag() { return Unzigzag(Varint()); }
  Fingerprint Packed() {
    const std::string_view b = Bytes(kFingerprintBytes);
    return b.empty() ? 0 : LoadFingerprint(reinterpret_cast<const uint8_t*>(b.data()));
  }
  std::string_view Bytes(uint64_t count) {
    if (!ok_ || count > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view head = bytes_.substr(0, static_cast<size_t>(count));
    bytes_.remove_prefix(static_cast<size_t>(count));
    return head;
  }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

/// First byte of every value: what it is (upper half) and the version of its layout (lower half).
enum class Tag : uint8_t {
  kFilter = 0x11,
  kImpressions = 0x21,
  kImpressionsWithIds = 0x22,
  kImpressionsWithSurfaces = 0x23,
  kJournal = 0x31,
  kUser = 0x41,
  kHistory = 0x51,
  kHistoryWords = 0x52,
  kHistoryJournal = 0x61,
  kHistoryJournalWords = 0x62,
  kMarks = 0x71,
  kOwnSet = 0x81,
  kCounts = 0x91,
  kSetPiece = 0xa1,
};

/// XXH3-64 of arbitrary bytes: the hash behind checksums and damage deduplication.
uint64_t HashBytes(std::string_view bytes);

/// Appends the checksum of everything in `out` so far (low 32 bits of HashBytes).
void Seal32(std::string* out);

/// Checks tag and checksum; on success `*body` is what lies between them.
bool Open32(std::string_view value, Tag tag, std::string_view* body);

/// Tells a whole value of a layout that only newer software knows from damage: "journal record
/// version 3 is newer than this software (1)". Empty for every other value.
std::string NewerText(std::string_view value);

}  // namespace seendb
