// server/cluster/log_record.h: the header `seendb` of a record in a cluster's log: what the
// record's value is and when it arrived. Bytes: server/doc/cluster-format.md.
//
// Pure functions. Threads: any.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "seendb/status.h"

namespace seendb::cluster {

/// The name of the record header.
inline constexpr char kLogHeaderName[] = "seendb";
/// The newest version of log records that is read, and written once the cluster's records say that
/// all nodes read it (Meta::log_version). From 2 on headers are of version 2; 3 adds kinds, and the
/// topic of sets.
inline constexpr uint8_t kLogVersion = 3;
/// The newest version of the header.
inline constexpr uint8_t kLogHeaderVersion = 2;
/// Bytes of a header of version 1, and of version 2.
inline constexpr size_t kLogHeaderBytes = 18, kLogHeaderBytes2 = 26;
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
  kImported = 9,               ///< users' past was imported from the old store of a collection
  kExposures = 10,             ///< items were on users' screens
  kMarks = 11,                 ///< a user marked groups as seen
  kMarkDelete = 12,            ///< a user's mark of a group is deleted
  kPlaysGrouped = 13,          ///< plays, some with groups
  kImpressionsGrouped = 14,    ///< impressions on a surface, or some with groups
  kHistoryDeleteGrouped = 15,  ///< a deletion from history that lifts groups
  kReserve = 16,               ///< items were promised to a user
  kUserSet = 17,               ///< a user's own set is put or deleted
};
/// The newest kind.
inline constexpr LogKind kLastLogKind = LogKind::kUserSet;
/// The kind's stable name ("history_delete"), as used in logs and metrics.
std::string_view LogKindName(LogKind kind) noexcept;

/// The header, decoded.
struct LogHeader {
  LogKind kind = LogKind::kTick;
  int64_t arrival_ms = 0;  ///< by the writing node's clock, 0..kLastTimeMs
  uint64_t nonce = 0;      ///< random
  /// How far the records of `X.meta` were read where the request was taken: an event or a command
  /// counts for a collection that was made before. Nothing: the header is of version 1, and its
  /// arrival decides.
  std::optional<int64_t> meta_offset = {};

  bool operator==(const LogHeader&) const = default;  ///< all members
};

/// kUnavailable where a record of this kind may not be written while the cluster's records allow
/// log records of `log_version`: nodes that do not know it would stop there.
Status CheckMayWrite(LogKind kind, uint32_t log_version);
/// The same of records of the topic of sets: nodes that do not know it would have no sets.
Status CheckMayWriteSets(uint32_t log_version);

/// The bytes of a header: of version 2 with `meta_offset`, of version 1 without.
std::string EncodeLogHeader(const LogHeader& header);

/// Reads a header. kIncompatible, naming the number: the version or the kind is newer than this
/// software; the record must not be skipped. kCorruption: no version wrote this.
Result<LogHeader> DecodeLogHeader(std::string_view bytes);

}  // namespace seendb::cluster
