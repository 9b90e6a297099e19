// common/wire/filter_json.h: a filter request from JSON, its answer to JSON. The hot path: no
// allocation once the buffers have grown, ids stay views into the body, and are echoed as the
// very tokens they came as.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/events.h"
#include "seendb/item_judge.h"
#include "seendb/policy.h"
#include "wire/json_read.h"
#include "wire/marks_json.h"
#include "wire/sets_json.h"

namespace seendb::wire {

/// A filter request and where its parts are held. Reuse one object across requests.
struct FilterCall {
  FilterRequest request;  ///< views into the fields below and the body
  std::vector<IdRef> items, exclude;
  std::vector<std::string_view> tokens;  ///< items as they came
  std::vector<std::string_view> collections;
  /// The policies of `collections`: the caller gives them before the answer is written. Borrowed.
  std::vector<const Policy*> policies;
  std::vector<uint32_t> no_ids;  ///< places among the items of what stands for no id
  std::vector<NotEntry> no;
  std::vector<Cap> caps;
  GroupsReader groups_read;
  std::vector<CandidateGroups> groups;  ///< one an item, or none
  std::vector<ExcludedSet> sets;        ///< by name; the caller finds what they are
  std::optional<WhenShort> when_short;
  Question question;                ///< of the request, where it has any of the five
  ItemRules rules;                  ///< of the store of items
  std::vector<std::string> fields;  ///< of that store, told of the unseen
  bool has_exclude = false;         ///< or sets
  bool skips_invalid = false;       ///< what stands for no id is passed over
};

/// FilterRequest::deadline_us of so many ms. 0 ms has always passed: it asks for what needs no
/// reading. More than a day is asked for by nobody in earnest: no deadline.
int64_t DeadlineUs(uint64_t ms);

/// Reads a request of at most `max_candidates` items and as many excluded. The views in `*call`
/// are good until `document` goes or this thread begins another one.
Status ParseFilter(std::string_view body, size_t max_candidates, JsonDocument* document,
                   FilterCall* call);

/// Whether the store of items is asked.
bool AsksItems(const FilterCall& call);

/// Appends `"v1":`, the key of a candidate that came as `token`.
void AppendIdKey(std::string_view token, std::string* out);

/// Appends the answer. `more`: further members, each behind a comma.
void AppendFilterAnswer(const FilterCall& call, const FilterResponse& response,
                        const Policy& policy, std::string_view more, std::string* out);

}  // namespace seendb::wire
