// policy_caps.h: the caps of a request: its own, and those of its collection's policy.

#pragma once

#include <span>
#include <vector>

#include "seendb/events.h"
#include "seendb/policy.h"

namespace seendb {

/// `own` and the policy's, of which it borrows.
std::vector<Cap> AllCaps(std::span<const Cap> own, const Policy& policy);

/// A filter request with the caps of its policy.
class CappedRequest {
 public:
  /// `request` itself where the policy caps nothing that its candidates have. Borrows both.
  const FilterRequest& Over(const FilterRequest& request, const Policy& policy);

 private:
  std::vector<Cap> caps_;
  Question question_;
  FilterRequest request_;
};

}  // namespace seendb
