#include "membership/prober.h"

#include <utility>

#include "base/clock.h"
#include "base/sync.h"

namespace seendb::membership {
namespace {

using peers::PeerAnswer;
using Clock = std::chrono::steady_clock;

constexpr unsigned kOk = 200;

int64_t MsOf(Clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

ProbeResult ResultOf(PeerAnswer answer, Clock::time_point began) {
  ProbeResult result;
  result.steady_asked_ms = MsOf(began);
  result.steady_answered_ms = MsOf(Clock::now());
  if (answer.kind != PeerAnswer::Kind::kAnswered) {
    const bool refused = answer.kind == PeerAnswer::Kind::kRefused;
    result.kind = refused ? ProbeResult::Kind::kRefused : ProbeResult::Kind::kMissed;
    result.why = std::move(answer.why);
  } else if (answer.status != kOk) {
    result.why = "answers " + std::to_string(answer.status);
  } else {
    result.kind = ProbeResult::Kind::kAnswered;
    result.body = std::move(answer.body);
    // The wall clock may be set while the answer is awaited.
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    result.asked_within_ms = took.count() / 2 + 1;
    result.asked_at_ms = SystemClock()->NowMs() - took.count() / 2;
  }
  return result;
}

}  // namespace

struct Prober::Came {
  Mutex mutex{LockRank::kLeaf};
  CondVar changed;
  std::vector<std::pair<std::string, ProbeResult>> results GUARDED_BY(mutex);
  size_t awaited GUARDED_BY(mutex) = 0;  // of the newest round
  uint64_t round GUARDED_BY(mutex) = 0;
};

Prober::Prober(peers::PeerClient* client, std::chrono::milliseconds timeout)
    : client_(*client), timeout_(timeout), came_(std::make_shared<Came>()) {}

std::vector<std::pair<std::string, ProbeResult>> Prober::Round(
    const std::vector<ProbeTarget>& targets, std::chrono::milliseconds gather) {
  uint64_t round = 0;
  {
    const MutexLock lock(came_->mutex);
    round = ++came_->round;
    came_->awaited = targets.size();
  }
  for (const ProbeTarget& target : targets) {
    client_.Ask({.node = target.node,
                 .url = target.url,
                 .method = "GET",
                 .target = "/internal/status",
                 .timeout = timeout_},
                [came = came_, node = target.node, round, began = Clock::now()](PeerAnswer answer) {
                  ProbeResult result = ResultOf(std::move(answer), began);
                  const MutexLock lock(came->mutex);
                  came->results.emplace_back(node, std::move(result));
                  if (round == came->round && --came->awaited == 0) came->changed.NotifyAll();
                });
  }
  const auto until = Clock::now() + gather;
  std::vector<std::pair<std::string, ProbeResult>> results;
  const MutexLock lock(came_->mutex);
  while (came_->awaited > 0 && came_->changed.WaitUntil(came_->mutex, until)) continue;
  results.swap(came_->results);
  return results;
}

}  // namespace seendb::membership
