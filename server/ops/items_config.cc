#include "ops/items_config.h"

#include <unistd.h>

namespace seendb::ops {

uint64_t ItemsConfig::HalfOfMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) / 2;
}

Keys ItemsKeys(ItemsConfig* items) {
  return {{"bytes", Integer(&items->bytes, 0, int64_t{1} << 44)},
          {"floor_days", Integer(&items->floor_days, 1, 3'650)},
          {"lag_ms", Integer(&items->lag_ms, 5'000, 86'400'000)}};
}

}  // namespace seendb::ops
