// server/ingest/item_decoder.h: the updates of items of one message: a JSON object as a line of
// POST /items has it, or an array of them. A message is taken whole or not at all.

#pragma once

#include <string_view>
#include <vector>

#include "ops/kafka_config.h"
#include "seendb/item_store.h"
#include "wire/arena.h"
#include "wire/items_json.h"

namespace seendb::ingest {

/// Appends the updates of a message to `*updates`; their ids lie in `*arena`. A message without
/// data (a tombstone) has none. On a refusal (kInvalidArgument, its field where in the message)
/// `*updates` is as before.
Status DecodeItems(std::string_view payload, ops::Framing framing, const wire::ItemTypes& types,
                   wire::Arena* arena, std::vector<ItemUpdate>* updates);

}  // namespace seendb::ingest
