// server/cluster/log_record.h: the header `seendb` of a record in a cluster's log: what the
// record's value is and when it arrived. Bytes: server/doc/cluster-format.md.
//
// Pure functions. Threads: any.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "seendb/status.h"

namespace seendb::cluster {

/// The name of the record header.
inline constexpr char kLogHeaderName[] = "seendb";
/// The version that is written, and the newest that is read.
inline constexpr uint8_t kLogVersion = 1;
/// Bytes of a header of version 1.
inline constexpr size_t kLogHeaderBytes = 18;
/// Most events of one record, and most bytes of its value.
inline constexpr size_t kLogEventsMost = 4'096;
inline constexpr size_t kLogValueBytesMost = 512u << 10;

/// What a record says. The numbers are in the log and never change.
enum class LogKind : uint8_t {
  kPlays = 1,
  kImpressions = 2,
  kErase = 3,
  kHistoryDelete = 4,
  kHistoryClear = 5,
  kRecording = 6,
  kTold = 7,  ///< first plays of the day before an offset were told
  kTick = 8,  ///< nothing happened for a while; what was acknowledged before it is applied with it
  kImported = 9,  ///< users' past was imported from the old store of a collection
};
/// The newest kind.
inline constexpr LogKind kLastLogKind = LogKind::kImported;
/// The kind's stable name ("history_delete"), as used in logs and metrics.
std::string_view LogKindName(LogKind kind) noexcept;

/// The header, decoded.
struct LogHeader {
  LogKind kind = LogKind::kTick;
  int64_t arrival_ms = 0;  ///< by the writing node's clock, 0..kLastTimeMs
  uint64_t nonce = 0;      ///< random

  bool operator==(const LogHeader&) const = default;  ///< all members
};

/// The bytes of a header of version kLogVersion.
std::string EncodeLogHeader(const LogHeader& header);

/// Reads a header. kIncompatible, naming the number: the version or the kind is newer than this
/// software; the record must not be skipped. kCorruption: no version wrote this.
Result<LogHeader> DecodeLogHeader(std::string_view bytes);

}  // namespace seendb::cluster
