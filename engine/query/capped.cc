#include "query/capped.h"

#include <algorithm>
#include <string>

#include "base/facts.h"
#include "query/question.h"

namespace seendb {
namespace {

Status CheckCap(const Cap& cap) {
  const Status kind = CheckGroup(cap.of).WithFieldPrefix("/of");
  if (!kind.ok()) return kind;
  if (cap.n < 1 || cap.n > kMaxCap) {
    return Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxCap), "/n");
  }
  if (cap.within_ms < kMinCapMs || cap.within_ms > kCountedForMs) {
    return Status::InvalidArgument("must be from 1 minute to 30 days", "/within");
  }
  return {};
}

bool Unique(std::span<const std::string_view> groups, size_t place) {
  return std::find(groups.begin(), groups.begin() + static_cast<int64_t>(place), groups[place]) ==
         groups.begin() + static_cast<int64_t>(place);
}

}  // namespace

Status CheckCaps(std::span<const Cap> caps) {
  if (caps.size() > kMaxCaps) {
    return Status::InvalidArgument("at most " + std::to_string(kMaxCaps) + " caps", "/caps");
  }
  for (size_t i = 0; i < caps.size(); ++i) {
    const Status good = CheckCap(caps[i]);
    if (!good.ok()) return good.WithFieldPrefix("/caps/" + std::to_string(i));
  }
  return {};
}

uint32_t& PageCaps::NumberOf(size_t cap, std::string_view group) {
  const auto [at, first] = numbers_[cap].try_emplace(group, 0);
  const Cap& wanted = request_.question->caps[cap];
  if (first) at->second = counted_.Events(group, wanted.fact, now_ms_ - wanted.within_ms, now_ms_);
  return at->second;
}

std::string_view PageCaps::FullGroup(std::span<const std::string_view> groups) {
  const std::span<const Cap> caps = request_.question->caps;
  for (const std::string_view group : groups) {
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
  if (!AsksForCaps(request_) || request_.question->groups.empty()) return true;
  const std::span<const std::string_view> groups = request_.question->groups[position].of;
  if (!FullGroup(groups).empty()) return false;
  Count(groups);
  return true;
}

void PageCaps::Drop(uint32_t verdict, size_t begin, size_t end, Candidates* candidates) {
  const std::span<const CandidateGroups> of = request_.question->groups;
  if (of.empty()) return;
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
    const std::span<const std::string_view> groups = of[i].of;
    const std::string_view full = FullGroup(groups);
    if (!full.empty()) {
      own = verdict;
      candidates->groups[i] = full;
      continue;
    }
    Count(groups);
  }
}

}  // namespace seendb
