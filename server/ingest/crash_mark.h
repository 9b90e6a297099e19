// server/ingest/crash_mark.h: which message is being decoded, noted where a killed process leaves
// it behind. A message on which the process died twice would stop the consumer for ever; it is
// passed over, to the dead letters.
//
// One page of a file, mapped into memory: what was written there outlives the process without a
// call to the system. (A power loss may lose it. It kills no process by a message.)

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "seendb/status.h"

namespace seendb::ingest {

/// See the head of this file. Threads: one at a time. Cost: some ten ns a message.
class CrashMark {
 public:
  /// After so many deaths a message is passed over.
  static constexpr uint32_t kDeathsMost = 2;

  /// The file is made where there is none, and begun anew where it holds something else. kIOError.
  static Result<std::unique_ptr<CrashMark>> Open(const std::string& path);
  /// In memory alone, for nobody to find.
  CrashMark();
  ~CrashMark();
  CrashMark(const CrashMark&) = delete;
  CrashMark& operator=(const CrashMark&) = delete;

  /// The message is about to be decoded. False: the process has died on it too often; then it is
  /// not to be, and nothing is noted.
  bool Enter(std::string_view topic, int32_t partition, int64_t offset);
  /// It was decoded.
  void Leave();

 private:
  struct Page;
  explicit CrashMark(Page* mapped);
  bool IsLast(std::string_view topic, int32_t partition, int64_t offset) const;

  const std::unique_ptr<Page> page_;  // null where it is mapped
  Page* const at_;
  // On what an earlier process died, and how often; nothing where deaths_ is 0.
  std::string topic_;
  int32_t partition_ = 0;
  int64_t offset_ = 0;
  uint32_t deaths_ = 0;
};

}  // namespace seendb::ingest
