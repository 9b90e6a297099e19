#include "api/old_cut.h"

#include <string>
#include <unordered_set>
#include <utility>

namespace seendb::api {
namespace {

constexpr const char* kOldStoreMissing = "old_store";

}  // namespace

OldCut::OldCut(std::shared_ptr<const migration::OldAnswer> answer, FilterRequest* request)
    : request_(*request),
      items_(request->items),
      asked_(request->question),
      answer_(std::move(answer)) {
  if (!answer_ || !answer_->got) return;
  for (uint32_t i = 0; i < items_.size(); ++i) {
    if (answer_->Has(i)) continue;
    left_.push_back(items_[i]);
    positions_.push_back(i);
  }
  request_.items = left_;
  if (asked_ == nullptr || asked_->groups.empty()) return;
  for (const uint32_t position : positions_) groups_.push_back(asked_->groups[position]);
  question_ = *asked_;
  question_.groups = groups_;
  // An empty list would stand for no groups, which is the same where nothing is left.
  request_.question = &question_;
}

OldCut::~OldCut() {
  request_.items = items_;
  request_.question = asked_;
}

Status OldCut::Check() const {
  if (!answer_ || answer_->got || request_.on_error != OnError::kFail) return {};
  return Status::Unavailable("could not be read: old_store");
}

void OldCut::Tell(FilterResponse* response) {
  request_.items = items_;
  request_.question = asked_;
  if (!answer_) return;
  if (!answer_->got) {
    response->degraded = true;
    response->missing.emplace_back(kOldStoreMissing);
    return;
  }
  for (uint32_t& position : response->unseen) position = positions_[position];
  for (uint32_t& position : response->repeats) position = positions_[position];
  const uint32_t of_left = response->examined;
  // A limit, a level of load or a deadline ended it earlier: behind the last that was examined.
  const bool all = of_left == left_.size();
  response->examined = all            ? static_cast<uint32_t>(items_.size())
                       : of_left == 0 ? 0
                                      : positions_[of_left - 1] + 1;
  // A candidate that comes twice was counted by nobody yet: the old store has it both times.
  std::unordered_set<std::string> known;
  for (uint32_t i = 0; i < response->examined; ++i) {
    if (!answer_->Has(i)) continue;
    known.insert(items_[i].ToString()).second ? ++response->seen : ++response->duplicates;
  }
  if (request_.explain) TellReasons(response);
}

void OldCut::TellReasons(FilterResponse* response) const {
  std::vector<Reason> reasons(response->examined, Reason{ReasonKind::kOldStore});
  for (size_t i = 0; i < response->reasons.size(); ++i) {
    reasons[positions_[i]] = response->reasons[i];
  }
  response->reasons = std::move(reasons);
}

}  // namespace seendb::api
