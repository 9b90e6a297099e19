// server/api/events_json.h: plays and impressions from JSON, what became of them to JSON.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_read.h"
#include "seendb/events.h"

namespace seendb::api {

/// A batch of plays: `{"events":[{"user","item","at"}],"collection"}`.
struct PlaysCall {
  std::vector<Play> plays;
  std::optional<std::string_view> collection;
};

/// Items served to one user: `{"user","items":[...],"collection","at"}`.
struct ImpressionsCall {
  std::vector<Impression> impressions;
  std::optional<std::string_view> collection;
};

/// Readers of bodies; views are good until `document` goes.
Status ParsePlays(std::string_view body, JsonDocument* document, PlaysCall* call);
Status ParseImpressions(std::string_view body, size_t max_items, JsonDocument* document,
                        ImpressionsCall* call);
/// One event, `{"user","item","at"}`, a play or an impression.
Status ParseEvent(std::string_view line, JsonDocument* document, Play* event);

/// One event not taken.
struct RefusedEvent {
  uint64_t index = 0;  ///< in the request
  Status status;
};

/// Appends `{"accepted":n,"refused":m,"refusals":[{"index":i,"error":{...}}]}`.
void AppendRecorded(uint64_t accepted, uint64_t refused, const std::vector<RefusedEvent>& refusals,
                    std::string* out);

}  // namespace seendb::api
