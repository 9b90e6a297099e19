// server/ops/items_config.h: the setting "items": how large the store of items may become, for how
// long it remembers what was deleted, and how far it may be behind its topics.

#pragma once

#include <cstdint>

#include "ops/config_keys.h"

namespace seendb::ops {

/// The setting "items".
struct ItemsConfig {
  uint64_t bytes = HalfOfMemory();  ///< of memory, at most; 0: there is no store
  uint32_t floor_days = 30;
  /// Answers that use items are degraded while a topic of updates is further behind than this.
  int64_t lag_ms = 30'000;

  /// Half of what the machine has, in bytes.
  static uint64_t HalfOfMemory();
};

/// The keys of an object that holds these.
Keys ItemsKeys(ItemsConfig* items);

}  // namespace seendb::ops
