// seendb/log_flags.h: the flags that say which log is read and what its columns are.

#pragma once

#include <string>

#include "flags.h"
#include "play_reader.h"

namespace seendb::tool {

/// See the head of this file.
struct LogFlags {
  std::string file;
  std::string like;       ///< a recipe's name; empty: none
  std::string format;     ///< empty: by the file's name
  std::string delimiter;  ///< empty: the format's
  std::string time_unit = "auto";
  std::string date_order;  ///< empty: unsaid
  std::string time_zone;   ///< empty: the collection's
  std::string span_unit;   ///< empty: s, or the recipe's
  std::string shift = "0";
  bool no_header = false;
  PlayColumns columns;   ///< of which time_form.zone is local_zone.h's, where time_zone is empty
  int64_t shift_ms = 0;  ///< added to every time

  /// Takes in what the flags say in words; the log's format. kInvalidArgument.
  Result<LogFormat> Interpret();
};

/// Adds the file and its columns to a command.
void AddLogFlags(Command command, LogFlags* flags);
/// Adds --max-refused, which row_share.h reads.
void AddMaxRefused(Command command, std::string* percent);

}  // namespace seendb::tool
