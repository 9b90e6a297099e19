#include "api/load_cut.h"

#include <algorithm>
#include <cmath>

namespace seendb::api {
namespace {

constexpr const char* kMissing = "load";

}  // namespace

LoadCut::LoadCut(const admission::Degrade& degrade, admission::Priority priority,
                 const LoadPolicy& policy, FilterRequest* request)
    : request_(*request), items_(request->items), verify_(request->verify) {
  const bool allowed = policy != LoadPolicy() && request->on_error != OnError::kFail;
  const admission::Reduction less = allowed ? degrade.For(priority) : admission::Reduction();
  if (less.none()) return;
  const double share = std::max(less.share, policy.min_share);
  const double count = std::ceil(share * static_cast<double>(items_.size()));
  request->items = items_.first(std::min(items_.size(), static_cast<size_t>(count)));
  request->short_term_alone = less.short_term_alone && policy.min_share < 1;
  const bool verifies = less.verify || policy.verify == VerifyOnLoad::kKeep;
  // From memory alone nothing can be refuted.
  if (!verifies || request->short_term_alone) request->verify = false;
}

LoadCut::~LoadCut() {
  request_.items = items_;
  request_.verify = verify_;
  request_.short_term_alone = false;
}

bool LoadCut::cuts() const {
  return request_.items.size() < items_.size() || request_.verify != verify_ ||
         request_.short_term_alone;
}

bool LoadCut::Tell(FilterResponse* response) const {
  const bool full = request_.limit != 0 && response->unseen.size() >= request_.limit;
  const bool cut = request_.items.size() < items_.size() && !full;
  if (!cut && request_.verify == verify_ && !request_.short_term_alone) return false;
  response->degraded = true;
  auto& missing = response->missing;
  if (std::find(missing.begin(), missing.end(), kMissing) == missing.end()) {
    missing.emplace_back(kMissing);
  }
  return true;
}

}  // namespace seendb::api
