// server/migration/migration.h: collections that move in from an old store while they serve.
//
// Users whose past was imported are known (migrated/imported_users.h). For the others a filter
// request asks the old store as well, and the server imports them soon. Plays may go to both
// stores, so that one can go back; a share of the answers is compared with the old way. Each
// collection's settings are ops::MigrationConfig.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "migration/cluster_node.h"
#include "migration/question.h"
#include "ops/migration_config.h"
#include "ops/migration_state.h"
#include "seendb/engine.h"

namespace seendb::migration {

/// What became of plays that were staged; null: they were not recorded, or not all, and their
/// source gives them again.
using OnRecorded = std::function<void(const IngestResult*)>;

/// One collection's. Threads: any, after Start.
class Migration {
 public:
  explicit Migration(ops::MigrationConfig config);
  ~Migration();
  Migration(const Migration&) = delete;
  Migration& operator=(const Migration&) = delete;

  /// Opens its files in the database's folder, unless it was finished. Its errors name what is
  /// wrong with the settings or with the files.
  Status Open(const std::string& db);
  /// Begins; both are borrowed until Stop. `node`: of the cluster; null: a server by itself.
  void Start(Engine* engine, const ClusterNode* node);
  /// Ends its threads; questions that wait are answered. The files stay.
  void Stop();

  /// What a filter request needs beside SeenDB's own answer.
  enum class Need : uint8_t {
    kNothing,   ///< SeenDB knows all, or nobody asks for more
    kOldStore,  ///< Ask
    kDegraded,  ///< the answer lacks the old store's part
  };
  /// The need of a request; a user that was not imported will be soon.
  Need NeedOf(const FilterRequest& request);
  /// How long a request waits for the old store at most.
  std::chrono::milliseconds budget() const { return std::chrono::milliseconds(config_.budget_ms); }
  /// Asks the old store. Where it does not run, the answer is not got at once.
  void Ask(Question question, OnAnswer on_answer);

  /// Notes users whose past was imported by somebody else, by keys of `key`: everything recorded
  /// before is synced first; in a cluster they are noted by the log, at every replica.
  /// `everybody`: the import read all keys to their end. kIncompatible: it is finished, or its keys
  /// are others; kIOError; those of ClusterNode::note.
  Status NoteImported(std::string_view key, std::span<const IdRef> users, bool everybody = false);
  /// The cluster's log says so. kIncompatible: it is finished here, or its keys are others;
  /// kIOError.
  Status NoteByLog(std::string_view key, std::span<const IdRef> users, bool everybody = false);
  /// The user was erased, or all that is seen cleared: nobody is to read or to import the user's
  /// key any more. With dual_write the key is deleted; in a cluster, where that may come late, what
  /// is not newer than `place`. kIOError; kBusy: its queue is full.
  Status Forget(IdRef user, const std::optional<LogPlace>& place = {});
  /// The collection was deleted: nobody's past is in it any more. kIOError.
  Status ForgetAll();
  /// These items may be shown to the user again: with dual_write they leave the key.
  void ForgetItems(IdRef user, std::span<const IdRef> items,
                   const std::optional<LogPlace>& place = {});

  /// With dual_write, plays that SeenDB took go to the old store too; the caller does not wait for
  /// it. Of the plays, `refused` were refused, and `refusals` names the first of those.
  void Took(std::span<const Play> plays, uint64_t refused, std::span<const Refusal> refusals);
  /// The same of plays that are about to be recorded, whose source gives them once: they are on
  /// disk before. The result is to be called once, with what became of them, while the plays live;
  /// it may be null. One batch of a partition at a time.
  OnRecorded Stage(std::span<const Play> plays, const std::optional<LogPlace>& place = {});
  /// Where the queue of the partition begins; nothing: it is empty.
  std::optional<int64_t> FirstToWrite(uint32_t partition) const;
  /// Compares the answer with the old way, for a share of them.
  void Answered(const FilterRequest& request, const FilterResponse& response);

  /// Stops, or goes on with, imports and comparisons by the server; the old store is asked and
  /// written all the same.
  /// kIncompatible: it is finished.
  Status Pause(bool paused);
  /// Whether nothing is lost where it ends now. kIncompatible ("/force") names what is: writes that
  /// wait for the old store, users some of whose plays it lacks, and pasts that are not known to be
  /// here.
  Status CheckFinished() const;
  /// Ends it for good: the old store counts no more, and who was imported is forgotten. What is
  /// lost by that is logged, and in State from then on. kIOError.
  Status Finish();
  ops::MigrationState State() const;
  const ops::MigrationConfig& config() const { return config_; }

 private:
  struct Parts;
  ops::MigrationLoss LossOf(const std::shared_ptr<Parts>& running) const;
  Status CheckKey(std::string_view key) const;
  std::shared_ptr<Parts> parts() const EXCLUDES(parts_mutex_);
  void SetParts(std::shared_ptr<Parts> parts) EXCLUDES(parts_mutex_);

  const ops::MigrationConfig config_;
  std::string db_;
  std::atomic<bool> finished_{false}, paused_{false};
  mutable Mutex parts_mutex_{LockRank::kLeaf};
  std::shared_ptr<Parts> opened_;                          // until Start
  std::shared_ptr<Parts> parts_ GUARDED_BY(parts_mutex_);  // null: finished, or not started
  std::optional<ops::MigrationLoss> dropped_ GUARDED_BY(parts_mutex_);  // by Finish
};

/// All of a server. Threads: any, after Start.
class Migrations {
 public:
  explicit Migrations(const std::vector<ops::MigrationConfig>& configs);

  /// As those of Migration, for all; the message of a failure names the collection.
  Status Open(const std::string& db);
  void Start(Engine* engine, const ClusterNode* node = nullptr);
  void Stop();
  /// All of a partition's log before `next` was passed on, `from` being what followed the record
  /// before.
  void Passed(uint32_t partition, int64_t from, int64_t next) EXCLUDES(mutex_);
  /// What of each partition's log this node had, and is not to write any more.
  std::map<uint32_t, Offsets> Written() const EXCLUDES(mutex_);
  /// The collection's, or null.
  Migration* Find(std::string_view collection) const;
  /// Calls `change` for the collection's, or, where none is named, for all. kNotFound: it has none.
  Status ForEach(std::string_view collection, const std::function<Status(Migration&)>& change);
  std::vector<ops::MigrationState> States() const;

 private:
  std::map<std::string, std::unique_ptr<Migration>, std::less<>> all_;  // never changes
  mutable Mutex mutex_{LockRank::kLeaf};
  std::map<uint32_t, Offsets> passed_ GUARDED_BY(mutex_);
};

}  // namespace seendb::migration
