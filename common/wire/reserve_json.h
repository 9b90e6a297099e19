// common/wire/reserve_json.h: reservations from JSON, and what became of them to JSON.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "seendb/counts.h"
#include "wire/json_read.h"
#include "wire/marks_json.h"

namespace seendb::wire {

/// A body, `{"user","items":[{"id","of"}],"caps":[..],"expires_ms","at","collection"}`, and where
/// its parts are held.
struct ReserveCall {
  ReserveRequest request;  ///< views into the fields below and the body
  std::optional<std::string_view> collection;
  std::vector<IdRef> items;
  std::vector<std::string_view> tokens;  ///< items as they came
  GroupsReader groups_read;
  std::vector<CandidateGroups> groups;
  std::vector<Cap> caps;
};

/// Reads a body; views are good until `document` goes.
Status ParseReserve(std::string_view body, size_t max_items, JsonDocument* document,
                    ReserveCall* call);
/// Most items of one text of PromisedToJson.
inline constexpr size_t kPromisedAtOnce = 256;
/// The promise as the readers take it, in several texts where it is much: the items that are
/// counted. The request has its time.
std::vector<std::string> PromisedToJson(const ReserveCall& call, const Reserved& reserved);
/// Appends `{"reserved":["a1"],"refused":["b1"]}`, ids as they came.
void AppendReserved(const ReserveCall& call, const Reserved& reserved, std::string* out);

}  // namespace seendb::wire
