#include "store/status.h"

namespace seendb {

Status FromRocks(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return {};
  std::string message(what);
  message.append(": ").append(status.ToString());
  if (status.IsNotFound()) return Status::NotFound(std::move(message));
  if (status.IsCorruption()) return Status::Corruption(std::move(message));
  if (status.IsBusy() || status.IsTryAgain()) return Status::Busy(std::move(message));
  if (status.IsShutdownInProgress() || status.IsAborted()) {
    return Status::Unavailable(std::move(message));
  }
  return Status::IOError(std::move(message));
}

}  // namespace seendb
