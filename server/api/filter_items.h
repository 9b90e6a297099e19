// server/api/filter_items.h: what one filter request asks of the store of items.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/context.h"
#include "seendb/item_judge.h"
#include "wire/filter_json.h"

namespace seendb::api {

/// The most bytes of item fields in one answer; the fields of further items are left out.
inline constexpr size_t kMaxFilterFieldBytes = size_t{16} << 20;

/// See the head of this file. Lives as long as its request is answered.
class FilterItems {
 public:
  /// Gives the request its judge, and candidates without groups or a time those that their items
  /// have. Nothing where it asks nothing of the store, and items have no groups. kIncompatible:
  /// there is no schema, or this is a node of a cluster. kInvalidArgument, naming the place
  /// ("/where/1/ge"): the schema does not have that, or a value does not fit. kUnavailable: the
  /// schema was changed meanwhile.
  Status Begin(const Context& context, wire::FilterCall* call);
  /// Whether the request uses items.
  bool asks() const { return asks_; }
  /// Whether so many values may be told that a worker should do it.
  static bool TellsMuch(const wire::FilterCall& call);
  /// Appends members of the answer, behind a comma: the fields of the unseen ones, if the request
  /// asks for them.
  void AppendFields(const wire::FilterCall& call, const FilterResponse& response,
                    std::string* members) const;

 private:
  Status BeginRules(const Context& context, wire::FilterCall* call);
  Status FillGroups(const ItemDoor::Opened& opened, wire::FilterCall* call);

  bool asks_ = false;
  ItemStore* store_ = nullptr;  // null: it is not asked for fields
  std::unique_ptr<ItemJudge> judge_;
  std::unordered_set<std::string> texts_;  // that groups_ borrows
  std::vector<std::string_view> groups_;   // of all candidates
};

}  // namespace seendb::api
