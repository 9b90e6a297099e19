// sets/set_ids.h: the ids of a set, from a caller's to the texts that a set has.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/id.h"
#include "seendb/status.h"

namespace seendb::sets {

/// kInvalidArgument: too many ids ("/items"), a wrong one ("/items/<index>").
Status CheckSetItems(std::span<const IdRef> items);
/// The canonical texts of ids, ascending, each once. They borrow from the ids and from `digits`.
std::vector<std::string_view> CanonicalTexts(std::span<const IdRef> items, std::string* digits);
/// The bytes of all together.
uint64_t TextBytes(std::span<const std::string_view> ids);

}  // namespace seendb::sets
