// shard/user_turns.h: one filter request with `record` at a time a user.
//
// Such a request reads what the user has seen and then records what it answers; another one in
// between would answer the same items. So the request takes the user's turn before it reads, and
// keeps it until its items are recorded. The others of the same user wait in the order of their
// arrival; other users have turns of their own, and a request that records nothing takes none.
//
// A request waits on its own thread, or without one: then it is given the turn by a callback. A
// turn ends with its last copy, and passes to the next in the line at once.

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/sync.h"
#include "filter/keyed_hash.h"
#include "seendb/events.h"
#include "seendb/status.h"

namespace seendb {

/// The turns of one shard's users. Held by shared_ptr: a turn outlives what it was taken from.
/// Threads: any.
class UserTurns : public std::enable_shared_from_this<UserTurns> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Most requests that wait for one user's turn, and for turns of all users of the shard.
  static constexpr size_t kMaxWaitingOfUser = 64;
  static constexpr size_t kMaxWaiting = 4'096;

  /// Takes the user's turn into `*turn`. Where it is taken: with `on_turn` kIncomplete, and that is
  /// called later, with the turn, on a thread that ended one; else waits until `deadline`
  /// (Time::max(): none). kUnavailable: the deadline has passed. kBusy: too many wait.
  Status Take(const std::string& user, Time deadline, const FilterOnTurn* on_turn,
              FilterTurn* turn);

 private:
  struct Waiter {
    FilterOnTurn on_turn;  // empty: a thread waits for `came`
    Time deadline;
    bool has_turn = false;
    CondVar came;
  };
  using Line = std::deque<std::shared_ptr<Waiter>>;

  bool HasRoom(Line* line) REQUIRES(mutex_);
  Status WaitFor(const std::string& user, Waiter* waiter) REQUIRES(mutex_);
  FilterTurn TurnOf(const std::string& user);
  void End(const std::string& user);

  Mutex mutex_{LockRank::kLeaf};
  // Of users whose turn is taken.
  std::unordered_map<std::string, Line, KeyedHasher> lines_ GUARDED_BY(mutex_);
  size_t waiting_ GUARDED_BY(mutex_) = 0;  // in all lines
};

}  // namespace seendb
