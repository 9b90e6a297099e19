// server/items_part.h: the store of items as a part of the process: in the folder items/ of the
// database.

#pragma once

#include "api/context.h"
#include "ingest/item_sink.h"
#include "ops/config.h"
#include "ops/periodic.h"
#include "parts.h"

namespace seendb {

/// Threads: as Parts says.
class ItemsPart {
 public:
  /// Borrows both.
  ItemsPart(const ops::Config& config, api::Context* context);

  /// Before the workers in the list: their calls use the store.
  Part Row();
  /// The store for topics. Call it where nothing is read before the row has finished.
  ingest::ItemSink Sink();

 private:
  api::Context& context_;
  const bool trims_;
  ops::Periodic trimming_;
};

}  // namespace seendb
