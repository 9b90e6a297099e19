// seendb/report_json.h: the engine's reports as JSON, in the shape the server answers with, so
// that a command prints a folder and a server alike.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http_client.h"
#include "seendb/engine.h"

namespace seendb::tool {

/// GET /users/{user}.
Json ToJson(const UserReport& report);
/// GET /admin/buckets: {"buckets":[...]}.
Json ToJson(const std::vector<BucketInfo>& buckets);
/// GET /admin/ring: {"slots":[...]}.
Json ToJson(const std::vector<SlotInfo>& slots);
/// GET /admin/stats.
Json ToJson(const EngineStats& stats);
/// GET /collections: {"collections":[...]}.
Json ToJson(const std::vector<CollectionInfo>& collections);
/// What verify found.
Json ToJson(const VerifyReport& report);
/// POST /admin/checkpoint, without took_ms.
Json ToJson(const CheckpointReport& report);
/// One row of scan.
Json ToJson(const ScanRow& row);

/// A field of an object, or a default where it is absent or of another type.
uint64_t CountOf(const Json& object, std::string_view name);
double NumberOf(const Json& object, std::string_view name);
int64_t TimeOf(const Json& object, std::string_view name);
bool FlagOf(const Json& object, std::string_view name);
std::string TextOf(const Json& object, std::string_view name);
/// A list field; an empty list where there is none.
const Json& ListOf(const Json& object, std::string_view name);

}  // namespace seendb::tool
