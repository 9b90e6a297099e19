// tests/support/fake_user_sets.h: sets of users in memory; a set stands in for the former. They
// don't end, and filters don't ask them.

#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "support/fake_dump.h"

namespace seendb::test {

class FakeUserSets : public FakeDumpEngine {
 public:
  Result<UserSetInfo> PutUserSet(const UserSet& set) override {
    if (set.items.empty()) return Status::InvalidArgument("none", "/items");
    const int64_t at_ms = set.at_ms.ms.value_or(1);
    UserSetPage page{
        {std::string(set.name), set.items.size(), at_ms, at_ms + set.lasts_ms}, {}, {}};
    for (const IdRef& id : set.items) page.items.push_back(id.ToString());
    std::sort(page.items.begin(), page.items.end());
    const std::lock_guard lock(user_sets_mutex_);
    return (user_sets_[set.user.ToString()][page.info.name] = page).info;
  }
  Result<bool> DeleteUserSet(IdRef user, std::string_view name, CallTime) override {
    const std::lock_guard lock(user_sets_mutex_);
    return user_sets_[user.ToString()].erase(std::string(name)) > 0;
  }
  Status ListUserSets(IdRef user, UserSetList* list) override {
    const std::lock_guard lock(user_sets_mutex_);
    for (const auto& [name, page] : user_sets_[user.ToString()]) list->sets.push_back(page.info);
    return {};
  }
  Status ReadUserSet(IdRef user, std::string_view name, std::string_view, size_t,
                     UserSetPage* page) override {
    const std::lock_guard lock(user_sets_mutex_);
    const auto& sets = user_sets_[user.ToString()];
    const auto found = sets.find(std::string(name));
    if (found == sets.end()) return Status::NotFound("the user has no such set");
    *page = found->second;
    return {};
  }

 private:
  std::mutex user_sets_mutex_;
  std::map<std::string, std::map<std::string, UserSetPage>> user_sets_;  // by user, name
};

}  // namespace seendb::test
