// seendb/database.h: the database a command works on: a folder opened here, or a running server.

#pragma once

#include <memory>
#include <string>

#include "http_client.h"
#include "seendb/engine.h"
#include "session.h"

namespace seendb {
class Clock;
}

namespace seendb::tool {

/// How a folder is opened.
enum class Access {
  kRead,         ///< a snapshot, beside a running server too; no lock, nothing written
  kReadDamaged,  ///< the same, also where a part of the log is gone
  kWrite,        ///< alone; the database must exist
  kCreate,       ///< alone; made where there is none
};

/// Whether the folder is a node's of a cluster, which has some of its shards.
bool IsOfNode(const std::string& db);
/// The clock that --clock asks for; null: the machine's. kInvalidArgument: it can't be read.
Result<std::unique_ptr<Clock>> ClockOf(const Session& session);

/// Exactly one of engine() and server() is there. Threads: one.
class Database {
 public:
  /// Opens the folder that --db names; without --db takes the server of ServerUrlOf.
  /// kInvalidArgument: both --db and --url are given; otherwise the engine's errors, with a word on
  /// what to do about them. Of a node of a cluster it opens the shards that the folder has, and
  /// says which, on stderr.
  static Result<std::unique_ptr<Database>> Open(const Session& session, Access access);
  ~Database();

  /// The folder's engine, or null.
  Engine* engine() { return engine_.get(); }
  /// The server's client, or null.
  HttpClient* server() { return server_.get(); }
  /// `outcome`, or the failure to close. Closes the engine, if there is one.
  Status Close(Status outcome);

 private:
  Database();
  Status OpenFolder(const Session& session, Access access);
  void TellShards() const;

  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<HttpClient> server_;
};

}  // namespace seendb::tool
