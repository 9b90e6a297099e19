// server/ops/readable_files.h: files of a database that every user of the machine can read, as
// versions before 0.2 left them. They stay so: a backup may rely on it.

#pragma once

#include <string>

namespace seendb::ops {

/// Looks at the modes below `folder`, and logs a warning with the number of such files and one of
/// them. Links are not followed; what can't be looked at counts as not readable; counting ends at
/// 100,000 entries of folders.
void TellReadableFiles(const std::string& folder);

}  // namespace seendb::ops
