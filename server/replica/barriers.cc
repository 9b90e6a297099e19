#include "replica/barriers.h"

#include <iterator>
#include <utility>

namespace seendb::replica {

void Barriers::Await(uint32_t partition, Time deadline, Done done) {
  {
    const MutexLock lock(mutex_);
    Line& line = lines_[partition];
    std::vector<Waiter>& waiters = line.under_way ? line.next : line.now;
    waiters.push_back({deadline, std::move(done)});
    if (std::exchange(line.under_way, true)) return;
  }
  Append(partition);
}

void Barriers::Append(uint32_t partition) {
  append_(partition, [this, partition](const Result<Appended>& tick) { Ended(partition, tick); });
}

void Barriers::Ended(uint32_t partition, const Result<Appended>& tick) {
  std::vector<Waiter> ready;
  bool more = false;
  {
    const MutexLock lock(mutex_);
    Line& line = lines_[partition];
    ready.swap(line.now);
    line.now.swap(line.next);
    more = line.under_way = !line.now.empty();
  }
  Status status = tick.status();
  if (status.ok() && !tick->applied) {
    status = Status::Unavailable("the log was not applied in time");
  }
  for (const Waiter& waiter : ready) waiter.done(status);
  if (more) Append(partition);
}

void Barriers::Expire(Time now) {
  std::vector<Done> ready;
  {
    const MutexLock lock(mutex_);
    for (auto& [partition, line] : lines_) {
      for (std::vector<Waiter>* waiters : {&line.now, &line.next}) {
        std::erase_if(*waiters, [&](Waiter& waiter) {
          if (waiter.deadline > now) return false;
          ready.push_back(std::move(waiter.done));
          return true;
        });
      }
    }
  }
  for (const Done& done : ready) done(Status::Unavailable("the log was not applied in time"));
}

}  // namespace seendb::replica
