// seendb/import_notes.h: notes of which users the past was imported, where a server that moves in
// from the old store asks for them (server/doc/from-redis.md).

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "database.h"
#include "migrated/imported_users.h"
#include "session.h"

namespace seendb::tool {

/// Notes for one thread. Threads: one.
class ImportNotes {
 public:
  virtual ~ImportNotes() = default;
  /// Notes users all of whose plays were acknowledged; they survive power loss once it returns.
  /// kBusy, kUnavailable: try again; repeating it is harmless.
  virtual Status Note(const std::vector<std::string>& users) = 0;
  /// Notes that all keys were read to their end. As Note.
  virtual Status NoteEverybody() = 0;
};

/// What an import notes, of keys of one template into one collection.
class ImportNoter {
 public:
  /// Asks the database. `off` tells why nothing is noted: a server without such a migration, or
  /// that does not show it to this token; a folder that has notes of other keys. A failure:
  /// anything else. Borrows both.
  static Result<ImportNoter> Open(Database& database, const Session& session,
                                  const std::string& key);

  /// Empty: users are noted.
  const std::string& off() const { return off_; }
  /// Which notes they go into, as `notes` of GET /admin/migration.
  const std::string& notes() const { return notes_; }
  /// For a thread; null where nothing is noted.
  Result<std::unique_ptr<ImportNotes>> Make() const;

 private:
  std::string off_, notes_;
  std::function<Result<std::unique_ptr<ImportNotes>>()> make_;
};

}  // namespace seendb::tool
