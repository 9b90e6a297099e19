// server/cluster/topic_follower.h: reads the whole of a topic of one partition into a store beside
// the shards, on a thread of its own: at every node alike, and compacted as the topic may be.
//
// The store keeps with what it took how far that is, so that a process that starts reads on from
// there. If the topic does not go on there (it was made anew, or its records in between are gone
// with its beginning), the store begins anew, and so does the reading.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "cluster/topic_reader.h"
#include "threads/worker.h"

namespace seendb::cluster {

/// A record of the topic. Borrows its bytes.
struct TopicRecord {
  int64_t offset = 0;
  std::string_view key = {};
  std::optional<std::string_view> value = {};  ///< nothing: there was none, or an empty one
};

/// Takes the records. Called on the follower's thread.
class TopicSink {
 public:
  virtual ~TopicSink() = default;
  /// The offset that is read next.
  virtual int64_t next_offset() const = 0;
  /// Takes records, ascending by offset, and everything before `next_offset` as read; those before
  /// next_offset() came already. kIncompatible: newer software wrote one; the following stops, at
  /// which next_offset() is that record's. After other failures it is called again.
  virtual Status Take(std::span<const TopicRecord> records, int64_t next_offset) = 0;
  /// Forgets everything: the topic is another one.
  virtual Status BeginAnew() = 0;
  /// Whether it has all that was in the topic when its end was last asked for, some seconds ago.
  virtual void SetCurrent(bool current) = 0;
};

/// How long a follower waits; tests shorten that.
struct TopicFollowerLimits {
  std::chrono::milliseconds quiet{3'000};    ///< without a record, then it asks for the topic's end
  std::chrono::milliseconds silent{10'000};  ///< without an answer, then the sink is not current
  std::chrono::milliseconds failing{3'000};  ///< time after time, then the sink is not current
};

/// The topic, and the sink of a follower.
struct TopicFollowerOptions {
  KafkaAccess access;
  std::string topic;
  std::string client;         ///< what the brokers see
  TopicSink* sink = nullptr;  ///< borrowed
  TopicFollowerLimits limits = {};
  /// Whether the topic may not have been made yet: then it has nothing. Empty: it may.
  std::function<bool()> may_lack = {};
  /// Told, on the follower's thread: `event` is a word, `text` says more. May be empty.
  std::function<void(const char* event, const std::string& text)> log;
};

/// See the head of this file. Threads: any.
class TopicFollower {
 public:
  /// Starts following. kInvalidArgument: settings that can't be; brokers are not asked.
  static Result<std::unique_ptr<TopicFollower>> Start(TopicFollowerOptions options);
  /// Stops; waits for the thread, some seconds at most.
  ~TopicFollower() = default;
  TopicFollower(const TopicFollower&) = delete;
  TopicFollower& operator=(const TopicFollower&) = delete;

  /// Text for people about a fault; empty: there is no fault.
  std::string problem() const;
  /// Waits until everything before `next_offset` is taken; false: it was not within `most`, or the
  /// follower stops.
  bool WaitFor(int64_t next_offset, std::chrono::milliseconds most) const;
  /// Ends the following and all waits, and waits for the thread. Idempotent.
  void Stop();

 private:
  explicit TopicFollower(TopicFollowerOptions options) : options_(std::move(options)) {}
  void Run();
  Status Step();
  /// Finds out where the topic begins and ends, and goes on there.
  Status Begin();
  /// Takes what comes within a while.
  Status TakeSome();
  /// Where nothing comes: asks, from time to time, whether there is something.
  Status CheckEnd();
  /// The brokers told of the topic; records came, or are to come.
  void Heard();
  void Moved();
  void SetProblem(const Status& status);
  /// Tells who waits how far it is.
  void Told();

  const TopicFollowerOptions options_;
  // The thread alone uses these, once it runs.
  std::unique_ptr<TopicReader> reader_;
  int64_t end_ = 0;       // of the topic, when it was last asked for
  bool missing_ = false;  // the topic, when it was last looked for
  Status cut_;            // a failure: the topic's beginning was gone before it was read
  std::chrono::steady_clock::time_point heard_, moved_, ask_at_;
  mutable Mutex mutex_{LockRank::kLeaf};
  mutable CondVar changed_;
  std::string problem_ GUARDED_BY(mutex_);
  int64_t taken_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::cluster
