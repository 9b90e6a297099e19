#include "query/elsewhere.h"

#include <algorithm>

namespace seendb {
namespace {

bool SaysSeen(const Reason& reason) {
  return reason.kind != ReasonKind::kUnseen && reason.kind != ReasonKind::kRefuted &&
         reason.kind != ReasonKind::kRefutedImpression;
}

}  // namespace

// They are few: a kind and a bucket each.
uint32_t SeenElsewhere::NumberOf(const Reason& reason) {
  const auto at = std::find_if(reasons_.begin(), reasons_.end(), [&](const Reason& known) {
    return known.kind == reason.kind && known.bucket_index == reason.bucket_index &&
           known.group == reason.group && known.collection == reason.collection;
  });
  const auto number = static_cast<uint32_t>(at - reasons_.begin()) + 1;
  if (at == reasons_.end()) reasons_.push_back(reason);
  return number;
}

void SeenElsewhere::Take(const std::vector<Reason>& reasons, uint16_t collection) {
  seen_.resize(reasons.size());
  for (size_t i = 0; i < reasons.size(); ++i) {
    if (seen_[i] != 0 || !SaysSeen(reasons[i])) continue;
    Reason reason = reasons[i];
    reason.collection = collection;
    seen_[i] = NumberOf(reason);
  }
}

void SeenElsewhere::Decide(uint32_t first, size_t begin, size_t end, Candidates* candidates) const {
  for (size_t i = begin; i < std::min(end, seen_.size()); ++i) {
    if (candidates->verdicts[i] == 0 && seen_[i] != 0) {
      candidates->verdicts[i] = first + seen_[i] - 1;
    }
  }
}

}  // namespace seendb
