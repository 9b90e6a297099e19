// server/backups.h: a server's part in backups of it: the copies of shards and stores that it
// gives, and the last backup that it was told of.

#pragma once

#include <optional>
#include <string>

#include "api/context.h"
#include "ops/config.h"
#include "parts.h"
#include "transfer/snapshots.h"

namespace seendb {

/// How the stores beside the shards are copied. Borrows the context.
transfer::StoreCopies CopiesOfStores(const api::Context& context);

/// A node of a cluster has copies for other nodes anyway, and gives those. Threads: as Parts says.
class Backups {
 public:
  /// Borrows both.
  Backups(const ops::Config& config, api::Context* context);

  /// Behind the requests in the list: it ends before the last of them do.
  Part Row();

 private:
  api::Context& context_;
  const std::string db_;
  std::optional<transfer::Snapshots> snapshots_;  // nothing: the cluster's part has them
};

}  // namespace seendb
