// server/api/events_binary.h: plays, impressions and exposures as application/octet-stream
// (binary_body.h).
//
//   user=U   the body is items of that user, at most Context::max_candidates, all of the time `at`
//            where the query has one
//   else     the body is rows: the user's id, the item's id, and 8 bytes: a time in ms since 1970,
//            0 for the server's present (plays and exposures)
//   surface=S  of exposures: where all of them were

#pragma once

#include "api/context.h"
#include "wire/events_json.h"
#include "wire/exposures_json.h"

namespace seendb::api {

/// Reads query and body of `call`; views into them.
Status ParseBinaryPlays(const Call& call, wire::PlaysCall* plays);
/// The same of impressions.
Status ParseBinaryImpressions(const Call& call, wire::ImpressionsCall* served);
/// The same of exposures.
Status ParseBinaryExposures(const Call& call, wire::ExposuresCall* exposed);

}  // namespace seendb::api
