// server/api/events_binary.h: plays and impressions as application/octet-stream (binary_body.h).
//
//   user=U   the body is items of that user, at most Context::max_candidates, all of the time `at`
//            where the query has one (plays and impressions)
//   else     the body is rows: the user's id, the item's id, and 8 bytes: a time in ms since 1970,
//            0 for the server's present (plays alone)

#pragma once

#include "api/context.h"
#include "wire/events_json.h"

namespace seendb::api {

/// Reads query and body of `call`; views into them.
Status ParseBinaryPlays(const Call& call, wire::PlaysCall* plays);
/// The same of impressions.
Status ParseBinaryImpressions(const Call& call, wire::ImpressionsCall* served);

}  // namespace seendb::api
