#include "transfer/free_space.h"

#include <filesystem>
#include <system_error>

namespace seendb::transfer {

Result<uint64_t> FreeSpaceOf(const std::string& folder) {
  std::error_code failed;
  const std::filesystem::space_info space = std::filesystem::space(folder, failed);
  if (failed) {
    return Status::IOError("can't tell what is free in " + folder + ": " + failed.message());
  }
  return space.available;
}

Status CheckFreeSpace(const FreeSpace& free_space, const std::string& folder, uint64_t needed,
                      uint64_t reserve, const std::string& what) {
  const Result<uint64_t> free = free_space(folder);
  if (!free.ok()) return free.status();
  if (*free >= reserve && *free - reserve >= needed) return {};
  constexpr uint64_t kMegabyte = 1'000'000;
  return Status::IOError(what + " needs " + std::to_string(needed / kMegabyte + 1) + " MB, and " +
                         std::to_string(reserve / kMegabyte) + " MB stay free; " +
                         std::to_string(*free / kMegabyte) + " MB are free in " + folder);
}

}  // namespace seendb::transfer
