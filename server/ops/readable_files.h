// server/ops/readable_files.h: files of a database that every user of the machine can read, as
// versions before 0.2 left them. They stay so: a backup may rely on it.

#pragma once

#include <cstddef>
#include <string>

namespace seendb::ops {

/// What was found below a folder.
struct ReadableFiles {
  size_t count = 0;     ///< files; counting ends at 100,000 entries of folders
  std::string example;  ///< the path of one of them
};

/// Looks at the modes below `folder`. Links are not followed; what can't be looked at counts as not
/// readable.
ReadableFiles ReadableByOthers(const std::string& folder);

}  // namespace seendb::ops
