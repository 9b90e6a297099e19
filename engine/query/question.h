// query/question.h: which facts count in one filter request, worked out once from what it asks and
// the policy. Pure.
//
// Entries of a question are united, and one event must meet all members of an entry. Lists have
// times and surfaces, so they answer exactly. Filters have neither: a bucket that a span only
// touches counts whole, so that an answer errs towards seen, and says so.

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "seendb/events.h"
#include "seendb/policy.h"
#include "seendb/status.h"

namespace seendb {

/// Which entries of a user's list count, newest first.
struct ListRule {
  int64_t oldest_ms = 0;                                 ///< older ones don't
  uint32_t last = std::numeric_limits<uint32_t>::max();  ///< of the newest so many
  std::string_view surface = {};                         ///< empty: anywhere
  bool short_of_span = false;  ///< what is asked for goes back further than entries are kept

  /// Whether the entry counts that is the `nth` newest, from 0.
  bool Counts(size_t nth, int64_t at_ms, std::string_view on) const {
    return nth < last && at_ms >= oldest_ms && (surface.empty() || surface == on);
  }
};

/// Rules that are united; none: the fact does not count.
class ListRules {
 public:
  void Add(const ListRule& rule) { rules_[count_++] = rule; }
  std::span<const ListRule> all() const { return {rules_.data(), count_}; }
  bool empty() const { return count_ == 0; }
  bool Count(size_t nth, int64_t at_ms, std::string_view surface) const;
  int64_t oldest_ms() const;  ///< of all; precondition: !empty()

 private:
  std::array<ListRule, kMaxNotEntries> rules_{};
  size_t count_ = 0;
};

/// See the head of this file. Borrows the names of the request's surfaces.
struct CountedFacts {
  /// Whether plays count: those of the bucket `oldest_bucket` and newer ones. Buckets from
  /// `touched_bucket` on that are older count whole, although a span only touches them.
  bool played = false;
  int64_t oldest_bucket = 0, touched_bucket = 0;
  int64_t played_from_ms = 0;  ///< where one is touched: when the span begins in it
  ListRules served, exposed;
  int64_t oldest_read = 0;  ///< the oldest bucket that any fact reaches
  bool asked = false;       ///< by a question, which is told what is coarse, and what is beyond
  uint8_t beyond = 0;       ///< facts of which less is kept than is asked for, whoever asks
};

/// kInvalidArgument with "/not/<index>/..." for the first entry that asks for what there is not.
Status CheckQuestion(const Question& question, const Policy& policy);

/// Whether candidates may be dropped by caps.
bool AsksForCaps(const FilterRequest& request);

/// Precondition: CheckQuestion found nothing. Without an entry, and of no facts, nothing counts.
CountedFacts FactsCounted(const FilterRequest& request, const Policy& policy, int64_t now_ms);

}  // namespace seendb
