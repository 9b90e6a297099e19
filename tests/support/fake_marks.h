// tests/support/fake_marks.h: marks of users in memory; a mark of a group stands in for the former.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "seendb/marks.h"

namespace seendb::test {

class FakeMarks {
 public:
  void Put(const IdRef& user, std::span<const Mark> marks) {
    for (const Mark& mark : marks) of_[user.ToString()][std::string(mark.group)] = mark.until_ms;
  }
  bool Delete(const IdRef& user, std::string_view group) {
    return of_[user.ToString()].erase(std::string(group)) > 0;
  }
  void Read(const MarksRequest& request, int64_t said_ms, MarksPage* page) {
    for (const auto& [group, until_ms] : of_[request.user.ToString()]) {
      if (group > request.after) page->marks.push_back({group, until_ms, said_ms});
    }
  }

 private:
  std::map<std::string, std::map<std::string, std::optional<int64_t>>> of_;  // by user, group
};

}  // namespace seendb::test
