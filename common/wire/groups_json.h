// common/wire/groups_json.h: groups of items from JSON, `["author:3","topic:7"]`.

#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "seendb/facts.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// Reads one group.
Status ReadGroup(ondemand::value value, std::string_view* group);
/// Reads at most kMaxCandidateGroups of them, behind those that `*groups` has.
Status ReadGroups(ondemand::value value, std::vector<std::string_view>* groups);

/// Reads the surface where something is shown.
Status ReadSurface(ondemand::value value, std::string_view* surface);

/// Keeps the groups of events of one document.
class EventGroupsReader {
 public:
  /// Reads those of the event at `position`: what it is counted by, or, `same`, what is seen with
  /// its item.
  Status Read(ondemand::value value, size_t position, bool same = false);
  /// Gives the events what was read of them, views that are good until the next change.
  template <typename Event>
  void GiveTo(std::span<Event> events) const {
    for (const One& one : read_) {
      Event& event = events[one.position];
      (one.same ? event.same_as : event.of) = std::span(names_).subspan(one.first, one.count);
    }
  }
  /// Whether an event names some, or says that it has none.
  bool any() const { return any_; }
  void Clear() {
    names_.clear();
    read_.clear();
    any_ = false;
  }

 private:
  struct One {
    size_t position = 0, first = 0, count = 0;  // of names_
    bool same = false;
  };
  std::vector<std::string_view> names_;
  std::vector<One> read_;
  bool any_ = false;
};

}  // namespace seendb::wire
