#include "files/writers.h"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>

namespace seendb::files {

Status CheckWriters(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) {
    return Status::IOError("can't read " + path + ": " + std::strerror(errno));
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Status::InvalidArgument(path + " can be written by others; do: chmod go-w " + path);
}

}  // namespace seendb::files
