// server/api/commands.h: the checks of requests that change what a user has, without the change: a
// node of a cluster makes it through the log.

#pragma once

#include <string>

#include "api/context.h"
#include "seendb/engine.h"

namespace seendb::api {

/// What is wrong with the request: its path, its body, what its caller may.
Status CheckHistoryDelete(const Call& call);
Status CheckHistoryClear(const Call& call);
Status CheckRecording(const Call& call);

/// What is wrong with deleting the collection: there is none, or it was not asked for twice.
Status CheckDeletion(const Call& call, const std::string& name);

/// Appends the answer to an erasure.
void AppendErasure(const Erasure& erasure, std::string* out);

}  // namespace seendb::api
