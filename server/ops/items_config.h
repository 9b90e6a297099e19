// server/ops/items_config.h: the setting "items": how large the store of items may become, and for
// how long it remembers what was deleted.

#pragma once

#include <cstdint>

#include "ops/config_keys.h"

namespace seendb::ops {

/// The setting "items".
struct ItemsConfig {
  uint64_t bytes = HalfOfMemory();  ///< of memory, at most; 0: there is no store
  uint32_t floor_days = 30;

  /// Half of what the machine has, in bytes.
  static uint64_t HalfOfMemory();
};

/// The keys of an object that holds these.
Keys ItemsKeys(ItemsConfig* items);

}  // namespace seendb::ops
