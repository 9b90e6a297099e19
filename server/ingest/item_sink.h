// server/ingest/item_sink.h: the store of items, as far as topics are read into it.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "seendb/item_store.h"
#include "wire/items_json.h"

namespace seendb::ingest {

/// Functions are called by the consumer's threads.
struct ItemSink {
  /// The types of the schema; null: none was put yet, and nothing can be applied.
  std::function<std::shared_ptr<const wire::ItemTypes>()> types = {};
  /// ItemStore::Sources; empty without a store.
  std::function<Result<std::vector<ItemSource>>()> sources = {};
  /// ItemStore::ApplyFrom.
  std::function<Result<ItemReport>(std::span<const ItemUpdate>, std::span<const ItemSource>)>
      apply = {};
  /// Told about once a second up to when the store has what the topics say, in ms since 1970.
  std::function<void(int64_t current_ms)> current = {};
};

}  // namespace seendb::ingest
