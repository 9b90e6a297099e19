// server/ingest/put_items.h: the updates of a batch, put into the store of items with the offsets
// behind their messages.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ingest/item_sink.h"
#include "seendb/item_store.h"

namespace seendb::ingest {

/// The outcome of updates.
struct ItemsPut {
  uint64_t applied = 0;
  /// Those that the store does not take for themselves, by position, and why.
  std::vector<std::pair<size_t, std::string>> not_taken;
  bool noted = false;  ///< the offsets are stored; never where something was not taken
};

/// Puts all of them, in one write with `sources`. If some are not taken, the others are applied,
/// and it is for the caller to set those aside and to store the offsets then. After a failure the
/// caller begins anew: what was applied before it changes nothing.
Result<ItemsPut> PutItems(const ItemSink& sink, std::span<const ItemUpdate> updates,
                          std::span<const ItemSource> sources);

}  // namespace seendb::ingest
