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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "migration/question.h"
#include "ops/migration_config.h"
#include "ops/migration_state.h"
#include "seendb/engine.h"

namespace seendb::migration {

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
  /// Begins; `engine` is borrowed until Stop.
  void Start(Engine* engine);
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
  /// before is synced first. kIncompatible: it is finished, or its keys are others; kIOError.
  Status NoteImported(std::string_view key, std::span<const IdRef> users);
  /// The user was erased, or all that is seen cleared: nobody is to read or to import the user's
  /// key any more. With dual_write the key is deleted. kIOError; kBusy: its queue is full.
  Status Forget(IdRef user);
  /// The collection was deleted: nobody's past is in it any more. kIOError.
  Status ForgetAll();
  /// These items may be shown to the user again: with dual_write they leave the key.
  void ForgetItems(IdRef user, std::span<const IdRef> items);

  /// With dual_write, plays that SeenDB took go to the old store too; the caller does not wait for
  /// it. Of the plays, `refused` were refused, and `refusals` names the first of those.
  void Took(std::span<const Play> plays, uint64_t refused, std::span<const Refusal> refusals);
  /// Compares the answer with the old way, for a share of them.
  void Answered(const FilterRequest& request, const FilterResponse& response);

  /// Stops, or goes on with, imports and comparisons by the server; the old store is asked and
  /// written all the same.
  /// kIncompatible: it is finished.
  Status Pause(bool paused);
  /// Ends it for good: the old store counts no more, and who was imported is forgotten. kIOError.
  Status Finish();
  ops::MigrationState State() const;
  const ops::MigrationConfig& config() const { return config_; }

 private:
  struct Parts;
  void Write(Parts& running, std::span<const Play> plays);
  std::shared_ptr<Parts> parts() const EXCLUDES(parts_mutex_);
  void SetParts(std::shared_ptr<Parts> parts) EXCLUDES(parts_mutex_);

  const ops::MigrationConfig config_;
  std::string db_;
  std::atomic<bool> finished_{false}, paused_{false};
  mutable Mutex parts_mutex_{LockRank::kLeaf};
  std::shared_ptr<Parts> opened_;                          // until Start
  std::shared_ptr<Parts> parts_ GUARDED_BY(parts_mutex_);  // null: finished, or not started
};

/// All of a server. Threads: any, after Start.
class Migrations {
 public:
  explicit Migrations(const std::vector<ops::MigrationConfig>& configs);

  /// As those of Migration, for all; the message of a failure names the collection.
  Status Open(const std::string& db);
  void Start(Engine* engine);
  void Stop();
  /// The collection's, or null.
  Migration* Find(std::string_view collection) const;
  /// Calls `change` for the collection's, or, where none is named, for all. kNotFound: it has none.
  Status ForEach(std::string_view collection, const std::function<Status(Migration&)>& change);
  std::vector<ops::MigrationState> States() const;

 private:
  std::map<std::string, std::unique_ptr<Migration>, std::less<>> all_;  // never changes
};

}  // namespace seendb::migration
