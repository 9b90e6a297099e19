// base/whole_file.h: reads a file that somebody names: settings, tokens, a secret.

#pragma once

#include <cstddef>
#include <string>

#include "seendb/status.h"

namespace seendb {

/// All of the file. Reads no more than `bytes_most` bytes and one, whatever the path leads to: a
/// device may have no end. kNotFound: there is none. kIOError: it can't be read. kInvalidArgument:
/// it has more.
Result<std::string> ReadWholeFile(const std::string& path, size_t bytes_most);

/// Its first line, without its end; of a file that has at most 64 KB.
Result<std::string> ReadFirstLine(const std::string& path);

}  // namespace seendb
