// query/excluded.h: which candidates of a filter request are in a set that it excludes. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "query/candidates.h"
#include "seendb/events.h"

namespace seendb {

/// kInvalidArgument with "/exclude_sets" for too many sets.
Status CheckExcludedSets(const FilterRequest& request);
/// kNotFound with "/exclude_sets/<index>" for a set that is null.
Status CheckSetsFound(std::span<const ExcludedSet> sets);

/// The sets that a request excludes; mostly none.
inline std::span<const ExcludedSet> ExcludedSetsOf(const FilterRequest& request) {
  return request.question == nullptr ? std::span<const ExcludedSet>()
                                     : request.question->exclude_sets;
}

/// Gives the candidates of [begin, end) that a set has, and that are not excluded already, the
/// verdict of the first of these: `verdict` and on are those of the sets' sources, in their order.
/// Precondition: ProbeRange was called for them. Cost: a look-up a candidate and set.
void FindInSets(std::span<const SourceView> sources, const FilterRequest& request, uint32_t verdict,
                size_t begin, size_t end, Candidates* candidates);

}  // namespace seendb
