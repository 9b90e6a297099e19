#include "cluster/log_record.h"

#include <array>
#include <cassert>

#include "seendb/policy.h"

namespace seendb::cluster {
namespace {

constexpr std::array<std::string_view, 17> kLogKindNames{"plays",
                                                         "impressions",
                                                         "erase",
                                                         "history_delete",
                                                         "history_clear",
                                                         "recording",
                                                         "told",
                                                         "tick",
                                                         "imported",
                                                         "exposures",
                                                         "marks",
                                                         "mark_delete",
                                                         "plays_grouped",
                                                         "impressions_grouped",
                                                         "history_delete_grouped",
                                                         "reserve",
                                                         "user_set"};
static_assert(kLogKindNames.size() == static_cast<size_t>(kLastLogKind));
// The version of log records from which on each kind may be written. `imported` came before
// writers asked, so that it may be in logs of version 1.
constexpr std::array<uint32_t, 17> kKindSince{1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3};
static_assert(kKindSince.size() == kLogKindNames.size());

constexpr uint32_t kSetsSince = 3;

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

Status CheckSince(std::string_view records, uint32_t since, uint32_t log_version) {
  if (since <= log_version) return {};
  return Status::Unavailable("records " + std::string(records) + " are of version " +
                             std::to_string(since) + " of the log; the cluster's is " +
                             std::to_string(log_version) +
                             " until seendb cluster upgrade --finish");
}

}  // namespace

std::string_view LogKindName(LogKind kind) noexcept {
  const size_t position = static_cast<size_t>(kind) - 1;  // of 0: beyond the end
  return position < kLogKindNames.size() ? kLogKindNames[position] : "unknown";
}

Status CheckMayWrite(LogKind kind, uint32_t log_version) {
  return CheckSince(LogKindName(kind), kKindSince[static_cast<size_t>(kind) - 1], log_version);
}

Status CheckMayWriteSets(uint32_t log_version) {
  return CheckSince("of sets", kSetsSince, log_version);
}

std::string EncodeLogHeader(const LogHeader& header) {
  assert(!header.meta_offset || *header.meta_offset >= 0);
  std::string bytes;
  bytes.reserve(kLogHeaderBytes2);
  bytes.push_back(header.meta_offset ? 2 : 1);
  bytes.push_back(static_cast<char>(header.kind));
  PutLittleEndian(static_cast<uint64_t>(header.arrival_ms), &bytes);
  PutLittleEndian(header.nonce, &bytes);
  if (header.meta_offset) PutLittleEndian(static_cast<uint64_t>(*header.meta_offset), &bytes);
  return bytes;
}

Result<LogHeader> DecodeLogHeader(std::string_view bytes) {
  if (bytes.empty()) return Status::Corruption("the header seendb is empty");
  const auto version = static_cast<uint8_t>(bytes[0]);
  if (version > kLogHeaderVersion) {
    return Status::Incompatible("a log record of version " + std::to_string(version) +
                                "; this software reads version " +
                                std::to_string(kLogHeaderVersion));
  }
  if (version == 0 || bytes.size() != (version == 1 ? kLogHeaderBytes : kLogHeaderBytes2)) {
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
  LogHeader header{static_cast<LogKind>(kind), static_cast<int64_t>(arrival),
                   LittleEndianAt(bytes, 10)};
  if (version == 1) return header;
  const uint64_t meta_offset = LittleEndianAt(bytes, kLogHeaderBytes);
  if (meta_offset > static_cast<uint64_t>(INT64_MAX)) {
    return Status::Corruption("a header seendb with an offset of X.meta that is none");
  }
  header.meta_offset = static_cast<int64_t>(meta_offset);
  return header;
}

}  // namespace seendb::cluster
