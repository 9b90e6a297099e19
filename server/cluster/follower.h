// server/cluster/follower.h: keeps a node's fold of `X.meta` current, on a thread of its own, and
// registers the node as a member.
//
// The copy in the node's folder is taken at once. Once Kafka answers, the topic is read from its
// beginning: what was read takes the copy's place as soon as it has come as far.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/sync.h"
#include "cluster/meta_log.h"
#include "threads/worker.h"

namespace seendb::cluster {

/// What a follower follows, and for whom.
struct FollowerOptions {
  KafkaAccess access;
  std::string cluster;
  std::string cache_path;  ///< the copy of the fold
  /// Told, on the follower's thread, of records that do not count, of the topic's faults, and of
  /// copies that can't be written: `event` is a word, `text` says more.
  std::function<void(const char* event, const std::string& text)> log;
};

/// See the head of this file. Threads: any.
class Follower {
 public:
  /// Starts following. kInvalidArgument: settings that can't be; brokers are not asked.
  static Result<std::unique_ptr<Follower>> Start(FollowerOptions options);
  /// Stops; waits for the thread, some seconds at most.
  ~Follower() = default;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Makes `self` a member once the topic was read, unless it is one already. Called once.
  void RegisterAs(MemberRecord self);
  /// The newest fold; null until one is known.
  std::shared_ptr<const Meta> meta() const;
  /// What is wrong; empty: nothing is. After a record that is not known, or records that are gone,
  /// the fold stays as it was, and this says so until the process ends.
  std::string problem() const;
  /// Whether such a record ended the following.
  bool is_stuck() const;
  /// Whether everything that was in the topic at some time since Start is in the fold.
  bool is_current() const;
  /// Whether what RegisterAs was given is a member, as the topic says.
  bool is_registered() const;
  /// Waits until the fold has come to `next_offset`; false: it had not within `most`.
  bool WaitFor(int64_t next_offset, std::chrono::milliseconds most) const;
  /// Waits until everything that is in the topic now is in the fold; false: it was not within
  /// `most`.
  bool ReadToEnd(std::chrono::milliseconds most);

 private:
  explicit Follower(FollowerOptions options);
  void Run();
  Status Step();
  Status CheckBeginning() const;
  void Publish();
  Status Register(const MemberRecord& self);
  void Say(const char* event, const std::string& text) const;
  void SetProblem(const Status& status);
  /// False: told to stop.
  bool Pause(std::chrono::milliseconds pause);

  const FollowerOptions options_;
  // Of the thread, once it runs.
  std::unique_ptr<MetaLog> log_;
  std::optional<std::string> expected_uuid_;  // of the copy
  int64_t cached_offset_ = 0;                 // how far the copy goes

  mutable Mutex mutex_{LockRank::kLeaf};
  mutable CondVar changed_;
  std::shared_ptr<const Meta> meta_ GUARDED_BY(mutex_);
  std::string problem_ GUARDED_BY(mutex_);
  bool stuck_ GUARDED_BY(mutex_) = false;
  bool current_ GUARDED_BY(mutex_) = false;
  uint64_t asked_ GUARDED_BY(mutex_) = 0, answered_ GUARDED_BY(mutex_) = 0;  // of ReadToEnd
  std::optional<MemberRecord> self_ GUARDED_BY(mutex_);
  bool registered_ GUARDED_BY(mutex_) = false;
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::cluster
