#include "migration/affected_users.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/outside_json.h"
#include "migrated/imported_users.h"
#include "ops/log.h"

namespace seendb::migration {
namespace {

std::string AffectedPath(const std::string& db, const std::string& collection) {
  return migrated::FolderOf(db) + "/" + collection + ".affected";
}

Status FailedAffected(const std::string& path) {
  return Status::IOError(path + ": " + std::generic_category().message(errno));
}

}  // namespace

Result<std::unique_ptr<AffectedUsers>> AffectedUsers::Open(const std::string& db,
                                                           const std::string& collection) {
  const std::string path = AffectedPath(db, collection);
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (file < 0) return FailedAffected(path);
  std::unique_ptr<AffectedUsers> users(new AffectedUsers(file));
  std::ifstream lines(path);
  const MutexLock lock(users->mutex_);
  for (std::string line; std::getline(lines, line);) {
    const auto user = ParseOutside(line);
    if (!user.is_string() || !users->known_.insert(user.get<std::string>()).second) continue;
    if (users->first_.size() < kShownMost) users->first_.push_back(user.get<std::string>());
  }
  return users;
}

Status AffectedUsers::Remove(const std::string& db, const std::string& collection) {
  const std::string path = AffectedPath(db, collection);
  return unlink(path.c_str()) == 0 || errno == ENOENT ? Status() : FailedAffected(path);
}

AffectedUsers::~AffectedUsers() { close(file_); }

void AffectedUsers::Add(std::string_view user) {
  const MutexLock lock(mutex_);
  if (known_.size() >= kUsersMost || !known_.emplace(user).second) return;
  if (first_.size() < kShownMost) first_.emplace_back(user);
  const std::string line =
      nlohmann::json(user).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (write(file_, line.data(), line.size()) < 0) {
    ops::Log(ops::LogLevel::kError, "affected_users_failed",
             {{"error", std::generic_category().message(errno)}});
  }
}

size_t AffectedUsers::count() const {
  const MutexLock lock(mutex_);
  return known_.size();
}

std::vector<std::string> AffectedUsers::First(size_t most) const {
  const MutexLock lock(mutex_);
  const auto end = first_.begin() + static_cast<ptrdiff_t>(std::min(most, first_.size()));
  return {first_.begin(), end};
}

}  // namespace seendb::migration
