// backup/server_source.h: a database that a server has open, over HTTP: the routes below
// /admin/backup.

#pragma once

#include <string>

#include "backup/source.h"
#include "http_client.h"

namespace seendb::backup {

/// The server keeps the copy of a shard until Drop, or for 30 minutes after the last request for
/// it. What it answers is not trusted: names stay within the database, bytes are held against their
/// SHA-256 by the caller.
class ServerSource : public Source {
 public:
  /// Borrows the client. `asker`: the same for each backup into a folder, so that copies which an
  /// earlier one left end.
  ServerSource(tool::HttpClient* server, std::string asker);
  ~ServerSource() override { ServerSource::Drop(); }
  ServerSource(const ServerSource&) = delete;
  ServerSource& operator=(const ServerSource&) = delete;

  Result<Origin> Describe() override;
  Result<std::map<std::string, std::string>> RootFiles() override;
  Result<std::vector<BackedFile>> Take(const std::string& folder) override;
  Status Read(const BackedFile& file, uint64_t offset, uint64_t bytes, std::string* to) override;
  void Drop() override;

  /// Tells the server that a backup of it is complete.
  Status Tell(const BackupList& list);

 private:
  std::string CopyTarget() const;

  tool::HttpClient& server_;
  const std::string asker_, run_;
  tool::Json kind_;   // the database, as the server named it
  std::string part_;  // what the copy is of, as targets name it
  std::string copy_;  // the id of the copy; empty: no copy
};

}  // namespace seendb::backup
