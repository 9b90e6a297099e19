// server/api/events_call.h: what POST /plays and POST /impressions do beside reading and recording:
// a server by itself and a node of a cluster do it alike.

#pragma once

#include <optional>
#include <string_view>

#include "api/catalog.h"
#include "api/context.h"
#include "api/event_counts.h"
#include "wire/events_json.h"

namespace seendb::api {

/// The collection of the body, or of the query, or the default; refuses two different ones, and
/// those that the caller does not reach.
Status ChooseCollection(const Call& call, std::optional<std::string_view> in_body,
                        std::string_view* collection);
/// Counts what became of a batch, tells the log of refusals, and makes the answer.
wire::Recorded CountRecorded(Context* context, const CatalogEntry& entry, EventKind kind,
                             std::string_view collection, const RecordResult& result);

/// Whether the call runs on an I/O thread, which is not to wait for a disk.
bool WaitsForNoDisk(const Call& call);
/// Answers by `attempt`, on this thread or, where that would wait for a disk, again on a worker:
/// kIncomplete, and nothing was done. A failure refuses the call.
http::Task<> RecordWhereItMay(Call& call, Status (*attempt)(Call&));

/// Answers with it: 422 where there were events and every one is refused, else 200.
void AnswerRecorded(const wire::Recorded& recorded, http::Response* response);

}  // namespace seendb::api
