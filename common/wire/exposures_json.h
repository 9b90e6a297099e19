// common/wire/exposures_json.h: exposures from JSON, and which facts a filter request says count.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "seendb/facts.h"
#include "wire/groups_json.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// A body of exposures: `{"events":[{"user","item","at","surface","of","same_as"}],
/// "collection"}`.
struct ExposuresCall {
  std::vector<Exposure> exposures;
  EventGroupsReader groups;  ///< of the exposures
  std::optional<std::string_view> collection;
};

/// Reads a body; views are good until `document` goes.
Status ParseExposures(std::string_view body, JsonDocument* document, ExposuresCall* call);
/// Appends `{"user":"u1","item":"v1","at":1700000000000,"surface":"home"}`, without groups.
void AppendExposure(const Exposure& exposure, std::string* out);
/// Reads one event, as a line has it; `groups` keeps its groups.
Status ParseExposure(std::string_view line, JsonDocument* document, Exposure* exposure,
                     EventGroupsReader* groups);

/// Reads `[{"fact":"exposed","window":4,"within":"7d","last":300,"surface":"home"}]`; a refusal's
/// field is the entry's. Whether there is as much as an entry asks for, the engine says.
Status ReadNot(ondemand::value value, std::vector<NotEntry>* entries);
/// Reads a fact's name.
Status ReadFact(ondemand::value value, Fact* fact);
/// Reads how long ago: "7d", "24h", "90m", "30s" or "500ms".
Status ReadSpan(ondemand::value value, int64_t* span_ms);
/// Reads a number; one that does not fit is the largest that does.
Status ReadCount(ondemand::value value, uint32_t* count);

/// Appends `,"coarse":["played"],"beyond":["exposed"]`, each where it names a fact.
void AppendFactsTold(uint8_t coarse, uint8_t beyond, std::string* out);

}  // namespace seendb::wire
