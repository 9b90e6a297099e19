#include "ring/active_days.h"

#include <algorithm>
#include <utility>

#include "format/user_codec.h"

namespace seendb {

// Precondition: mutex_ held, as for the next two.
bool ActiveDays::Known(const std::string& key, int64_t day) const {
  const auto at = known_.find(key);
  return at != known_.end() && at->second >= day;
}

void ActiveDays::Note(const std::string& key, int64_t day) {
  if (known_.size() >= kKnownMost && !known_.contains(key)) known_.clear();
  int64_t& last = known_.try_emplace(key, day).first->second;
  last = std::max(last, day);
  untold_.erase(key);
}

void ActiveDays::NoteUntold(const std::string& key, int64_t day) {
  if (untold_.size() >= kKnownMost) untold_.clear();
  untold_[key] = day;
  known_.erase(key);
}

void ActiveDays::Untell(const std::string& key, int64_t day) {
  const std::lock_guard lock(mutex_);
  NoteUntold(key, day);
}

std::vector<bool> ActiveDays::LookUp(const std::vector<std::string>& keys, int64_t day) const {
  std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  store_->db()->MultiGet({}, store_->users(), keys.size(), slices.data(), values.data(),
                         statuses.data());
  std::vector<bool> active(keys.size());
  UserRecord record;
  for (size_t i = 0; i < keys.size(); ++i) {
    active[i] =
        statuses[i].ok() && record.Parse(values[i].ToStringView()) && record.last_day >= day;
  }
  return active;
}

std::optional<int64_t> ActiveDays::LastDay(const std::string& key) const {
  rocksdb::PinnableSlice value;
  UserRecord record;
  if (!store_->db()->Get({}, store_->users(), key, &value).ok()) return {};
  if (!record.Parse(value.ToStringView()) || record.last_day == kNoDay) return {};
  return record.last_day;
}

std::vector<std::string> ActiveDays::Claim(const std::vector<std::string>& keys, int64_t day) {
  std::vector<std::string> mine;
  std::vector<bool> untold;
  uint64_t forgets = 0;
  {
    std::unique_lock lock(mutex_);
    const auto elsewhere = [&](const std::string& key) {
      return !Known(key, day) && claimed_.contains(key);
    };
    ended_.wait(lock, [&] { return std::none_of(keys.begin(), keys.end(), elsewhere); });
    for (const std::string& key : keys) {
      if (Known(key, day)) continue;
      claimed_.insert(key);
      const auto at = untold_.find(key);
      untold.push_back(at != untold_.end() && at->second == day);
      mine.push_back(key);
    }
    forgets = forgets_;
  }
  if (mine.empty()) return mine;
  const std::vector<bool> active = LookUp(mine, day);
  std::vector<std::string> first, others;
  for (size_t i = 0; i < mine.size(); ++i) {
    (active[i] && !untold[i] ? others : first).push_back(std::move(mine[i]));
  }
  const std::lock_guard lock(mutex_);
  // What was erased meanwhile may be what was found.
  EndLocked(others, day, forgets == forgets_ ? ClaimEnd::kWritten : ClaimEnd::kUnused);
  return first;
}

void ActiveDays::End(const std::vector<std::string>& keys, int64_t day, ClaimEnd end) {
  const std::lock_guard lock(mutex_);
  EndLocked(keys, day, end);
}

// Precondition: mutex_ held.
void ActiveDays::EndLocked(const std::vector<std::string>& keys, int64_t day, ClaimEnd end) {
  if (keys.empty()) return;
  for (const std::string& key : keys) {
    claimed_.erase(key);
    if (end == ClaimEnd::kWritten) Note(key, day);
    if (end == ClaimEnd::kFailed) NoteUntold(key, day);
  }
  ended_.notify_all();
}

void ActiveDays::Forget(const std::vector<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  ++forgets_;
  for (const std::string& key : keys) {
    known_.erase(key);
    untold_.erase(key);
  }
}

}  // namespace seendb
