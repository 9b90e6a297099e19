#include "api/tail.h"

#include <algorithm>
#include <random>
#include <utility>

namespace seendb::api {
namespace {

constexpr int kEveryRoute = -2;

/// A number from 0 to below 1.
double DrawNumber() {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_real_distribution<double>()(random);
}

}  // namespace

void Tail::Note(const TailRow& row) {
  const double drawn = DrawNumber();
  const int64_t second = row.at_ms / 1'000;
  const MutexLock lock(shared_->mutex);
  for (const auto& watcher : shared_->slots) {
    if (watcher == nullptr) continue;
    const TailFilter& filter = watcher->filter;
    if (filter.route != kEveryRoute && filter.route != row.route) continue;
    if (row.status < filter.status_least || row.status > filter.status_most) continue;
    Heard& heard = watcher->heard;
    ++heard.matched;
    if (drawn >= filter.sample) continue;
    if (second != watcher->second) {
      watcher->second = second;
      watcher->in_second = 0;
    }
    if (heard.rows.size() >= kRowsMost || watcher->in_second >= kRowsMost) {
      ++heard.lost;
      continue;
    }
    ++watcher->in_second;
    heard.rows.push_back(row);
  }
}

Result<Tail::Watch> Tail::Begin(const TailFilter& filter) {
  auto watcher = std::make_unique<Watcher>();
  watcher->filter = filter;
  const MutexLock lock(shared_->mutex);
  const auto free = std::find(shared_->slots.begin(), shared_->slots.end(), nullptr);
  if (free == shared_->slots.end()) {
    return Status::Busy(std::to_string(kWatchersMost) + " watch already");
  }
  *free = std::move(watcher);
  shared_->watchers.fetch_add(1, std::memory_order_relaxed);
  return Watch(shared_, static_cast<size_t>(free - shared_->slots.begin()));
}

Tail::Watch::~Watch() {
  if (shared_ == nullptr) return;
  std::unique_ptr<Watcher> ended;  // freed without the lock
  const MutexLock lock(shared_->mutex);
  ended = std::move(shared_->slots[slot_]);
  shared_->watchers.fetch_sub(1, std::memory_order_relaxed);
}

Tail::Heard Tail::Watch::Take() {
  Heard heard;
  const MutexLock lock(shared_->mutex);
  std::swap(heard, shared_->slots[slot_]->heard);
  return heard;
}

}  // namespace seendb::api
