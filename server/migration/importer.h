// server/migration/importer.h: imports users that filter requests asked for, in the background:
// those go before all others, whom `seendb redis import` brings.

#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/sync.h"
#include "migration/counters.h"
#include "migration/old_client.h"
#include "redis/key_reader.h"
#include "seendb/engine.h"
#include "threads/worker.h"

namespace seendb::migration {

/// See the head of this file. A user is noted once all plays of the key are recorded and synced.
/// Memory: kUsersMost ids, and a piece of a key. Threads: any.
class Importer {
 public:
  /// Where what it reads goes.
  struct Sink {
    /// As Engine::RecordPlays; how many it refused.
    std::function<Result<uint64_t>(std::span<const Play> plays)> record;
    /// Notes users, all of whose plays were recorded.
    std::function<Status(std::span<const IdRef> users)> note;
  };
  /// All are borrowed.
  Importer(OldLink* link, Sink sink, Counters* counters);
  ~Importer() = default;
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;

  /// Imports the user soon. Where kUsersMost wait already, nothing: the user's next request asks
  /// again.
  void Want(const std::string& user) EXCLUDES(mutex_);
  void Pause(bool paused) EXCLUDES(mutex_);
  /// Users that wait, and those that are being imported.
  size_t waiting() const EXCLUDES(mutex_);

  static constexpr size_t kUsersMost = 100'000;

 private:
  void Work() EXCLUDES(mutex_);
  std::vector<std::string> TakeSome() EXCLUDES(mutex_);
  /// They are imported, or wait for another try.
  void Done(const std::vector<std::string>& users, bool again) EXCLUDES(mutex_);
  Status Import(OldClient& client, const std::vector<std::string>& users);
  std::vector<std::string> KeysOf(const std::vector<std::string>& users) const;
  Status ImportWith(redis::KeyReader& reader, OldClient& client,
                    const std::vector<std::string>& users);
  Status TakePiece(std::span<const redis::Member> members, const std::string& user);
  Status Record(const std::vector<Play>& plays);

  OldLink& link_;
  const Sink sink_;
  Counters& counters_;
  uint64_t refused_ = 0;  // members of the users under way; of the worker alone
  mutable Mutex mutex_{LockRank::kLeaf};
  std::deque<std::string> queue_ GUARDED_BY(mutex_);
  std::unordered_set<std::string> queued_ GUARDED_BY(mutex_);  // those in queue_, and under way
  bool paused_ GUARDED_BY(mutex_) = false;
  Worker worker_;  // the last member: it ends before what it uses
};

}  // namespace seendb::migration
