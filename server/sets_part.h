// server/sets_part.h: the store of sets as a part of the process: in the folder sets/ of the
// database.

#pragma once

#include "api/context.h"
#include "ops/config.h"
#include "parts.h"

namespace seendb {

/// Threads: as Parts says.
class SetsPart {
 public:
  /// Borrows the context. At a node of a cluster ClusterPart opens the store.
  SetsPart(const ops::Config& config, api::Context* context);

  /// Before the workers in the list: their calls use the store.
  Part Row();

 private:
  api::Context& context_;
};

}  // namespace seendb
