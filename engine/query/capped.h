// query/capped.h: which candidates of a filter request are dropped by caps: the user had enough of
// one of their groups, in a span or on the page. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "query/candidates.h"
#include "query/counted.h"
#include "seendb/facts.h"
#include "seendb/policy.h"

namespace seendb {

/// kInvalidArgument with "/caps" or "/caps/<index>/..." for what is no cap, or asks for more than
/// the policy counts.
Status CheckCaps(std::span<const Cap> caps, const Policy& policy);

/// The caps of one request, and what the page has of each group. Borrows the request and the
/// counts.
class PageCaps {
 public:
  PageCaps(const FilterRequest& request, const Counted& counted, int64_t now_ms);

  /// Gives those of the unseen candidates of [begin, end) that are one too many `verdict`, that of
  /// the source of caps, and notes their groups; the others are on the page. A repeat has what its
  /// first has. Call it in ascending order, after whatever else decides. Cost: a look-up a group
  /// and cap, and once a group on the page its events are counted.
  void Drop(uint32_t verdict, size_t begin, size_t end, Candidates* candidates);

  /// Puts one more candidate on the page, for whatever reason it is there; false where that would
  /// be one too many.
  bool Admit(size_t position);

 private:
  std::span<const std::string_view> GroupsOf(size_t position) const;
  void Count(std::span<const std::string_view> groups);
  /// The first group of a candidate that is full, or kItemKind; empty: none.
  std::string_view FullGroup(size_t position);
  /// Whether the user had enough of the item itself. On the page it is once.
  bool FullItem(const IdRef& item) const;
  /// The number of a group by one of the caps, in the span and on the page.
  uint32_t& NumberOf(size_t cap, std::string_view group);

  const FilterRequest& request_;
  const Counted& counted_;
  const int64_t now_ms_;
  bool of_items_ = false;                                      // some caps are
  std::vector<std::map<std::string_view, uint32_t>> numbers_;  // by cap, group
};

}  // namespace seendb
