// last_users.h: something of each of the last 10,000 users.

#pragma once

#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace seendb::client::internal {

/// See the head of this file. Threads: any.
template <typename T>
class LastUsers {
 public:
  /// A copy of what is known; T(): nothing.
  T Get(const std::string& user) {
    const std::lock_guard lock(mutex_);
    const auto found = of_.find(user);
    return found == of_.end() ? T() : found->second->second;
  }

  /// Calls `change(T&)`, with T() where nothing was known. The user is the last one now.
  template <typename Change>
  void Update(const std::string& user, Change change) {
    const std::lock_guard lock(mutex_);
    const auto found = of_.find(user);
    if (found == of_.end()) {
      order_.emplace_back(user, T());
      of_.emplace(user, std::prev(order_.end()));
    } else {
      order_.splice(order_.end(), order_, found->second);
    }
    change(order_.back().second);
    if (order_.size() <= kUsersMost) return;
    of_.erase(order_.front().first);
    order_.pop_front();
  }

 private:
  static constexpr size_t kUsersMost = 10'000;

  std::mutex mutex_;
  std::list<std::pair<std::string, T>> order_;  // the last one at the end
  std::unordered_map<std::string, typename std::list<std::pair<std::string, T>>::iterator> of_;
};

}  // namespace seendb::client::internal
