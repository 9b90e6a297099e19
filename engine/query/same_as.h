// query/same_as.h: groups of candidates that are the same for the user (seendb/facts.h): what is
// seen of one is seen of all, and of several on one page only the first is unseen. Pure.
//
// Facts have a group's fingerprint beside the item's. So groups are probed like candidates, after
// all that can make a candidate unseen again: history knows items alone, and refutes no group.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "filter/item_hash.h"
#include "format/user_codec.h"
#include "query/candidates.h"
#include "seendb/events.h"

namespace seendb {

/// Whether any candidate has such groups.
bool AsksForSameAs(const FilterRequest& request);

/// The verdicts of candidates by their groups: those of three sources without items.
struct SameVerdicts {
  uint32_t seen = 0;     ///< a fact has one
  uint32_t touched = 0;  ///< so has only a bucket that a span touches
  uint32_t on_page = 0;  ///< a candidate that is unseen has one in common
};

/// Begins a request with such groups: hashes them into candidates->same.
void BeginSame(const FilterRequest& request, const ItemHash& hash, Candidates* candidates);

/// The sources of facts, those that can have groups.
std::vector<SourceView> SourcesOfFacts(std::span<const SourceView> sources);

/// Gives those unseen candidates of [begin, end) their verdict that a fact has a group of, and
/// notes the group. A repeat has what its first has. `overrides`: lift plays of the groups that
/// they name; null: none. `probed` is overwritten. Precondition: all but the judge and caps was
/// asked, ranges come ascending. Cost: 2-10 ns a group and source.
void FindSame(std::span<const SourceView> facts, const CollectionMarks* overrides,
              const SameVerdicts& verdicts, const FilterRequest& request, size_t begin, size_t end,
              Candidates* candidates, Candidates* probed);

/// The groups of the page's candidates: each is on it once.
class SamePage {
 public:
  /// Whether one of the candidate's groups is on the page.
  bool Has(const FilterRequest& request, size_t position) const {
    return !GroupOnPage(request, position).empty();
  }
  /// Gives an unseen candidate `verdict` where one of its groups is on the page, and notes that; a
  /// repeat has what its first has. To be asked ascending, before anything counts it.
  void Hide(const FilterRequest& request, uint32_t verdict, size_t position,
            Candidates* candidates) const;
  /// The candidate is on the page.
  void Add(const FilterRequest& request, size_t position);

 private:
  std::string_view GroupOnPage(const FilterRequest& request, size_t position) const;

  std::unordered_set<std::string_view> groups_;
};

}  // namespace seendb
