#include "shard/user_turns.h"

#include <algorithm>

#include "base/return_if_failed.h"

namespace seendb {

// Ends with its last copy. It keeps this object, which knows who waits.
FilterTurn UserTurns::TurnOf(const std::string& user) {
  return {static_cast<void*>(this), [self = shared_from_this(), user](void*) { self->End(user); }};
}

// Those that wait without a thread give up by themselves once their
// deadline has passed; their places are free then.
bool UserTurns::HasRoom(Line* line) {
  if (line->size() >= kMaxWaitingOfUser) {
    const Time now = std::chrono::steady_clock::now();
    waiting_ -= std::erase_if(*line, [now](const std::shared_ptr<Waiter>& waiter) {
      return waiter->on_turn && waiter->deadline <= now;
    });
  }
  return line->size() < kMaxWaitingOfUser && waiting_ < kMaxWaiting;
}

Status UserTurns::Take(const std::string& user, Time deadline, const FilterOnTurn* on_turn,
                       FilterTurn* turn) {
  if (on_turn == nullptr) AssertMayBlock();  // until others have recorded
  const MutexLock lock(mutex_);
  const auto [at, is_free] = lines_.try_emplace(user);
  if (!is_free) {
    if (deadline <= std::chrono::steady_clock::now()) {
      return Status::Unavailable("another recording request of this user is under way");
    }
    if (!HasRoom(&at->second)) {
      return Status::Busy("too many recording requests of this user wait for each other");
    }
    const auto waiter = std::make_shared<Waiter>();
    waiter->deadline = deadline;
    if (on_turn != nullptr) waiter->on_turn = *on_turn;
    at->second.push_back(waiter);
    ++waiting_;
    if (on_turn != nullptr) {
      return {StatusCode::kIncomplete, "waits for another recording request of this user"};
    }
    RETURN_IF_FAILED(WaitFor(user, waiter.get()));
  }
  *turn = TurnOf(user);
  return {};
}

Status UserTurns::WaitFor(const std::string& user, Waiter* waiter) {
  bool in_time = true;
  while (!waiter->has_turn && in_time) {
    if (waiter->deadline == Time::max()) {
      waiter->came.Wait(mutex_);
    } else {
      in_time = waiter->came.WaitUntil(mutex_, waiter->deadline);
    }
  }
  if (waiter->has_turn) return {};
  waiting_ -= std::erase_if(
      lines_[user], [waiter](const std::shared_ptr<Waiter>& of) { return of.get() == waiter; });
  return Status::Unavailable("another recording request of this user is under way");
}

void UserTurns::End(const std::string& user) {
  std::shared_ptr<Waiter> next;
  {
    const MutexLock lock(mutex_);
    const auto at = lines_.find(user);
    if (at->second.empty()) {
      lines_.erase(at);
      return;
    }
    next = std::move(at->second.front());
    at->second.pop_front();
    --waiting_;
    next->has_turn = true;
    next->came.NotifyOne();
  }
  if (next->on_turn) next->on_turn(TurnOf(user));
}

}  // namespace seendb
