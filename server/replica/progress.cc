#include "replica/progress.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace seendb::replica {
namespace {

// Ends of the log that are kept of a replica that lags; beyond, every second one goes, and new ones
// are taken as far apart.
constexpr size_t kEndsMost = 64;

int64_t MsBetween(Time from, Time to) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(to - from).count();
  return std::max<int64_t>(0, ms);
}

}  // namespace

// ---- Which there are ----

void Progress::SetFetching(uint32_t partition, bool fetching) {
  const MutexLock lock(mutex_);
  if (fetching) {
    fetching_.insert(partition);
  } else {
    fetching_.erase(partition);
  }
}

void Progress::Hold(uint32_t partition, Time now) {
  const MutexLock lock(mutex_);
  Replica& replica = replicas_[partition];
  replica.fresh_from = replica.told_at = replica.applied_at = now;
  fetching_.erase(partition);
  ++version_;
}

void Progress::GiveUp(Replica* replica, Ready* ready) {
  for (auto& [offset, waiter] : replica->waiters) ready->push_back(std::move(waiter.done));
  replica->waiters.clear();
}

void Progress::Drop(uint32_t partition) {
  Ready ready;
  {
    const MutexLock lock(mutex_);
    const auto at = replicas_.find(partition);
    if (at == replicas_.end()) return;
    GiveUp(&at->second, &ready);
    replicas_.erase(at);
    ++version_;
  }
  for (const Done& done : ready) done(false);
}

std::set<uint32_t> Progress::Held() const {
  const MutexLock lock(mutex_);
  std::set<uint32_t> held;
  for (const auto& [partition, replica] : replicas_) held.insert(partition);
  return held;
}

std::set<uint32_t> Progress::Fetching() const {
  const MutexLock lock(mutex_);
  return fetching_;
}

bool Progress::IsHeld(uint32_t partition) const {
  const MutexLock lock(mutex_);
  return replicas_.contains(partition);
}

uint64_t Progress::version() const {
  const MutexLock lock(mutex_);
  return version_;
}

// ---- How far they are ----

void Progress::Begin(uint32_t partition, int64_t next_offset, int64_t newest_ms) {
  const MutexLock lock(mutex_);
  const auto at = replicas_.find(partition);
  if (at == replicas_.end()) return;
  at->second.next_offset = next_offset;
  at->second.newest_ms = std::max(at->second.newest_ms, newest_ms);
}

void Progress::Resume(uint32_t partition) {
  const MutexLock lock(mutex_);
  const auto at = replicas_.find(partition);
  if (at == replicas_.end() || at->second.how != Stopped::kForNow) return;
  at->second.stopped.clear();
}

void Progress::Met(Replica* replica, Time asked_at) {
  replica->whole_at = std::max(replica->whole_at, asked_at);
  if (asked_at < replica->fresh_from) return;
  replica->caught_up = true;
  replica->doubted = false;
}

void Progress::NoteEnd(uint32_t partition, int64_t end, Time asked_at) {
  const MutexLock lock(mutex_);
  const auto at = replicas_.find(partition);
  if (at == replicas_.end()) return;
  Replica& replica = at->second;
  replica.told_at = std::max(replica.told_at, asked_at);
  if (!replica.next_offset) return;
  if (*replica.next_offset >= end) return Met(&replica, asked_at);
  auto& ends = replica.ends;
  if (!ends.empty() && (end < ends.back().offset || asked_at < ends.back().asked_at)) return;
  if (ends.empty()) replica.ends_apart = {};
  if (!ends.empty() && asked_at - ends.back().asked_at < replica.ends_apart) return;
  if (ends.size() >= kEndsMost) {
    for (size_t i = 0; 2 * i < ends.size(); ++i) ends[i] = ends[2 * i];
    ends.resize(ends.size() / 2);
    replica.ends_apart = ends[1].asked_at - ends[0].asked_at;
  }
  ends.push_back({asked_at, end});
}

std::map<uint32_t, int64_t> Progress::NextOffsets() const {
  const MutexLock lock(mutex_);
  std::map<uint32_t, int64_t> next;
  for (const auto& [partition, replica] : replicas_) {
    if (replica.next_offset) next[partition] = *replica.next_offset;
  }
  return next;
}

void Progress::Advance(uint32_t partition, int64_t next_offset, int64_t arrival_ms, Time now) {
  Ready ready;
  {
    const MutexLock lock(mutex_);
    const auto at = replicas_.find(partition);
    if (at == replicas_.end()) return;
    Replica& replica = at->second;
    replica.next_offset = next_offset;
    replica.newest_ms = std::max(replica.newest_ms, arrival_ms);
    replica.applied_at = now;
    for (auto& ends = replica.ends; !ends.empty() && ends.front().offset <= next_offset;) {
      Met(&replica, ends.front().asked_at);
      ends.pop_front();
    }
    const auto end = replica.waiters.upper_bound(next_offset);
    for (auto one = replica.waiters.begin(); one != end; ++one) {
      ready.push_back(std::move(one->second.done));
    }
    replica.waiters.erase(replica.waiters.begin(), end);
  }
  for (const Done& done : ready) done(true);
}

void Progress::Stop(uint32_t partition, const std::string& why, Stopped how, int64_t copy_from) {
  Ready ready;
  {
    const MutexLock lock(mutex_);
    const auto at = replicas_.find(partition);
    if (at == replicas_.end() || at->second.how != Stopped::kForNow) return;
    at->second.stopped = why;
    at->second.how = how;
    at->second.copy_from = copy_from;
    if (how != Stopped::kForNow) GiveUp(&at->second, &ready);
  }
  for (const Done& done : ready) done(false);
}

