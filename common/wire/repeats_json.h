// common/wire/repeats_json.h: what a filter request that runs dry asks for, from JSON, and how dry
// it runs, to JSON.

#pragma once

#include <cstddef>
#include <string>

#include "seendb/facts.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// Reads `{"need":20,"reuse":"oldest","gap":"14d","max":2}`; `reuse` may be left out. A refusal's
/// field is the member's. Which numbers are too large, the engine says.
Status ReadWhenShort(ondemand::value value, WhenShort* when_short);

/// Appends `,"unseen_share":0.25`: the double next to unseen / examined; 1 where nothing was
/// examined.
void AppendUnseenShare(size_t unseen, size_t examined, std::string* out);

}  // namespace seendb::wire
