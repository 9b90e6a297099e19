#include "cluster/log_record.h"

#include <array>

#include "seendb/policy.h"

namespace seendb::cluster {
namespace {

constexpr std::array<std::string_view, 9> kLogKindNames{
    "plays",     "impressions", "erase", "history_delete", "history_clear",
    "recording", "told",        "tick",  "imported"};
static_assert(kLogKindNames.size() == static_cast<size_t>(kLastLogKind));

void PutLittleEndian(uint64_t value, std::string* out) {
  for (int byte = 0; byte < 8; ++byte) out->push_back(static_cast<char>(value >> (8 * byte)));
}

uint64_t LittleEndianAt(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  for (size_t byte = 0; byte < 8; ++byte) {
    value |= uint64_t{static_cast<uint8_t>(bytes[at + byte])} << (8 * byte);
  }
  return value;
}

}  // namespace

std::string_view LogKindName(LogKind kind) noexcept {
  const size_t position = static_cast<size_t>(kind) - 1;  // of 0: beyond the end
  return position < kLogKindNames.size() ? kLogKindNames[position] : "unknown";
}

std::string EncodeLogHeader(const LogHeader& header) {
  std::string bytes;
  bytes.reserve(kLogHeaderBytes);
  bytes.push_back(static_cast<char>(kLogVersion));
  bytes.push_back(static_cast<char>(header.kind));
  PutLittleEndian(static_cast<uint64_t>(header.arrival_ms), &bytes);
  PutLittleEndian(header.nonce, &bytes);
  return bytes;
}

Result<LogHeader> DecodeLogHeader(std::string_view bytes) {
  if (bytes.empty()) return Status::Corruption("the header seendb is empty");
  const auto version = static_cast<uint8_t>(bytes[0]);
  if (version > kLogVersion) {
    return Status::Incompatible("a log record of version " + std::to_string(version) +
                                "; this software reads version " + std::to_string(kLogVersion));
  }
  if (version == 0 || bytes.size() != kLogHeaderBytes) {
    return Status::Corruption("a header seendb of version " + std::to_string(version) + " with " +
                              std::to_string(bytes.size()) + " bytes");
  }
  const auto kind = static_cast<uint8_t>(bytes[1]);
  if (kind > static_cast<uint8_t>(kLastLogKind)) {
    return Status::Incompatible("a log record of kind " + std::to_string(kind) +
                                "; this software knows kinds up to " +
                                std::to_string(static_cast<int>(kLastLogKind)));
  }
  if (kind == 0) return Status::Corruption("a header seendb of kind 0");
  const uint64_t arrival = LittleEndianAt(bytes, 2);
  if (arrival > static_cast<uint64_t>(kLastTimeMs)) {
    return Status::Corruption("a header seendb with an arrival that is no time");
  }
  return LogHeader{static_cast<LogKind>(kind), static_cast<int64_t>(arrival),
                   LittleEndianAt(bytes, 10)};
}

}  // namespace seendb::cluster
