// store/log_file.h: RocksDB's log files (MANIFEST-*, *.log) read without RocksDB: how far one
// reads, and what can be read behind a damaged part. RocksDB itself stops there without a word, or
// takes a record cut off by damage for one its writer never finished.
//
// Format: github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format. Blocks of 32 KiB; a record
// lies in one or more fragments, each with a CRC-32C, a length and a type; what is damaged ends
// with its block.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <rocksdb/env.h>

#include "seendb/status.h"

namespace seendb {

/// What was found in a log file.
struct LogExtent {
  uint64_t bytes = 0;          ///< of the file
  uint64_t sound_bytes = 0;    ///< up to the end of the last record before the first damage
  uint64_t records = 0;        ///< whole ones, those behind damage too
  uint64_t damaged_bytes = 0;  ///< in front of a sound record; a torn tail is none
};

/// Reads `path`, calling `record` for every whole record, those behind damage too, when `*extent`
/// has counted it and the damage in front of it. kIOError, kNotFound where the file can't be read.
/// Memory: the largest record and a block.
Status ReadLogFile(rocksdb::Env* env, const std::string& path,
                   const std::function<void(std::string_view record)>& record, LogExtent* extent);

/// CRC-32C (Castagnoli) of `bytes`.
uint32_t Crc32c(std::string_view bytes);
/// A CRC as a log stores it.
uint32_t MaskedCrc(uint32_t crc) noexcept;

}  // namespace seendb
