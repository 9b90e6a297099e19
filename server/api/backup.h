// server/api/backup.h: what the routes below /admin/backup need of the server.

#pragma once

#include <functional>

#include "http/task.h"
#include "ops/last_backup.h"

namespace seendb::api {

struct Call;

/// Functions are called by any thread. Set before serving.
struct BackupView {
  /// Answers GET /admin/backup. Reads small files.
  std::function<void(Call&)> state = {};
  /// Answers the calls below /admin/backup/shards/, as those of other nodes are answered below
  /// /internal/shards/.
  std::function<http::Task<>(Call&)> shards = {};
  ops::LastBackup last;
};

}  // namespace seendb::api
