// seendb/reject_file.h: the rows of a log that were refused or bad, each with its place and why, as
// NDJSON: {"row":3,"line":4,"why":"no user","text":"..."}. Bytes that are no UTF-8 are in
// "text_base64" in place of "text".

#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "seendb/status.h"

namespace seendb::tool {

/// See the head of this file. Threads: one.
class RejectFile {
 public:
  /// `go_on`: behind what is there; else begun anew. kIOError.
  static Result<std::unique_ptr<RejectFile>> Open(const std::string& path, bool go_on);

  /// Adds a row, whose text was cut where it is longer than kKeptTextMost.
  void Add(uint64_t row, uint64_t line, std::string_view why, std::string_view text);
  /// Hands all to the system. kIOError: some rows of this or an earlier call are not in the file.
  Status Flush();

 private:
  explicit RejectFile(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  std::ofstream file_;
};

}  // namespace seendb::tool
