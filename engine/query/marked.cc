#include "query/marked.h"

#include <algorithm>
#include <string>

#include "base/facts.h"

namespace seendb {
namespace {

// The group of a candidate that is marked far enough; empty: none. `*undated`: a time would tell.
std::string_view MarkedGroup(const MarkList& marks, const CandidateGroups& candidate,
                             bool* undated) {
  for (const std::string_view group : candidate.of) {
    const StoredMark* const mark = marks.Find(group);
    if (mark == nullptr) continue;
    const bool always = mark->until_ms == kMarkedAlways;
    if (candidate.at_ms ? mark->until_ms >= *candidate.at_ms : always) {
      *undated = false;
      return group;
    }
    *undated = !candidate.at_ms;
  }
  return {};
}

}  // namespace

Status CheckCandidateGroups(const FilterRequest& request) {
  if (request.question == nullptr || request.question->groups.empty()) return {};
  const std::span<const CandidateGroups> groups = request.question->groups;
  if (groups.size() < request.items.size()) {
    return Status::InvalidArgument("fewer than items", "/groups");
  }
  for (size_t i = 0; i < request.items.size(); ++i) {
    const std::span<const std::string_view> of = groups[i].of;
    if (!groups[i].same_as.empty()) {
      const Status good = CheckGroups(of, groups[i].same_as);
      if (!good.ok()) return good.WithFieldPrefix("/items/" + std::to_string(i));
    }
    const std::string field = of.empty() ? "" : "/items/" + std::to_string(i) + "/of";
    if (of.size() > kMaxCandidateGroups) {
      return Status::InvalidArgument(
          "at most " + std::to_string(kMaxCandidateGroups) + " groups of a candidate", field);
    }
    for (size_t k = 0; k < of.size(); ++k) {
      if (!of[k].empty() && of[k].size() <= kMaxGroupBytes) continue;
      return Status::InvalidArgument(
          of[k].empty() ? "a group must not be empty"
                        : "a group is at most " + std::to_string(kMaxGroupBytes) + " bytes",
          field + "/" + std::to_string(k));
    }
  }
  return {};
}

bool AsksForMarks(const FilterRequest& request) {
  return request.question != nullptr &&
         std::any_of(request.question->groups.begin(), request.question->groups.end(),
                     [](const CandidateGroups& one) { return !one.of.empty(); });
}

void FindMarked(std::span<const SourceView> sources, const MarkList& marks,
                const FilterRequest& request, uint32_t verdict, size_t begin, size_t end,
                Candidates* candidates) {
  candidates->groups.resize(request.items.size());
  candidates->undated.resize(request.items.size());
  for (size_t i = begin; i < end; ++i) {
    candidates->groups[i] = {};
    candidates->undated[i] = 0;
    uint32_t& own = candidates->verdicts[i];
    if (own != 0 && sources[own - 1].excludes()) continue;
    if (candidates->repeats[i] != 0) {
      const size_t first = candidates->distinct.FirstOf(request.items, candidates->fingerprints, i);
      if (candidates->verdicts[first] == verdict) own = verdict;
      candidates->groups[i] = candidates->groups[first];
      continue;
    }
    bool undated = false;
    const std::string_view group = MarkedGroup(marks, request.question->groups[i], &undated);
    candidates->undated[i] = undated ? 1 : 0;
    if (group.empty()) continue;
    candidates->groups[i] = group;
    own = verdict;
  }
}

}  // namespace seendb
