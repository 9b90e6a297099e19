// server/ops/items_state.h: how the store of items is, for metrics and for administrators.

#pragma once

#include <cstdint>

#include "seendb/item_store.h"

namespace seendb::ops {

/// The store's figures, and the updates since the server's start.
struct ItemsState {
  ItemStoreStats store;
  uint64_t fields = 0;                 ///< of the schema
  uint64_t bytes_limit = 0;            ///< the setting items.bytes
  uint64_t accepted = 0, refused = 0;  ///< updates
  uint64_t stale = 0;                  ///< fields that kept a higher version
};

}  // namespace seendb::ops