bool Progress::IsStopped(uint32_t partition) const {
  const MutexLock lock(mutex_);
  const auto at = replicas_.find(partition);
  return at != replicas_.end() && at->second.how != Stopped::kForNow;
}

std::map<uint32_t, int64_t> Progress::ToReplace() const {
  const MutexLock lock(mutex_);
  std::map<uint32_t, int64_t> to_replace;
  for (const auto& [partition, replica] : replicas_) {
    if (replica.how == Stopped::kUntilReplaced) to_replace[partition] = replica.copy_from;
  }
  return to_replace;
}

void Progress::Doubt(Time now) {
  const MutexLock lock(mutex_);
  for (auto& [partition, replica] : replicas_) {
    replica.fresh_from = now;
    replica.doubted = true;
  }
}

std::set<uint32_t> Progress::CaughtUp() const {
  const MutexLock lock(mutex_);
  std::set<uint32_t> caught_up;
  for (const auto& [partition, replica] : replicas_) {
    if (replica.caught_up) caught_up.insert(partition);
  }
  return caught_up;
}

// `topic_ms`: what is lacking of other topics; nothing: that is not known. Of one that has caught
// up, no wall clock has a say: arrivals are those of other nodes' clocks.
cluster::ReplicaReport Progress::ReportOf(const Replica& replica, int64_t now_ms, Time now,
                                          std::optional<int64_t> topic_ms) {
  cluster::ReplicaReport one;
  one.next_offset = replica.next_offset.value_or(0);
  if (replica.caught_up) {
    one.behind_ms = MsBetween(replica.whole_at, now);
  } else if (replica.newest_ms > 0) {
    one.behind_ms = std::max<int64_t>(0, now_ms - replica.newest_ms);
  }
  one.cut_off = MsBetween(replica.told_at, now) > cluster::kBehindMost;
  const bool caught_up = replica.caught_up && topic_ms;
  if (caught_up) one.behind_ms = std::max(one.behind_ms, *topic_ms);
  one.state = cluster::StateOfOpen(caught_up, one.behind_ms);
  // Where the log can't be read on, what it has is better than no answer.
  const bool is_read = replica.stopped.empty();
  const bool knows = replica.caught_up || (!is_read && replica.newest_ms > 0);
  if (knows && (replica.doubted || !is_read)) one.state = cluster::ReplicaState::kBehind;
  return one;
}

std::map<uint32_t, cluster::ReplicaReport> Progress::Report(
    int64_t now_ms, Time now, const std::map<uint32_t, int64_t>* topics_behind_ms) const {
  const MutexLock lock(mutex_);
  std::map<uint32_t, cluster::ReplicaReport> report;
  for (const uint32_t partition : fetching_) {
    report[partition].state = cluster::ReplicaState::kFetching;
  }
  for (const auto& [partition, replica] : replicas_) {
    std::optional<int64_t> topic_ms = 0;
    if (topics_behind_ms != nullptr) {
      const auto known = topics_behind_ms->find(partition);
      topic_ms = known == topics_behind_ms->end() ? std::nullopt : std::optional(known->second);
    }
    report[partition] = ReportOf(replica, now_ms, now, topic_ms);
  }
  return report;
}

std::vector<Progress::Standing> Progress::Standings(Time now) const {
  const MutexLock lock(mutex_);
  std::vector<Standing> standings;
  standings.reserve(replicas_.size());
  for (const auto& [partition, replica] : replicas_) {
    const cluster::ReplicaReport one = ReportOf(replica, 0, now, 0);
    standings.push_back({partition, one.state, one.cut_off});
  }
  return standings;
}

std::vector<std::string> Progress::Problems() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> problems;
  for (const auto& [partition, replica] : replicas_) {
    if (replica.stopped.empty()) continue;
    problems.push_back("partition " + std::to_string(partition) + ": " + replica.stopped);
  }
  return problems;
}

std::map<uint32_t, Time> Progress::AppliedAt() const {
  const MutexLock lock(mutex_);
  std::map<uint32_t, Time> applied_at;
  for (const auto& [partition, replica] : replicas_) applied_at[partition] = replica.applied_at;
  return applied_at;
}

// ---- Waiting ----

void Progress::Await(uint32_t partition, int64_t next_offset, Time deadline, Done done) {
  bool there = false;
  {
    const MutexLock lock(mutex_);
    const auto at = ended_ ? replicas_.end() : replicas_.find(partition);
    if (at != replicas_.end()) {
      there = at->second.next_offset.value_or(0) >= next_offset;
      if (!there && at->second.how == Stopped::kForNow) {
        at->second.waiters.emplace(next_offset, Replica::Waiter{deadline, std::move(done)});
        return;
      }
    }
  }
  done(there);
}

void Progress::Expire(Time now) {
  Ready ready;
  {
    const MutexLock lock(mutex_);
    for (auto& [partition, replica] : replicas_) {
      for (auto at = replica.waiters.begin(); at != replica.waiters.end();) {
        const auto next = std::next(at);
        if (at->second.deadline <= now) {
          ready.push_back(std::move(at->second.done));
          replica.waiters.erase(at);
        }
        at = next;
      }
    }
  }
  for (const Done& done : ready) done(false);
}

void Progress::End() {
  Ready ready;
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    for (auto& [partition, replica] : replicas_) GiveUp(&replica, &ready);
  }
  for (const Done& done : ready) done(false);
}

}  // namespace seendb::replica
