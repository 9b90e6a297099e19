#include "query/capped.h"

#include <algorithm>
#include <string>

#include "base/counted_kinds.h"
#include "query/question.h"

namespace seendb {
namespace {

bool Unique(std::span<const std::string_view> groups, size_t place) {
  return std::find(groups.begin(), groups.begin() + static_cast<int64_t>(place), groups[place]) ==
         groups.begin() + static_cast<int64_t>(place);
}

}  // namespace

Status CheckCaps(std::span<const Cap> caps, const Policy& policy) {
  if (caps.size() > kMaxCaps) {
    return Status::InvalidArgument("at most " + std::to_string(kMaxCaps) + " caps", "/caps");
  }
  for (size_t i = 0; i < caps.size(); ++i) {
    Status good = CheckCap(caps[i]);
    if (good.ok()) good = CheckCapIsCounted(caps[i], policy.counts);
    if (!good.ok()) return good.WithFieldPrefix("/caps/" + std::to_string(i));
  }
  return {};
}

PageCaps::PageCaps(const FilterRequest& request, const Counted& counted, int64_t now_ms)
    : request_(request), counted_(counted), now_ms_(now_ms) {
  if (!AsksForCaps(request)) return;
  numbers_.resize(request.question->caps.size());
  for (const Cap& cap : request.question->caps) of_items_ = of_items_ || cap.of == kItemKind;
}

std::span<const std::string_view> PageCaps::GroupsOf(size_t position) const {
  const std::span<const CandidateGroups> all = request_.question->groups;
  return all.empty() ? std::span<const std::string_view>() : all[position].of;
}

uint32_t& PageCaps::NumberOf(size_t cap, std::string_view group) {
  const auto [at, first] = numbers_[cap].try_emplace(group, 0);
  const Cap& wanted = request_.question->caps[cap];
  if (first) at->second = counted_.Events(group, wanted.fact, now_ms_ - wanted.within_ms, now_ms_);
  return at->second;
}

bool PageCaps::FullItem(const IdRef& item) const {
  const std::string key = ItemKey(item);
  const std::span<const Cap> caps = request_.question->caps;
  return std::any_of(caps.begin(), caps.end(), [&](const Cap& cap) {
    return cap.of == kItemKind &&
           counted_.Events(key, cap.fact, now_ms_ - cap.within_ms, now_ms_) >= cap.n;
  });
}

std::string_view PageCaps::FullGroup(size_t position) {
  if (of_items_ && FullItem(request_.items[position])) return kItemKind;
  const std::span<const Cap> caps = request_.question->caps;
  for (const std::string_view group : GroupsOf(position)) {
    for (size_t i = 0; i < caps.size(); ++i) {
      if (IsOfKind(group, caps[i].of) && NumberOf(i, group) >= caps[i].n) return group;
    }
  }
  return {};
}

void PageCaps::Count(std::span<const std::string_view> groups) {
  const std::span<const Cap> caps = request_.question->caps;
  for (size_t place = 0; place < groups.size(); ++place) {
    for (size_t cap = 0; cap < caps.size(); ++cap) {
      if (IsOfKind(groups[place], caps[cap].of) && Unique(groups, place)) {
        ++NumberOf(cap, groups[place]);
      }
    }
  }
}

bool PageCaps::Admit(size_t position) {
  if (!AsksForCaps(request_)) return true;
  if (!FullGroup(position).empty()) return false;
  Count(GroupsOf(position));
  return true;
}

void PageCaps::Drop(uint32_t verdict, size_t begin, size_t end, Candidates* candidates) {
  if (request_.question->groups.empty() && !of_items_) return;
  candidates->groups.resize(request_.items.size());
  for (size_t i = begin; i < end; ++i) {
    uint32_t& own = candidates->verdicts[i];
    if (own != 0) continue;
    if (candidates->repeats[i] != 0) {
      const size_t first =
          candidates->distinct.FirstOf(request_.items, candidates->fingerprints, i);
      if (candidates->verdicts[first] == verdict) {
        own = verdict;
        candidates->groups[i] = candidates->groups[first];
      }
      continue;
    }
    const std::string_view full = FullGroup(i);
    if (!full.empty()) {
      own = verdict;
      candidates->groups[i] = full;
      continue;
    }
    Count(GroupsOf(i));
  }
}

}  // namespace seendb
