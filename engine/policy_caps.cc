#include "policy_caps.h"

#include <algorithm>

#include "base/counted_kinds.h"

namespace seendb {
namespace {

// Whether one of the policy's caps may drop a candidate of the request.
bool MayDrop(const FilterRequest& request, const Policy& policy) {
  if (policy.caps.empty()) return false;
  if (request.question != nullptr && !request.question->groups.empty()) return true;
  return std::any_of(policy.caps.begin(), policy.caps.end(),
                     [](const PolicyCap& cap) { return cap.of == kItemKind; });
}

}  // namespace

std::vector<Cap> AllCaps(std::span<const Cap> own, const Policy& policy) {
  std::vector<Cap> all(own.begin(), own.end());
  for (const PolicyCap& cap : policy.caps) all.push_back({cap.of, cap.fact, cap.n, cap.within_ms});
  return all;
}

const FilterRequest& CappedRequest::Over(const FilterRequest& request, const Policy& policy) {
  if (!MayDrop(request, policy)) return request;
  request_ = request;
  if (request.question != nullptr) question_ = *request.question;
  caps_ = AllCaps(question_.caps, policy);
  question_.caps = caps_;
  request_.question = &question_;
  return request_;
}

}  // namespace seendb
