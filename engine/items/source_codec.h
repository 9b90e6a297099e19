// items/source_codec.h: how far a partition of a topic was read, as a key and a value of the family
// `default`. doc/item-format.md has the bytes.

#pragma once

#include <string>
#include <string_view>

#include "seendb/item_store.h"
#include "seendb/status.h"

namespace seendb::items {

/// All such keys begin with it, and no other key does.
inline constexpr char kSourcePrefix[] = "source/";

/// kInvalidArgument names the member ("/topic").
Status CheckSource(const ItemSource& source);
/// Precondition of both: CheckSource succeeded.
std::string SourceKey(const ItemSource& source);
std::string EncodeSource(const ItemSource& source);
/// False: one of them is damaged.
bool ParseSource(std::string_view key, std::string_view value, ItemSource* source);

}  // namespace seendb::items
