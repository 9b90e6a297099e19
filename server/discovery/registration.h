// server/discovery/registration.h: keeps this server in Consul's catalog from when it is ready
// until it is told to end.

#pragma once

#include <string>

#include "base/sync.h"
#include "discovery/consul_agent.h"
#include "threads/worker.h"

namespace seendb::discovery {

/// A thread that registers, looks each 30 seconds whether the agent still has the entry, and makes
/// it again where it does not (an agent that lost its disk); tries again 5 seconds after a failure.
/// A server that is killed stays in the catalog, as failing, until Consul's forget_after_s is over
/// or it has started again. Threads: Start and Stop from one, all else from any.
class Registration {
 public:
  explicit Registration(const ops::ConsulConfig& config) : agent_(config) {}

  void Start(ConsulService service);
  /// The thread takes the entry out and ends. Does not wait for it.
  void Leave() { worker_.AskToStop(); }
  /// The same, and waits: for some seconds at most.
  void Stop();

  /// The problem, for people; empty: none.
  std::string Problem() const EXCLUDES(mutex_);
  /// Whether the entry was there when it was looked for last.
  bool registered() const EXCLUDES(mutex_);

 private:
  void Run();
  Status Look();
  void Note(const Status& status) EXCLUDES(mutex_);

  ConsulAgent agent_;  // of the thread
  ConsulService service_;
  mutable Mutex mutex_{LockRank::kLeaf};
  bool registered_ GUARDED_BY(mutex_) = false;
  std::string problem_ GUARDED_BY(mutex_);
  Worker worker_;
};

}  // namespace seendb::discovery
