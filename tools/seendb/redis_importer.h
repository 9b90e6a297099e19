// seendb/redis_importer.h: moves the members of an old store's keys into a database.
//
// One thread walks the keys, page by page; others read the members of a page and record them. A
// page is done once everything of it was acknowledged and its users were noted; the state names the
// place behind the last page before which all are done. So a killed import loses nothing, and
// repeats some pages, which is harmless.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/sync.h"
#include "import_notes.h"
#include "key_source.h"
#include "pace.h"
#include "patient_send.h"
#include "play_batch.h"
#include "redis/key_reader.h"
#include "redis/keys.h"
#include "redis_tally.h"

namespace seendb::tool {

/// What is moved, and how.
struct RedisImportOptions {
  redis::KeyTemplate users;
  std::string form = {};  ///< of the users' part of their keys (key_forms.h); empty: any
  bool hashes = false;    ///< a key that holds a hash has items and their times
  redis::ScoreUnit unit = redis::ScoreUnit::kSeconds;
  std::optional<int64_t> at_ms = {};  ///< of members without a time of their own
  size_t batch_plays = 5'000;
  uint32_t parallel = 2;
  int64_t retry_s = 60;    ///< longest wait for a busy or lost server or Redis
  std::string state = {};  ///< where progress is kept; empty: nowhere
  Json identity = {};      ///< what the state belongs to
};

/// See the head of this file. Threads: one; it starts and ends its own.
class RedisImporter {
 public:
  /// Make a client, or a sink, for one thread.
  using MakeClient = std::function<Result<std::unique_ptr<redis::Client>>()>;
  using MakeSinkOf = std::function<Result<std::unique_ptr<PlaySink>>()>;
  /// Likewise; may make null: users are not noted.
  using MakeNotes = std::function<Result<std::unique_ptr<ImportNotes>>()>;
  /// Called some times a second with the part that is done (below 0: not known) and the members.
  using OnProgress = std::function<void(double fraction, uint64_t members)>;

  /// `begin`: what an earlier run did. Borrows the keys and the pace.
  RedisImporter(RedisImportOptions options, KeySource& keys, Pace& pace, RedisTally begin,
                MakeClient make_client, MakeSinkOf make_sink, MakeNotes make_notes);

  /// Imports to the end of the keys, or until an interrupt. What was acknowledged stays, whatever
  /// fails: Redis's or the sink's error once it was tried for long enough; kIOError where the state
  /// can't be written.
  Status Run(const OnProgress& on_progress);
  /// Everything done, earlier runs included.
  RedisTally tally() const EXCLUDES(mutex_);

 private:
  struct Page {
    uint64_t number = 0;
    KeyPage keys;
  };
  struct Worker;

  bool Stopped() const EXCLUDES(mutex_);
  void Fail(Status why) EXCLUDES(mutex_);
  Status Feed(const OnProgress& on_progress);
  /// Waits a moment, shows the progress and notes the state.
  Status Tick(const OnProgress& on_progress);
  Status NoteState(bool now);
  bool Push(Page* page) EXCLUDES(mutex_);
  bool Pop(Page* page) EXCLUDES(mutex_);
  void Done(const Page& page, const RedisTally& tally) EXCLUDES(mutex_);
  void Work();
  Status OpenWorker(Worker& worker);
  Status ImportPage(Worker& worker, const Page& page, RedisTally* tally);
  Status TakePiece(Worker& worker, const std::string& key, const redis::KeyPiece& piece,
                   RedisTally* tally);
  void TakeMember(Worker& worker, std::string_view user, const redis::Member& member,
                  std::optional<int64_t> at_ms, RedisTally* tally);
  Status Flush(Worker& worker, RedisTally* tally);
  Status WaitFor(uint64_t members);
  void WatchLatency();
  Patience PatienceOf() const;

  const RedisImportOptions options_;
  KeySource& keys_;
  Pace& pace_;
  const MakeClient make_client_;
  const MakeSinkOf make_sink_;
  const MakeNotes make_notes_;

  mutable Mutex mutex_{LockRank::kLeaf};
  CondVar changed_;
  CondVar end_;  // ended_ is set
  std::deque<Page> queue_ GUARDED_BY(mutex_);
  bool fed_ GUARDED_BY(mutex_) = false;  // no page follows
  bool ended_ GUARDED_BY(mutex_) = false;
  Status failure_ GUARDED_BY(mutex_);
  struct Finished {
    KeyPage keys;
    RedisTally tally;
  };
  std::map<uint64_t, Finished> finished_ GUARDED_BY(mutex_);  // behind a page that is not
  uint64_t next_page_ GUARDED_BY(mutex_) = 0;                 // the first that is not done
  RedisTally tally_ GUARDED_BY(mutex_);
  Json place_ GUARDED_BY(mutex_);  // null: the beginning
  double fraction_ GUARDED_BY(mutex_) = -1;
  bool place_is_new_ GUARDED_BY(mutex_) = false;
  double noted_at_s_ = 0;  // of the feeding thread
};

}  // namespace seendb::tool
