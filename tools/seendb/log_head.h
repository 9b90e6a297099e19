// seendb/log_head.h: looks at how a log begins, before it is cut into records: a file that is no
// text is named for what it is, and a JSON array becomes a line for each of its members.

#pragma once

#include "play_reader.h"

namespace seendb::tool {

/// Reads what `read` reads, as text of `format`; the first line that is not blank (of it 4 KB)
/// tells what the log is. kInvalidArgument: the log is in UTF-16, or no text at all (a zip,
/// Parquet, SQLite ...); `read`'s own errors.
Result<RecordReader::ReadFn> TextOf(RecordReader::ReadFn read, LogFormat format);

}  // namespace seendb::tool
