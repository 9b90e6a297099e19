#include "query/same_as.h"

#include <algorithm>
#include <iterator>

#include "query/probe.h"

namespace seendb {
namespace {

std::span<const std::string_view> SameOf(const FilterRequest& request, size_t position) {
  if (request.question == nullptr || request.question->groups.empty()) return {};
  return request.question->groups[position].same_as;
}

// A repeat has what its first has by its groups, whatever the repeat's own are.
void CopyFirst(const FilterRequest& request, size_t position, uint32_t verdict,
               Candidates* candidates) {
  const size_t first =
      candidates->distinct.FirstOf(request.items, candidates->fingerprints, position);
  if (candidates->verdicts[first] != verdict) return;
  candidates->verdicts[position] = verdict;
  candidates->groups[position] = candidates->groups[first];
}

}  // namespace

bool AsksForSameAs(const FilterRequest& request) {
  return request.question != nullptr &&
         std::any_of(request.question->groups.begin(), request.question->groups.end(),
                     [](const CandidateGroups& one) { return !one.same_as.empty(); });
}

void BeginSame(const FilterRequest& request, const ItemHash& hash, Candidates* candidates) {
  candidates->groups.resize(request.items.size());
  for (uint32_t i = 0; i < request.items.size(); ++i) {
    for (const std::string_view group : SameOf(request, i)) {
      candidates->same.push_back({hash.OfGroup(group), i, group});
    }
  }
}

std::vector<SourceView> SourcesOfFacts(std::span<const SourceView> sources) {
  std::vector<SourceView> facts;
  std::copy_if(sources.begin(), sources.end(), std::back_inserter(facts),
               [](const SourceView& source) { return !source.excludes(); });
  return facts;
}

void FindSame(std::span<const SourceView> facts, const CollectionMarks* overrides,
              const SameVerdicts& verdicts, const FilterRequest& request, size_t begin, size_t end,
              Candidates* candidates, Candidates* probed) {
  const auto first = std::lower_bound(
      candidates->same.begin(), candidates->same.end(), begin,
      [](const SameGroup& one, size_t position) { return one.position < position; });
  std::vector<const SameGroup*> asked;
  probed->fingerprints.clear();
  for (auto at = first; at != candidates->same.end() && at->position < end; ++at) {
    if (candidates->verdicts[at->position] != 0 || candidates->repeats[at->position] != 0) continue;
    asked.push_back(&*at);
    probed->fingerprints.push_back(at->fingerprint);
  }
  probed->verdicts.assign(asked.size(), 0);
  ProbeRange(facts, 0, asked.size(), probed);
  if (overrides != nullptr) LiftOverrides(facts, *overrides, 0, asked.size(), probed);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (probed->verdicts[i] == 0) continue;
    uint32_t& own = candidates->verdicts[asked[i]->position];
    const bool exact = !facts[probed->verdicts[i] - 1].touched;
    if (own == verdicts.seen || (own == verdicts.touched && !exact)) continue;
    own = exact ? verdicts.seen : verdicts.touched;
    candidates->groups[asked[i]->position] = asked[i]->group;
  }
  for (size_t i = begin; i < end; ++i) {
    if (candidates->repeats[i] == 0 || candidates->verdicts[i] != 0) continue;
    CopyFirst(request, i, verdicts.seen, candidates);
    CopyFirst(request, i, verdicts.touched, candidates);
  }
}

std::string_view SamePage::GroupOnPage(const FilterRequest& request, size_t position) const {
  const std::span<const std::string_view> groups = SameOf(request, position);
  const auto found = std::find_if(groups.begin(), groups.end(), [this](std::string_view group) {
    return groups_.contains(group);
  });
  return found == groups.end() ? std::string_view() : *found;
}

void SamePage::Hide(const FilterRequest& request, uint32_t verdict, size_t position,
                    Candidates* candidates) const {
  if (candidates->verdicts[position] != 0) return;
  if (candidates->repeats[position] != 0) return CopyFirst(request, position, verdict, candidates);
  const std::string_view group = GroupOnPage(request, position);
  if (group.empty()) return;
  candidates->verdicts[position] = verdict;
  candidates->groups[position] = group;
}

void SamePage::Add(const FilterRequest& request, size_t position) {
  const std::span<const std::string_view> groups = SameOf(request, position);
  groups_.insert(groups.begin(), groups.end());
}

}  // namespace seendb
