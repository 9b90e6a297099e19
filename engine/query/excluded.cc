#include "query/excluded.h"

#include <string>

namespace seendb {

Status CheckSetsFound(std::span<const ExcludedSet> sets) {
  for (size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].items != nullptr) continue;
    return Status::NotFound("no set \"" + std::string(sets[i].name) + "\"",
                            "/exclude_sets/" + std::to_string(i));
  }
  return {};
}

Status CheckExcludedSets(const FilterRequest& request) {
  const std::span<const ExcludedSet> sets = ExcludedSetsOf(request);
  if (sets.size() > kMaxExcludedSets) {
    return Status::InvalidArgument("at most " + std::to_string(kMaxExcludedSets) + " sets",
                                   "/exclude_sets");
  }
  return {};
}

void FindInSets(std::span<const SourceView> sources, const FilterRequest& request, uint32_t verdict,
                size_t begin, size_t end, Candidates* candidates) {
  const std::span<const ExcludedSet> sets = ExcludedSetsOf(request);
  candidates->hits.resize(end - begin);
  // The last one first, so that the first one's verdict stays.
  for (size_t s = sets.size(); s-- > 0;) {
    sets[s].items->Find(request.items.subspan(begin, end - begin), candidates->hits.data());
    for (size_t i = begin; i < end; ++i) {
      uint32_t& own = candidates->verdicts[i];
      if (candidates->hits[i - begin] == 0) continue;
      if (own != 0 && sources[own - 1].kind == ReasonKind::kExcluded) continue;
      own = verdict + static_cast<uint32_t>(s);
    }
  }
}

}  // namespace seendb
