// server/api/items.h: what POST /items does alike with a document and with lines.

#pragma once

#include <cstddef>

#include "api/context.h"
#include "wire/items_json.h"

namespace seendb::api {

/// Refusals that an answer tells one by one; the others are counted.
inline constexpr size_t kMaxItemRefusals = 100;

/// Answers with it: 422 where there were updates and every one is refused, else 200.
void AnswerItemsTaken(const wire::ItemsTaken& taken, http::Response* response);

}  // namespace seendb::api
