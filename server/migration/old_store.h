// server/migration/old_store.h: asks an old store which of a filter request's candidates it has,
// within a budget, and holds no thread of the server meanwhile.
//
// A question is one ZMSCORE of the candidates: what it costs depends on them, not on how long the
// user's key is. Questions that wait are sent together.

#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "migration/counters.h"
#include "migration/old_client.h"
#include "migration/question.h"

namespace seendb::migration {

/// See the head of this file. Threads: any.
class OldStore {
 public:
  /// Both are borrowed.
  OldStore(OldLink* link, Counters* counters);
  /// Answers what still waits: not got.
  ~OldStore();
  OldStore(const OldStore&) = delete;
  OldStore& operator=(const OldStore&) = delete;

  /// Asks; calls `on_answer` exactly once, by Question::until at the latest. At most kWaitingMost
  /// questions wait, or kItemsMost candidates: one more is not got at once.
  void Ask(Question question, OnAnswer on_answer) EXCLUDES(mutex_);

  static constexpr size_t kWaitingMost = 4'096;
  static constexpr size_t kItemsMost = 1'000'000;

 private:
  using Clock = std::chrono::steady_clock;
  struct Pending {
    Question question;
    OnAnswer on_answer;
    std::atomic<bool> answered{false};
  };
  using PendingPtr = std::shared_ptr<Pending>;
  using Expiry = std::pair<Clock::time_point, const Pending*>;

  void Work() EXCLUDES(mutex_);
  void Expire() EXCLUDES(mutex_);
  std::vector<PendingPtr> TakeSome() EXCLUDES(mutex_);
  void AskAll(OldClient& client, const std::vector<PendingPtr>& some);
  void Answer(Pending& pending, std::shared_ptr<const OldAnswer> answer);
  void Forget(const std::vector<PendingPtr>& some) EXCLUDES(mutex_);

  OldLink& link_;
  Counters& counters_;
  Mutex mutex_{LockRank::kLeaf};
  CondVar asked_;   // waiting_ has one more, or stopping_
  CondVar sooner_;  // expiries_ has an earlier first, or stopping_
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::deque<PendingPtr> waiting_ GUARDED_BY(mutex_);
  size_t waiting_items_ GUARDED_BY(mutex_) = 0;
  std::map<Expiry, PendingPtr> expiries_ GUARDED_BY(mutex_);  // of those not answered
  std::vector<std::thread> threads_;
};

}  // namespace seendb::migration
