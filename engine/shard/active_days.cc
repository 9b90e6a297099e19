#include "shard/active_days.h"

#include <algorithm>
#include <utility>

#include "format/user_codec.h"

namespace seendb {

bool ActiveDays::Known(const std::string& key, int64_t day) const {
  const auto at = known_.find(key);
  return at != known_.end() && at->second >= day;
}

void ActiveDays::Note(const std::string& key, int64_t day) {
  if (known_.size() >= kKnownMost && !known_.contains(key)) known_.clear();
  int64_t& last = known_.try_emplace(key, day).first->second;
  last = std::max(last, day);
  not_told_.erase(key);
}

void ActiveDays::NoteNotTold(const std::string& key, int64_t day) {
  if (not_told_.size() >= kKnownMost) not_told_.clear();
  not_told_[key] = day;
  known_.erase(key);
}

void ActiveDays::MarkNotTold(const std::string& key, int64_t day) {
  const MutexLock lock(mutex_);
  NoteNotTold(key, day);
}

std::vector<bool> ActiveDays::LookUp(const std::vector<std::string>& keys, int64_t day) const {
  if (!store_->readable()) return std::vector<bool>(keys.size(), false);
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

bool ActiveDays::AnyClaimed(const std::vector<std::string>& keys, int64_t day) const {
  for (const std::string& key : keys) {
    if (!Known(key, day) && claimed_.contains(key)) return true;
  }
  return false;
}

ActiveDays::Claimed ActiveDays::Claim(const std::vector<std::string>& keys, int64_t day) {
  AssertMayBlock();  // until others have written
  Claimed mine;
  const MutexLock lock(mutex_);
  while (AnyClaimed(keys, day)) ended_.Wait(mutex_);
  for (const std::string& key : keys) {
    if (Known(key, day)) continue;
    claimed_.insert(key);
    const auto at = not_told_.find(key);
    mine.not_told.push_back(at != not_told_.end() && at->second == day);
    mine.keys.push_back(key);
  }
  mine.forgets = forgets_;
  return mine;
}

std::vector<std::string> ActiveDays::KeepFirst(Claimed claimed, int64_t day) {
  if (claimed.keys.empty()) return {};
  const std::vector<bool> active = LookUp(claimed.keys, day);
  std::vector<std::string> first, others;
  for (size_t i = 0; i < claimed.keys.size(); ++i) {
    (active[i] && !claimed.not_told[i] ? others : first).push_back(std::move(claimed.keys[i]));
  }
  const MutexLock lock(mutex_);
  // What was erased meanwhile may be what was found.
  EndLocked(others, day, claimed.forgets == forgets_ ? ClaimEnd::kWritten : ClaimEnd::kUnused);
  return first;
}

void ActiveDays::End(const std::vector<std::string>& keys, int64_t day, ClaimEnd end) {
  const MutexLock lock(mutex_);
  EndLocked(keys, day, end);
}

void ActiveDays::EndLocked(const std::vector<std::string>& keys, int64_t day, ClaimEnd end) {
  if (keys.empty()) return;
  for (const std::string& key : keys) {
    claimed_.erase(key);
    if (end == ClaimEnd::kWritten) Note(key, day);
    if (end == ClaimEnd::kFailed) NoteNotTold(key, day);
  }
  ended_.NotifyAll();
}

void ActiveDays::Forget(const std::vector<std::string>& keys) {
  const MutexLock lock(mutex_);
  ++forgets_;
  for (const std::string& key : keys) {
    known_.erase(key);
    not_told_.erase(key);
  }
}

}  // namespace seendb
