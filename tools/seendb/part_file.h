// part_file.h: files under a name that is only there while they are written ("x.part").

#pragma once

#include <cstdio>
#include <string>

#include <fcntl.h>

namespace seendb::tool {

/// Opens it for writing, empty. Null with errno. A link there is not followed (ELOOP): somebody
/// else may have put it.
inline std::FILE* OpenPartFile(const std::string& path) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  return file < 0 ? nullptr : ::fdopen(file, "wb");
}

}  // namespace seendb::tool
