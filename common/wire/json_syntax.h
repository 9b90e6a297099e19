// common/wire/json_syntax.h: says where a refused JSON document stops being JSON.
//
// The readers of json_read.h parse on demand: of "{\"user\":tru}" they say that an id is no
// boolean. Once a document was refused, this reads it again from its beginning, strictly.

#pragma once

#include <cstddef>
#include <string_view>

#include "seendb/status.h"

namespace seendb::wire {

/// What is read again of a refused document, so that a refusal stays cheap: about 2 ms.
inline constexpr size_t kMaxSyntaxBytes = 256u << 10;

/// `status`, the refusal of `text`, or a better one: where the first kMaxSyntaxBytes of `text` are
/// not JSON, the refusal says so with the offset of the byte (from 0) and what stands there. The
/// field stays. With `takes_ndjson`, several values, one per line, are told to be NDJSON.
/// Other codes than kInvalidArgument are returned as they are.
Status ExplainSyntax(Status status, std::string_view text, bool takes_ndjson);

}  // namespace seendb::wire
