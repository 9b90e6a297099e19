// common/wire/items_json.h: items from JSON and to JSON: a schema, updates, what became of them,
// and the items themselves.
//
//   {"fields":[{"name":"author","type":"text","column":true}]}
//   {"items":[{"id":"v1","version":7,"set":{"author":"a3"},"unset":["tags"]}]}
//   {"ids":["v1"],"fields":["author"]}
//
// What a value may be is the schema's affair: a reader is told the types of its fields.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/item_store.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// The fields of a schema by name.
using ItemTypes = std::map<std::string, ItemFieldType, std::less<>>;

/// "bool", "i64", "f32", "text", "list_i64", "list_text".
std::string_view ItemTypeName(ItemFieldType type);

/// Reads a body of PUT /items/schema.
Status ParseItemSchema(std::string_view body, std::vector<ItemField>* fields);
/// Appends the schema as the reader takes it.
void AppendItemSchema(const std::vector<ItemField>& fields, std::string* out);

/// Reads `{"items":[..]}`. Ids are views, good until `document` goes.
Status ParseItemUpdates(std::string_view body, const ItemTypes& types, JsonDocument* document,
                        std::vector<ItemUpdate>* updates);
/// Reads one update, as a line has it, or an array of at most `most`, and appends them; after a
/// refusal some may have been. Ids as above.
Status ParseItemMessage(std::string_view message, size_t most, const ItemTypes& types,
                        JsonDocument* document, std::vector<ItemUpdate>* updates);
/// Reads one update, as a line has it.
Status ParseItemUpdate(std::string_view line, const ItemTypes& types, JsonDocument* document,
                       ItemUpdate* update);

/// A body of POST /items/get.
struct ItemsAsked {
  std::vector<IdRef> ids;                ///< views
  std::vector<std::string_view> tokens;  ///< the ids as they came
  std::vector<std::string> fields;       ///< empty: all
};
/// The most ids of one body.
inline constexpr size_t kMaxItemsAsked = 1'000;
Status ParseItemsAsked(std::string_view body, JsonDocument* document, ItemsAsked* asked);

/// Appends `{"items":[{"id":"v1","version":7,"fields":{"author":"a3"}}]}`, the ids as they came.
/// `items` are those among the asked ones that are known, in their order.
void AppendItems(const ItemsAsked& asked, const std::vector<Item>& items, std::string* out);
/// Appends `{"author":"a3"}`.
void AppendItemFields(const std::vector<ItemFieldValue>& fields, std::string* out);

/// One update not taken.
struct RefusedItem {
  uint64_t index = 0;  ///< in the request
  Status status;
};

/// The outcome of a request's updates.
struct ItemsTaken {
  uint64_t accepted = 0, refused = 0;
  uint64_t stale = 0;  ///< fields that kept a higher version
  std::vector<RefusedItem> refusals = {};
};

/// Appends `{"accepted":n,"stale":k,"refused":m,"refusals":[{"index":i,"error":{...}}]}`.
void AppendItemsTaken(const ItemsTaken& taken, std::string* out);

}  // namespace seendb::wire
