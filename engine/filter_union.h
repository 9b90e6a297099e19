// filter_union.h: filter requests that count what was seen in several collections. Each is asked by
// itself, with its own policy, before the request is answered in its own collection, where what
// they said is one more reason beside what that one has.

#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog.h"
#include "query/elsewhere.h"
#include "seendb/events.h"
#include "shard/shard.h"

namespace seendb {

/// See the head of this file. It borrows the request, and is as good as that. Threads: one.
class FilterUnion {
 public:
  /// Finds the request's collections. kNotFound, and kInvalidArgument, name the one at fault. If
  /// the request names none, own() is the request itself, and nothing else is asked.
  Status Find(const FilterRequest& request, const Catalog& catalog);

  /// Asks for what `collection` itself has; nothing of what counts, unless it is one of them.
  const FilterRequest& own() const { return changed_ ? own_ : *request_; }
  /// The policies of the others, to check what is asked.
  const std::vector<std::pair<size_t, CollectionPtr>>& others() const { return others_; }
  /// Asks the others, into `*response` what is missing. False: memory alone can't tell.
  bool AskOthers(const FilterRead& read, Shard* shard, FilterResponse* response);
  /// Null: no others were asked.
  const SeenElsewhere* seen() const { return others_.empty() ? nullptr : &seen_; }
  /// Adds what the others said of the whole answer, once that is there.
  void Tell(FilterResponse* response) const;

 private:
  const FilterRequest* request_ = nullptr;
  bool changed_ = false;
  FilterRequest own_;
  Question own_question_;
  std::vector<std::pair<size_t, CollectionPtr>> others_;  // by position in the request
  SeenElsewhere seen_;
  uint8_t coarse_ = 0, beyond_ = 0;
};

}  // namespace seendb
